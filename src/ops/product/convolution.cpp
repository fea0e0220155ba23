// SPDX-License-Identifier: MIT
// CONVOLUTION is decomposed into CONVOLUTION_FILTER, which packs the filter for the kernels, and CONVOLUTION_PRODUCT.
// Rounding to FLOAT16 and the fused activation are element-wise operators that follow. The integer convolutions use the
// same windows and most of the same checks.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/product/internal.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml::products {
namespace {

constexpr facts::Operator kFilterPart = internal_operator("CONVOLUTION_FILTER");
constexpr facts::Operator kConvolutionPart = internal_operator("CONVOLUTION_PRODUCT");

constexpr std::size_t kInput = 0;
constexpr std::size_t kFilter = 1;  // index of the filter among CONVOLUTION's tensors
constexpr std::size_t kBias = 2;
constexpr std::uint32_t kImagesAndChannels = 2;  // number of dimensions before the spatial dimensions

ConvolutionParameters parameters_of(const OpDesc& internal) {
  ConvolutionParameters parameters;
  std::memcpy(&parameters, internal.internal.data(), sizeof(parameters));
  return parameters;
}

std::int64_t number_at(const OpDesc& desc, std::string_view field, std::uint32_t i) {
  const schema::Argument* argument = find_argument(desc, field);
  return argument != nullptr && i < argument->numbers.size() ? argument->numbers[i].as<i64>() : 0;
}

// False for an operator without this field.
bool has_value(const OpDesc& desc, std::string_view field, std::string_view enumeration, std::string_view value) {
  return find_argument(desc, field) != nullptr &&
         number_of(desc, field).as<u32>() == *facts::find_enum_value(*facts::find_enum(enumeration), value);
}

bool is_backward(const OpDesc& desc) { return has_value(desc, "Direction", "DML_CONVOLUTION_DIRECTION", "BACKWARD"); }

const OpTensor& filter_of(const OpDesc& desc) {
  return *std::ranges::find(desc.tensors, "FilterTensor", &OpTensor::name);
}

}  // namespace

ConvolutionParameters convolution_parameters(const OpDesc& desc) {
  ConvolutionParameters parameters{};
  const TensorDesc& input = desc.tensors[kInput].tensor;
  const TensorDesc& filter = filter_of(desc).tensor;
  const TensorDesc& output = desc.output().tensor;
  // A dimension with one element, one tap and no padding is removed later, so that rows of pixels become longer.
  parameters.groups = number_of(desc, "GroupCount").as<i64>();
  parameters.rank = input.rank - kImagesAndChannels;
  Windows& windows = parameters.windows;
  windows.is_backward = is_backward(desc) ? 1 : 0;
  windows.is_flipped = has_value(desc, "Mode", "DML_CONVOLUTION_MODE", "CONVOLUTION") ? 1 : 0;
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    windows.axes[i] = {.input = 1,
                       .output = 1,
                       .taps = 1,
                       .stride = 1,
                       .dilation = 1,
                       .padding = 0,
                       .input_step = 0,
                       .output_step = 0,
                       .filter_step = 0};
  }
  for (std::uint32_t i = 0; i < parameters.rank; ++i) {
    WindowAxis& axis = windows.axes[kWindowAxes - parameters.rank + i];
    axis.input = input.sizes[i + kImagesAndChannels];
    axis.output = output.sizes[i + kImagesAndChannels];
    axis.taps = filter.sizes[i + kImagesAndChannels];
    axis.stride = number_at(desc, "Strides", i);
    axis.dilation = number_at(desc, "Dilations", i);
    axis.padding = number_at(desc, "StartPadding", i);
  }
  return parameters;
}

ConvolutionParameters filter_parameters(ConvolutionParameters parameters) {
  for (WindowAxis& axis : parameters.windows.axes) {
    axis.input = 1;
    axis.output = 1;
    axis.padding = 0;
  }
  return parameters;
}

namespace {

// ---- Checks ---------------------------------------------------------------------------------------------------------

// Whether every number that the kernels compute for this dimension fits into 64 bits.
bool fits(const WindowAxis& axis) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 8;
  const auto outputs = checked_multiply(std::max(axis.output, axis.input), axis.stride);
  const auto taps = checked_multiply(axis.taps, axis.dilation);
  return outputs && taps && *outputs < kMax && *taps < kMax && axis.input < kMax && axis.output < kMax;
}

Status check_axis(const OpDesc& desc, const WindowAxis& axis, std::uint32_t i) {
  const auto size_name = [&](const OpTensor& tensor) { return Where{desc.op->name, tensor.name}; };
  const std::uint32_t dimension = i + kImagesAndChannels;
  if (axis.taps == 0) {
    return invalid(size_name(filter_of(desc)), format_text("Sizes[{}] is 0; expected 1 or more", dimension));
  }
  if (!fits(axis)) {
    return invalid(size_name(desc.output()), format_text("Sizes[{}] is too large for these windows", dimension));
  }
  const std::int64_t extent = (axis.taps - 1) * axis.dilation + 1;
  const std::int64_t paddings = axis.padding + number_at(desc, "EndPadding", i);
  const std::int64_t more = number_at(desc, "OutputPadding", i);
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  if (is_backward(desc)) {
    // A forward convolution applied to an output of any of these sizes would yield the input size.
    minimum = (axis.input - 1) * axis.stride + extent - paddings;
    maximum = minimum + std::max(more, axis.stride - 1);
    minimum = std::max<std::int64_t>(0, minimum);
  } else {
    const std::int64_t free = axis.input + paddings - extent;
    if (free < 0) {
      return invalid(size_name(desc.tensors[kInput]),
                     format_text("Sizes[{}] is {}, and {} with its padding; expected {} or more, the extent of the "
                                 "filter",
                                 dimension, axis.input, axis.input + paddings, extent));
    }
    minimum = free / axis.stride + 1;
    maximum = minimum + more;
  }
  if (axis.output < minimum || axis.output > maximum) {
    return invalid(size_name(desc.output()),
                   minimum >= maximum
                       ? format_text("Sizes[{}] is {}; expected {}", dimension, axis.output, std::max(maximum, minimum))
                       : format_text("Sizes[{}] is {}; expected {} to {}", dimension, axis.output, minimum, maximum));
  }
  return {};
}

// The documentation states these rules only for CONVOLUTION; it says nothing about the integer convolutions.
Status check_integer_convolution(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[kInput];
  const OpTensor& filter = filter_of(desc);
  const std::uint32_t spatial = input.tensor.rank - kImagesAndChannels;
  for (const std::string_view field : {"Strides", "Dilations", "StartPadding", "EndPadding"}) {
    const schema::Argument* argument = find_argument(desc, field);
    if (const std::size_t count = argument != nullptr ? argument->numbers.size() : 0; count != spatial) {
      return invalid({desc.op->name, field}, format_text("has {} number{}; expected {}, since InputTensor has {} "
                                                         "dimensions",
                                                         count, count == 1 ? "" : "s", spatial, input.tensor.rank));
    }
  }
  const auto expect = [&](const OpTensor& tensor, std::uint32_t dimension, std::int64_t size,
                          std::string_view why) -> Status {
    return tensor.tensor.sizes[dimension] == size ? Status()
                                                  : invalid(desc, tensor,
                                                            format_text("Sizes[{}] is {}; expected {}, {}", dimension,
                                                                        tensor.tensor.sizes[dimension], size, why));
  };
  ANYDML_TRY(expect(desc.output(), 0, input.tensor.sizes[0], "the images of InputTensor"));
  ANYDML_TRY(expect(desc.output(), 1, filter.tensor.sizes[0], "the output channels of FilterTensor"));
  const auto channels = checked_multiply(filter.tensor.sizes[1], number_of(desc, "GroupCount").as<i64>());
  ANYDML_TRY(expect(input, 1, channels ? *channels : -1, "the input channels of FilterTensor for each group"));
  // These tensors have one element per output channel. The elements may be along any dimension.
  for (const OpTensor& tensor : desc.tensors) {
    if ((tensor.name == "FilterZeroPointTensor" || tensor.name == "FilterScaleTensor") && tensor.present &&
        std::ranges::count_if(std::span(tensor.tensor.sizes, tensor.tensor.rank),
                              [](std::int64_t size) { return size != 1; }) > 1) {
      return invalid(desc, tensor, "has several dimensions that are not 1; expected at most one of them");
    }
  }
  return {};
}

}  // namespace

// ---- Steps ----------------------------------------------------------------------------------------------------------

ConvolutionStep make_convolution_step(const ConvolutionParameters& parameters, const TensorDesc* input,
                                      const TensorDesc* filter, const TensorDesc* bias, const TensorDesc* output) {
  ConvolutionStep step{};
  step.strip = parameters.strip;
  step.groups = parameters.groups;
  step.windows = parameters.windows;
  const std::uint32_t missing = kWindowAxes - parameters.rank;
  for (std::uint32_t i = 0; i < parameters.rank; ++i) {
    WindowAxis& axis = step.windows.axes[missing + i];
    const std::uint32_t dimension = i + kImagesAndChannels;
    axis.input_step = input != nullptr ? step_of(*input, dimension) : 0;
    axis.filter_step = filter != nullptr ? step_of(*filter, dimension) : 0;
    axis.output_step = output != nullptr ? step_of(*output, dimension) : 0;
  }
  if (input != nullptr) {
    step.images = input->sizes[0];
    step.channels = input->sizes[1] / step.groups;
    step.input_image = step_of(*input, 0);
    step.input_channel = step_of(*input, 1);
    step.rows = output->sizes[1] / step.groups;
    step.output_image = step_of(*output, 0);
    step.output_channel = step_of(*output, 1);
  }
  if (filter != nullptr) {
    const bool is_backward = step.windows.is_backward != 0;
    const std::int64_t of_group = filter->sizes[0] / step.groups;
    step.rows = is_backward ? filter->sizes[1] : of_group;
    step.channels = is_backward ? of_group : filter->sizes[1];
    step.filter_group = of_group * step_of(*filter, 0);
    step.filter_row = step_of(*filter, is_backward ? 1 : 0);
    step.filter_channel = step_of(*filter, is_backward ? 0 : 1);
  }
  step.bias_channel = bias != nullptr ? step_of(*bias, 1) : 0;
  // Moves dimensions with a single pixel and no window to the front.
  for (std::uint32_t i = kWindowAxes; i-- > 1;) {
    const auto is_single = [](const WindowAxis& axis) {
      return axis.input == 1 && axis.output == 1 && axis.taps == 1 && axis.padding == 0 && axis.stride == 1;
    };
    for (std::uint32_t other = i; is_single(step.windows.axes[i]) && other-- > 0;) {
      std::swap(step.windows.axes[i], step.windows.axes[other]);
    }
  }
  return step;
}

std::optional<PixelSteps> without_windows(const ConvolutionStep& step) {
  std::optional<PixelSteps> found;
  std::int64_t pixels = 1;
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const WindowAxis& axis = step.windows.axes[i];
    if (axis.taps != 1 || axis.stride != 1 || axis.padding != 0 || axis.input != axis.output) {
      return std::nullopt;
    }
    if (axis.output == 1) {
      continue;
    }
    if (!found) {
      found = PixelSteps{.input = axis.input_step, .output = axis.output_step};
    } else if (axis.input_step != pixels * found->input || axis.output_step != pixels * found->output) {
      return std::nullopt;
    }
    pixels *= axis.output;
  }
  return found ? found : PixelSteps{.input = 0, .output = 0};
}

namespace {

ProductStep as_product(const ConvolutionStep& from, const PixelSteps& pixels) {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
  ProductStep step{};
  step.kind = ProductKind::product;
  step.strip = from.strip;
  step.scale = {.alpha = 1, .beta = 1};
  step.rows = from.rows;
  step.columns = from.pixels();
  step.depth = from.channels;
  if (from.strip != 0) {
    step.a = {.row = from.channels * kBytes, .column = kBytes, .batch = {0, from.rows * from.channels * kBytes}};
  } else {
    step.a = {.row = from.filter_row, .column = from.filter_channel, .batch = {0, from.filter_group}};
  }
  step.b = {.row = from.input_channel,
            .column = pixels.input,
            .batch = {from.input_image, from.channels * from.input_channel}};
  step.c = {.row = from.bias_channel, .column = 0, .batch = {0, from.rows * from.bias_channel}};
  step.output = {.row = from.output_channel,
                 .column = pixels.output,
                 .batch = {from.output_image, from.rows * from.output_channel}};
  const std::int64_t sizes[] = {from.images, from.groups};
  set_batches(sizes, step);
  return step;
}

}  // namespace

bool is_convolution(const OpDesc& desc) {
  const std::string_view name = desc.op->name;
  return name == "CONVOLUTION" || name == "CONVOLUTION_INTEGER" || name == "QUANTIZED_LINEAR_CONVOLUTION";
}

bool is_convolution_part(const OpDesc& desc) { return desc.op == &kFilterPart || desc.op == &kConvolutionPart; }

Status check_convolution(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[kInput];
  const OpTensor& output = desc.output();
  if (const std::uint32_t rank = input.tensor.rank;
      rank <= kImagesAndChannels || rank > kImagesAndChannels + kWindowAxes) {
    return invalid(desc, input,
                   format_text("has {} dimension{}; expected 3 to 5: images, channels and 1 to 3 spatial dimensions",
                               rank, rank == 1 ? "" : "s"));
  }
  const std::uint32_t spatial = input.tensor.rank - kImagesAndChannels;
  for (const std::string_view field : {"Strides", "Dilations"}) {
    for (std::uint32_t i = 0; i < spatial; ++i) {
      if (number_at(desc, field, i) == 0) {
        return invalid({desc.op->name, field}, format_text("{}[{}] is 0; expected 1 or more", field, i));
      }
    }
  }
  const std::int64_t groups = number_of(desc, "GroupCount").as<i64>();
  if (groups == 0) {
    return invalid({desc.op->name, "GroupCount"}, "is 0; expected 1 or more");
  }
  const OpTensor& cut = is_backward(desc) ? input : output;
  if (cut.tensor.sizes[1] % groups != 0) {
    return invalid(
        desc, cut,
        format_text("Sizes[1] is {}; expected a multiple of GroupCount, which is {}", cut.tensor.sizes[1], groups));
  }
  if (desc.op->name != "CONVOLUTION") {
    ANYDML_TRY(check_integer_convolution(desc));
  }
  const ConvolutionParameters parameters = convolution_parameters(desc);
  for (std::uint32_t i = 0; i < spatial; ++i) {
    ANYDML_TRY(check_axis(desc, parameters.windows.axes[kWindowAxes - spatial + i], i));
  }
  return {};
}

Result<Decomposition> decompose_convolution(const OpDesc& desc, const DeviceTraits& device) {
  ConvolutionParameters parameters = convolution_parameters(desc);
  DecompositionBuilder list(desc);
  const std::uint32_t input = widened(list, desc, kInput);
  std::uint32_t filter = widened(list, desc, kFilter);
  const std::uint32_t bias = desc.tensors[kBias].present ? widened(list, desc, kBias) : kNoValue;
  if (const std::int64_t factors = element_count(desc.tensors[kFilter].tensor);
      device.packs_weights() && factors != 0) {
    parameters.strip = strip_rows(device.vector_bytes);
    TensorDesc packed{.type = DataType::FLOAT32, .rank = 1};
    const TensorDesc& weights = desc.tensors[kFilter].tensor;
    const std::int64_t rows = is_backward(desc) ? weights.sizes[1] : weights.sizes[0] / parameters.groups;
    const WindowAxis* const axes = parameters.windows.axes;
    packed.sizes[0] =
        factors + filter_flags(axes[0].taps * axes[1].taps * axes[2].taps, parameters.groups, rows, parameters.strip);
    packed.strides[0] = 1;
    const ConvolutionParameters packing = filter_parameters(parameters);
    filter =
        list.add_internal(kFilterPart, {filter}, std::span(&packed, 1), std::as_bytes(std::span(&packing, 1)), true);
  }
  const auto result = product_result(desc);
  ANYDML_TRY(result);
  const std::uint32_t value = list.add_internal(kConvolutionPart, {input, filter, bias}, std::span(&result.value(), 1),
                                                std::as_bytes(std::span(&parameters, 1)));
  return finished(list, desc, value);
}

void lower_convolution_part(const OpDesc& desc, const DeviceTraits& device, std::span<const PlacedTensor> tensors,
                            Plan& plan) {
  const auto family = static_cast<std::uint32_t>(FamilyId::product);
  if (desc.op == &kFilterPart) {
    ConvolutionStep step = make_convolution_step(parameters_of(desc), nullptr, &tensors[0].tensor, nullptr, nullptr);
    step.kind = ProductKind::filter;
    const Operand operands[] = {tensors[0].operand(), tensors[1].operand()};
    plan.add(family, operands, std::as_bytes(std::span(&step, 1)));
    return;
  }
  const ConvolutionParameters parameters = parameters_of(desc);
  const bool is_packed_filter = parameters.strip != 0;
  ConvolutionStep step =
      make_convolution_step(parameters, &tensors[kInput].tensor, is_packed_filter ? nullptr : &tensors[kFilter].tensor,
                            desc.tensors[kBias].present ? &tensors[kBias].tensor : nullptr, &tensors.back().tensor);
  step.kind = ProductKind::convolution;
  // On a device that packs weights, a filter is unpacked only if there is nothing to multiply.
  if (const auto pixels = without_windows(step); pixels && (is_packed_filter || !device.packs_weights())) {
    const ProductStep product = as_product(step, *pixels);
    const Operand operands[] = {tensors[kFilter].operand(), tensors[kInput].operand(), tensors[kBias].operand(),
                                tensors.back().operand()};
    plan.add(family, operands, std::as_bytes(std::span(&product, 1)));
    return;
  }
  const Operand operands[] = {tensors[kInput].operand(), tensors[kFilter].operand(), tensors[kBias].operand(),
                              tensors.back().operand()};
  plan.add(family, operands, std::as_bytes(std::span(&step, 1)));
}

// Outputs can be passed on as tiles of rows only if the pixels of a class are consecutive. Outputs that are passed on
// one by one can be in any order.
Joins convolution_joins(const OpDesc& desc, const DeviceTraits& device) {
  const bool forwards = desc.op == &kConvolutionPart && is_packed(desc.output().tensor) &&
                        (!device.forwards_tiles || all_window_classes(parameters_of(desc).windows) == 1);
  return {.inputs = 0, .outputs = forwards ? 1U : 0U};
}

}  // namespace anydml::products
