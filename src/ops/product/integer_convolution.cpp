// SPDX-License-Identifier: MIT
// CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION. They are decomposed into INTEGER_FILTER, which packs the filter
// for the kernels and runs once if the filter is known in advance, and INTEGER_CONVOLUTION, which computes the output.
// Devices that do not pack weights read the original filter.
#include <cstring>

#include "ops/product/integer.h"
#include "ops/product/integer_step.h"
#include "ops/product/internal.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml::products {
namespace {

constexpr facts::Operator kIntegerFilter = internal_operator("INTEGER_FILTER");
constexpr facts::Operator kIntegerConvolution = internal_operator("INTEGER_CONVOLUTION");

// The parameters of the two internal operators.
struct IntegerConvolutionParameters {
  ConvolutionParameters convolution;
  IntegerFinish finish;
  std::uint32_t is_packed;  // whether INTEGER_CONVOLUTION has a packed filter
};

IntegerConvolutionParameters integer_convolution_parameters_of(const OpDesc& internal) {
  IntegerConvolutionParameters parameters;
  std::memcpy(&parameters, internal.internal.data(), sizeof(parameters));
  return parameters;
}

// The packed filter. It has the filter's type, so that the signedness is known.
Result<TensorDesc> packed_form(const OpDesc& desc, const TensorDesc& filter, std::int64_t groups) {
  TensorDesc packed{.type = filter.type, .rank = 1};
  const std::int64_t rows = filter.sizes[0] / groups;
  const std::int64_t depth = rows == 0 ? 0 : element_count(filter) / filter.sizes[0];
  std::int64_t maximum = 0;  // upper limit for the bytes of a group
  const std::int64_t channels = filter.sizes[1];
  const bool fits = !__builtin_mul_overflow(depth, std::int64_t{2}, &maximum) &&
                    !__builtin_mul_overflow(rows + kFilterRowUnit, maximum + 2 * kDepthUnit, &maximum) &&
                    !__builtin_mul_overflow(maximum, groups, &maximum);
  packed.sizes[0] = fits ? groups * integer_filter_bytes(rows, channels, channels == 0 ? 0 : depth / channels) : 0;
  if (!fits || !set_packed_strides(packed)) {
    return Error{ErrorKind::out_of_memory, format_text("{}: FilterTensor is too large to be packed", desc.op->name)};
  }
  return packed;
}

// The distance in bytes between the values of adjacent output channels. At most one dimension has a size other than 1.
std::int64_t channel_step(const TensorDesc& tensor) {
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    if (tensor.sizes[i] != 1) {
      return step_of(tensor, i);
    }
  }
  return 0;
}

IntegerConvolutionStep make_integer_convolution_step(const OpDesc& desc, std::span<const PlacedTensor> tensors) {
  const IntegerConvolutionParameters parameters = integer_convolution_parameters_of(desc);
  IntegerConvolutionStep step{};
  step.finish = parameters.finish;
  if (desc.op == &kIntegerFilter) {
    step.convolution = make_convolution_step(parameters.convolution, nullptr, &tensors[0].tensor, nullptr, nullptr);
    step.convolution.kind = ProductKind::integer_filter;
    step.signed_filter = is_signed_byte(tensors[0].tensor.type) ? 1 : 0;
    return step;
  }
  // The tensor of an operand; null if it is absent.
  const auto tensor = [&](IntegerOperand operand) {
    const auto position = static_cast<std::size_t>(operand);
    return desc.tensors[position].present ? &tensors[position].tensor : nullptr;
  };
  const auto step_along = [&](IntegerOperand operand) {
    return tensor(operand) != nullptr ? channel_step(*tensor(operand)) : 0;
  };
  const TensorDesc* const input = tensor(IntegerOperand::b);
  const TensorDesc* const output = tensor(IntegerOperand::output);
  step.convolution = make_convolution_step(parameters.convolution, input,
                                           parameters.is_packed != 0 ? nullptr : tensor(IntegerOperand::a),
                                           tensor(IntegerOperand::bias), output);
  step.convolution.kind = ProductKind::integer_convolution;
  step.is_packed = parameters.is_packed;
  step.signed_filter = is_signed_byte(tensor(IntegerOperand::a)->type) ? 1 : 0;
  step.signed_input = is_signed_byte(input->type) ? 1 : 0;
  step.signed_output = is_signed_byte(output->type) ? 1 : 0;
  const auto pixels = without_windows(step.convolution);
  step.has_windows = pixels ? 0 : 1;
  step.pixel_step = pixels ? pixels->input : 0;
  step.filter_zero = step_along(IntegerOperand::a_zero);
  step.filter_scale = step_along(IntegerOperand::a_scale);
  return step;
}

}  // namespace

bool is_integer_convolution_part(const facts::Operator& op) {
  return &op == &kIntegerFilter || &op == &kIntegerConvolution;
}

Result<Decomposition> decompose_integer_convolution(const OpDesc& desc, const IntegerLayout& layout,
                                                    const DeviceTraits& device) {
  DecompositionBuilder list(desc);
  const auto value = [&](IntegerOperand operand) { return layout.value(desc, operand); };
  std::uint32_t filter = value(IntegerOperand::a);
  const TensorDesc& given = list.tensor(filter);
  const bool packs = device.packs_weights() && element_count(given) != 0;
  const IntegerConvolutionParameters parameters{
      .convolution = convolution_parameters(desc), .finish = layout.finish, .is_packed = packs ? 1U : 0U};
  const auto bytes = std::as_bytes(std::span(&parameters, 1));
  if (packs) {
    const auto packed = packed_form(desc, given, parameters.convolution.groups);
    ANYDML_TRY(packed);
    IntegerConvolutionParameters packing = parameters;
    packing.convolution = filter_parameters(packing.convolution);
    filter = list.add_internal(kIntegerFilter, {filter}, std::span(&packed.value(), 1),
                               std::as_bytes(std::span(&packing, 1)), true);
  }
  const std::uint32_t result =
      list.add_internal(kIntegerConvolution,
                        {filter, value(IntegerOperand::b), value(IntegerOperand::a_zero), value(IntegerOperand::b_zero),
                         value(IntegerOperand::a_scale), value(IntegerOperand::b_scale), value(IntegerOperand::bias),
                         value(IntegerOperand::output_scale), value(IntegerOperand::output_zero)},
                        std::span(&desc.output().tensor, 1), bytes);
  list.set_output(0, result);
  return list.finish();
}

// The totals are passed on as tiles of INT32 rows, so the pixels must be contiguous.
Joins integer_convolution_joins(const OpDesc& desc) {
  const bool forwards = desc.op == &kIntegerConvolution &&
                        integer_convolution_parameters_of(desc).finish == IntegerFinish::int32 &&
                        is_packed(desc.output().tensor);
  return {.inputs = 0, .outputs = forwards ? 1U : 0U};
}

void lower_integer_convolution_part(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const IntegerConvolutionStep step = make_integer_convolution_step(desc, tensors);
  Operand operands[kIntegerOperands];
  std::size_t count = 0;
  for (const PlacedTensor& tensor : tensors) {
    operands[count++] = tensor.operand();
  }
  plan.add(static_cast<std::uint32_t>(FamilyId::product), std::span(operands, count),
           std::as_bytes(std::span(&step, 1)));
}

}  // namespace anydml::products
