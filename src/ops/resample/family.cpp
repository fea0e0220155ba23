// SPDX-License-Identifier: MIT
// The family of operators that resample. All of them are treated as RESAMPLE3: older operators have fewer fields, and
// the documentation specifies the values of the missing fields. In the gradients, input and output are exchanged.
#include "ops/family.h"
#include "base/shape.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/op_desc.h"
#include "ops/resample/step.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_RESAMPLE_ENTRY(op) #op,
#include "ops/resample/resample.def"
};

constexpr TypeSet kMeanTypes =
    type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16) | type_bit(DataType::INT8) | type_bit(DataType::UINT8);
constexpr TypeSet kGradientTypes = type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
constexpr i64 kMaxTaps = i64{1} << 26;  // maximum for a stretched dimension, because kernels store its weights
constexpr f32 kCenter = 0.5F;

std::span<const Scalar> numbers_of(const OpDesc& desc, std::string_view field) {
  const schema::Argument* argument = find_argument(desc, field);
  return argument == nullptr ? std::span<const Scalar>() : std::span<const Scalar>(argument->numbers);
}
bool is_set(const OpDesc& desc, std::string_view field) {
  const auto numbers = numbers_of(desc, field);
  return !numbers.empty() && numbers.front().as<u32>() != 0;
}
f32 number_or(std::span<const Scalar> numbers, std::size_t i, f32 otherwise) {
  return i < numbers.size() ? numbers[i].as<f32>() : otherwise;
}

bool is_gradient(const facts::Operator& op) { return op.name.find("_GRAD") != std::string_view::npos; }
bool is_pooling(const OpDesc& desc) { return desc.op->name == "AVERAGE_POOLING_GRAD"; }
// The tensors of the operator itself, or of the operator whose gradient it is.
const OpTensor& forward_input(const OpDesc& desc) { return desc.tensors[is_gradient(*desc.op) ? 1 : 0]; }
const OpTensor& forward_output(const OpDesc& desc) { return desc.tensors[is_gradient(*desc.op) ? 0 : 1]; }

bool is_linear(const OpDesc& desc) { return is_set(desc, "InterpolationMode"); }

f32 scale_of(const OpDesc& desc, std::uint32_t i) {
  if (const auto sizes = numbers_of(desc, "ScaleSize"); !sizes.empty()) {  // UPSAMPLE_2D has width, then height
    const std::uint32_t from_end = desc.tensors[0].tensor.rank - 1 - i;
    return number_or(from_end < 2 ? sizes : std::span<const Scalar>(), from_end, 1.0F);
  }
  return number_or(numbers_of(desc, "Scales"), i, 1.0F);
}

// Whether output i is always input i. Only multiples of a quarter are considered as offsets, because adding them is
// exact.
bool is_identity(const ResampleDimension& dimension) {
  const auto in_quarters = [](f32 offset) {
    return std::abs(offset) <= 1024.0F && offset * 4 == std::floor(offset * 4);
  };
  if (dimension.input_size != dimension.output_size || dimension.scale != 1.0F ||
      !in_quarters(dimension.input_offset) || !in_quarters(dimension.output_offset)) {
    return false;
  }
  const f32 shift = -dimension.output_offset - dimension.input_offset;
  return dimension.kind == ResampleKind::decreasing   ? shift >= 0.0F && shift < 1.0F
         : dimension.kind == ResampleKind::increasing ? shift > -1.0F && shift <= 0.0F
                                                      : shift == 0.0F;
}

// The stride in bytes. A dimension of size 1 may have any stride, even one that would overflow in bytes.
i64 byte_stride(const TensorDesc& tensor, std::uint32_t i) {
  return tensor.sizes[i] > 1 ? tensor.strides[i] * static_cast<i64>(element_size(tensor.type)) : 0;
}

ResampleDimension dimension_of(const OpDesc& desc, std::uint32_t i) {
  const TensorDesc& input = forward_input(desc).tensor;
  const TensorDesc& output = forward_output(desc).tensor;
  ResampleDimension dimension{.input_size = input.sizes[i],
                              .output_size = output.sizes[i],
                              .input_stride = byte_stride(input, i),
                              .output_stride = byte_stride(output, i),
                              .kind = ResampleKind::linear,
                              .scale = scale_of(desc, i),
                              .input_offset = number_or(numbers_of(desc, "InputPixelOffsets"), i, kCenter),
                              .output_offset = number_or(numbers_of(desc, "OutputPixelOffsets"), i, -kCenter)};
  if (is_linear(desc)) {
    const bool is_stretched = is_set(desc, "Antialiased") && dimension.scale < 1.0F;
    dimension.kind = is_stretched ? ResampleKind::stretched : ResampleKind::linear;
  } else if (const auto direction = numbers_of(desc, "RoundingDirection"); direction.empty()) {
    // The older operators choose the nearest element or, if two elements are equally near, the second one. This is the
    // element at the coordinate plus half a pixel, rounded down.
    dimension.kind = ResampleKind::decreasing;
    dimension.input_offset -= kCenter;
  } else {
    dimension.kind = direction.front().as<u32>() == 0 ? ResampleKind::increasing : ResampleKind::decreasing;
  }
  if (dimension.input_size == 1 && (dimension.output_size == 1 || !is_gradient(*desc.op))) {
    dimension.kind = ResampleKind::copied;  // every output is the only element of the input
    dimension.input_stride = 0;
  } else if (is_identity(dimension)) {
    dimension.kind = ResampleKind::copied;
  }
  return dimension;
}

Status check_numbers(const OpDesc& desc, std::string_view field, bool positive) {
  const auto numbers = numbers_of(desc, field);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const f32 number = numbers[i].as<f32>();
    if (!std::isfinite(number) || (positive && number <= 0.0F)) {
      return invalid({desc.op->name, field}, format_text("{}[{}] is {}; expected a finite number{}", field, i, number,
                                                         positive ? " above 0" : ""));
    }
  }
  return {};
}

Status check_windows(const OpDesc& desc) {
  const OpTensor& output = desc.tensors[1];
  if (output.tensor.rank < 3) {
    return invalid(desc, output, format_text("has {} dimensions; expected 3 or more", output.tensor.rank));
  }
  for (const std::string_view field : {"WindowSize", "Strides"}) {
    const auto numbers = numbers_of(desc, field);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i].as<u64>() == 0) {
        return invalid({desc.op->name, field}, format_text("{}[{}] is 0; expected 1 or more", field, i));
      }
    }
  }
  return {};
}

Status check(const OpDesc& desc) {
  if (is_pooling(desc)) {
    return check_windows(desc);
  }
  const OpTensor& input = desc.tensors[0];
  if (is_linear(desc) && (kMeanTypes & type_bit(input.tensor.type)) == 0) {
    return invalid(desc, input,
                   format_text("the type is {}; expected FLOAT32, FLOAT16, INT8 or UINT8, unless InterpolationMode is "
                               "NEAREST_NEIGHBOR",
                               type_name(input.tensor.type)));
  }
  ANYDML_TRY(check_numbers(desc, "Scales", true));
  ANYDML_TRY(check_numbers(desc, "InputPixelOffsets", false));
  ANYDML_TRY(check_numbers(desc, "OutputPixelOffsets", false));
  if (is_gradient(*desc.op)) {
    return {};
  }
  if (!desc.empty && element_count(input.tensor) == 0) {
    return invalid(
        desc, input,
        format_text("sizes are {}; expected an element to sample", shape_text(input.tensor.sizes, input.tensor.rank)));
  }
  for (std::uint32_t i = 0; !desc.empty && i < input.tensor.rank; ++i) {
    const ResampleDimension dimension = dimension_of(desc, i);
    if (dimension.kind == ResampleKind::stretched && max_stretched_taps(dimension) > kMaxTaps / dimension.output_size) {
      return invalid({desc.op->name, "Scales"},
                     format_text("Scales[{}] is {}; expected at most {} taps for {} outputs of {} inputs each, unless "
                                 "Antialiased is 0",
                                 i, dimension.scale, kMaxTaps, dimension.output_size, max_stretched_taps(dimension)));
    }
  }
  return {};
}

// Orders the copied dimensions by output stride, with the smallest stride last, and merges adjacent dimensions that are
// contiguous in both tensors.
std::uint32_t arrange_copied(std::span<ResampleDimension> copied) {
  std::ranges::stable_sort(copied, [](const ResampleDimension& a, const ResampleDimension& b) {
    return std::abs(a.output_stride) > std::abs(b.output_stride);
  });
  std::uint32_t count = 0;
  for (const ResampleDimension& dimension : copied) {
    ResampleDimension* const before = count == 0 ? nullptr : &copied[count - 1];
    if (before != nullptr &&
        checked_multiply(dimension.output_stride, dimension.output_size) == before->output_stride &&
        checked_multiply(dimension.input_stride, dimension.output_size) == before->input_stride) {
      before->output_size *= dimension.output_size;
      before->input_size = before->output_size;
      before->output_stride = dimension.output_stride;
      before->input_stride = dimension.input_stride;
    } else {
      copied[count++] = dimension;
    }
  }
  return count;
}

// A dimension along which windows move.
GradientDimension window_of(const OpDesc& desc, std::uint32_t i) {
  const TensorDesc& from = desc.tensors[0].tensor;
  const TensorDesc& to = desc.tensors[1].tensor;
  GradientDimension dimension{.forward = {.input_size = to.sizes[i],
                                          .output_size = from.sizes[i],
                                          .input_stride = byte_stride(to, i),
                                          .output_stride = byte_stride(from, i),
                                          .kind = ResampleKind::copied,
                                          .scale = 1.0F,
                                          .input_offset = 0.0F,
                                          .output_offset = 0.0F},
                              .window = 1,
                              .stride = 1,
                              .padding = 0};
  if (i >= 2) {
    dimension.window = numbers_of(desc, "WindowSize")[i - 2].as<i64>();
    dimension.stride = numbers_of(desc, "Strides")[i - 2].as<i64>();
    dimension.padding = numbers_of(desc, "StartPadding")[i - 2].as<i64>();
    const bool is_copied = dimension.window == 1 && dimension.stride == 1 && dimension.padding == 0 &&
                           dimension.forward.input_size == dimension.forward.output_size;
    dimension.forward.kind = is_copied ? ResampleKind::copied : ResampleKind::window;
  }
  return dimension;
}

// A dimension with one element, which is its own sum. It ensures that every gradient step has a dimension to sum along.
constexpr GradientDimension kOneElement = {.forward = {.input_size = 1,
                                                       .output_size = 1,
                                                       .input_stride = 0,
                                                       .output_stride = 0,
                                                       .kind = ResampleKind::copied,
                                                       .scale = 1.0F,
                                                       .input_offset = 0.0F,
                                                       .output_offset = 0.0F},
                                           .window = 1,
                                           .stride = 1,
                                           .padding = 0};

GradientStep make_gradient_step(const OpDesc& desc) {
  const TensorDesc& output = desc.tensors[1].tensor;
  GradientStep step{};
  step.way = ResampleWay::gradient;
  step.type = output.type;
  step.taps = 1.0F;
  GradientDimension sampled[kMaxRank];
  ResampleDimension copied[kMaxRank];
  std::uint32_t count = 0;
  f64 taps = 1.0;
  for (std::uint32_t i = 0; i < output.rank; ++i) {
    const GradientDimension dimension =
        is_pooling(desc) ? window_of(desc, i)
                         : GradientDimension{.forward = dimension_of(desc, i), .window = 1, .stride = 1, .padding = 0};
    taps *= static_cast<f64>(dimension.window);
    if (dimension.forward.kind != ResampleKind::copied) {
      sampled[count++] = dimension;
    } else if (dimension.forward.input_size != 1) {
      copied[step.copied] = dimension.forward;  // sorted by the output strides of this operator
      std::swap(copied[step.copied].input_stride, copied[step.copied].output_stride);
      ++step.copied;
    }
  }
  step.copied = arrange_copied(std::span(copied, step.copied));
  for (std::uint32_t i = 0; i < step.copied; ++i) {
    std::swap(copied[i].input_stride, copied[i].output_stride);
    step.dimensions[i] = {.forward = copied[i], .window = 1, .stride = 1, .padding = 0};
  }
  if (count == 0) {
    sampled[count++] = kOneElement;
  }
  std::copy_n(sampled, count, step.dimensions + step.copied);
  step.rank = step.copied + count;
  if (is_pooling(desc)) {
    step.taps = static_cast<f32>(taps);
    step.divisor = is_set(desc, "IncludePadding") ? GradientDivisor::taps : GradientDivisor::elements;
  }
  return step;
}

ResampleStep make_step(const OpDesc& desc) {
  const TensorDesc& output = desc.tensors[1].tensor;
  ResampleStep step{};
  step.type = output.type;
  ResampleDimension sampled[kMaxRank];
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < output.rank; ++i) {
    const ResampleDimension dimension = dimension_of(desc, i);
    if (dimension.kind != ResampleKind::copied) {
      sampled[count++] = dimension;
      step.interpolates |= is_linear(desc) ? 1U : 0U;
    } else if (dimension.output_size != 1) {
      step.dimensions[step.copied++] = dimension;
    }
  }
  step.copied = arrange_copied(std::span(step.dimensions, step.copied));
  std::copy_n(sampled, count, step.dimensions + step.copied);
  step.rank = step.copied + count;
  return step;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand()};
  if (is_gradient(*desc.op)) {
    const GradientStep step = make_gradient_step(desc);
    plan.add(static_cast<std::uint32_t>(FamilyId::resample), operands, std::as_bytes(std::span(&step, 1)));
    return;
  }
  const ResampleStep step = make_step(desc);
  plan.add(static_cast<std::uint32_t>(FamilyId::resample), operands, std::as_bytes(std::span(&step, 1)));
}

// The rows of a packed output are passed to a joined step as they are computed.
Joins joins(const OpDesc& desc, const DeviceTraits&) {
  const bool forwards = is_packed(desc.output().tensor) && !is_gradient(*desc.op);
  return {.inputs = 0, .outputs = forwards ? 1U : 0U};
}

// An operator that copies every dimension is a view.
TensorViews views_of_inputs(const OpDesc& desc) {
  if (is_gradient(*desc.op)) {
    return {std::nullopt};
  }
  TensorView view{.of = 0, .tensor = desc.tensors[1].tensor};
  for (std::uint32_t i = 0; i < view.tensor.rank; ++i) {
    const ResampleDimension dimension = dimension_of(desc, i);
    if (dimension.kind != ResampleKind::copied) {
      return {std::nullopt};
    }
    view.tensor.strides[i] = dimension.input_stride == 0 ? 0 : desc.tensors[0].tensor.strides[i];
  }
  return {view};
}

}  // namespace

extern const Family resample_family;
const Family resample_family = {
    .id = FamilyId::resample,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types = [](const facts::Operator& op, std::size_t) { return is_gradient(op) ? kGradientTypes : all_types(); },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = joins,
    .decompose = nullptr,
    .views_of_inputs = views_of_inputs,
};

}  // namespace anydml
