// SPDX-License-Identifier: MIT
// Normalization by mean and variance has a step, MOMENTS, that keeps a row in the cache. Local response normalization
// and its gradient have steps for window sums, WINDOW_SQUARES and WINDOW_SUMS; their other operations are element-wise.
// Lp normalization is a reduction and a division. All intermediate values are FLOAT32, even for FLOAT16.
#include "ops/normalize/decomposition.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/normalize/step.h"
#include "ops/normalize/training.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr facts::Operator internal_operator(std::string_view name) {
  facts::Operator op{};
  op.name = name;
  return op;
}
constexpr facts::Operator kMoments = internal_operator("MOMENTS");
constexpr facts::Operator kRowMoments = internal_operator("ROW_MOMENTS");
constexpr facts::Operator kRowGradients = internal_operator("ROW_GRADIENTS");
constexpr facts::Operator kWindowSquares = internal_operator("WINDOW_SQUARES");
constexpr facts::Operator kWindowSums = internal_operator("WINDOW_SUMS");

constexpr std::size_t kScale = 1;  // input positions; the input itself is at position 0
constexpr std::size_t kBias = 2;
constexpr std::uint32_t kChannel = 1;  // the channel dimension

struct MomentParameters {
  std::uint32_t axes;
  std::uint32_t uses_mean;
  std::uint32_t uses_variance;
  f32 epsilon;
};

struct WindowParameters {
  std::uint32_t windowed;  // as in WindowStep
  std::uint32_t unused;
  std::int64_t before;
  std::int64_t after;
};

template <class Parameters>
Parameters parameters_of(const OpDesc& internal) {
  Parameters parameters;
  std::memcpy(&parameters, internal.internal.data(), sizeof(parameters));
  return parameters;
}

bool is_set(const OpDesc& desc, std::string_view name) { return number_of(desc, name).as<u32>() != 0; }

// A mask of the dimensions [first, rank). The spatial dimensions follow the batch and the channels.
std::uint32_t dimensions_from(std::uint32_t first, std::uint32_t rank) {
  return ((1U << rank) - 1) & ~((1U << first) - 1);
}

// ---- Mean and variance ----------------------------------------------------------------------------------------------

MomentParameters moments_of(const OpDesc& desc) {
  const bool is_first = desc.op->name == "MEAN_VARIANCE_NORMALIZATION";
  const bool is_newest = desc.op->name == "MEAN_VARIANCE_NORMALIZATION2";
  const std::uint32_t rank = desc.tensors[0].tensor.rank;
  return {
      .axes = !is_first ? axes_of(desc) : dimensions_from(is_set(desc, "CrossChannel") ? kChannel : kChannel + 1, rank),
      .uses_mean = !is_newest || is_set(desc, "UseMean") ? 1U : 0U,
      .uses_variance = is_set(desc, is_newest ? "UseVariance" : "NormalizeVariance") ? 1U : 0U,
      .epsilon = number_of(desc, "Epsilon").as<f32>()};
}

u64 average() { return *facts::find_enum_value(*facts::find_enum("DML_REDUCE_FUNCTION"), "AVERAGE"); }

// Each row is processed by one thread, or by one block of threads on a GPU. If there are so few rows that most of the
// threads would be idle, mean and variance are computed by reductions, which split rows into blocks, and the rest is
// computed by BATCH_NORMALIZATION.
bool has_few_rows(const OpDesc& desc, std::uint32_t axes, const DeviceTraits& device) {
  constexpr std::int64_t kLongRow = 1 << 16;
  const TensorDesc& input = desc.tensors[0].tensor;
  std::int64_t rows = 1;
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    ((axes >> i & 1) != 0 ? count : rows) *= input.sizes[i];
  }
  return count >= kLongRow && 2 * rows <= device.threads;
}

// Returns the normalized value in FLOAT32, or the output itself.
std::uint32_t add_by_reductions(const OpDesc& desc, const MomentParameters& parameters, const TensorDesc& result,
                                DecompositionBuilder& list) {
  const TensorDesc& input = desc.tensors[0].tensor;
  TensorDesc reduced = input;
  TensorDesc one = input;
  std::vector<Scalar> axes;
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    one.sizes[i] = 1;
    if ((parameters.axes >> i & 1) != 0) {
      reduced.sizes[i] = 1;
      axes.emplace_back(u64{i});
    }
  }
  const auto wide = [&](std::uint32_t value) {
    return list.tensor(value).type == DataType::FLOAT32
               ? value
               : list.add("CAST", {value}, DataType::FLOAT32, list.tensor(value));
  };
  const auto average_of = [&](std::uint32_t value) {
    return list.add("REDUCE", {value}, DataType::FLOAT32, reduced,
                    {{.field = "Function", .numbers = {Scalar(average())}}, {.field = "Axes", .numbers = axes}});
  };
  const auto constant = [&](f64 value) {
    return list.add("FILL_VALUE_CONSTANT", {}, DataType::FLOAT32, one,
                    {{.field = "ValueDataType", .numbers = {Scalar(static_cast<u64>(DataType::FLOAT32))}},
                     {.field = "Value", .numbers = {Scalar(value)}}});
  };
  const auto given = [&](std::uint32_t tensor, f64 absent) {
    return desc.tensors[tensor].present ? wide(tensor) : constant(absent);
  };
  const std::uint32_t x = wide(0);
  const std::uint32_t mean = parameters.uses_mean != 0 ? average_of(x) : constant(0);
  const std::uint32_t variance =
      parameters.uses_variance != 0
          ? average_of(list.add("ELEMENT_WISE_DIFFERENCE_SQUARE", {x, mean}, DataType::FLOAT32, input))
          : constant(1);
  const f64 epsilon = parameters.uses_variance != 0 ? parameters.epsilon : 0;
  return list.add_as(
      "BATCH_NORMALIZATION", {x, mean, variance, given(kScale, 1), given(kBias, -0.0)}, result,
      {{.field = "Spatial", .numbers = {Scalar(u64{1})}}, {.field = "Epsilon", .numbers = {Scalar(epsilon)}}});
}

Result<Decomposition> decompose_moments(const OpDesc& desc, const DeviceTraits& device) {
  DecompositionBuilder list(desc);
  const MomentParameters parameters = moments_of(desc);
  const schema::Described* fused = fused_activation(desc);
  const bool by_reductions = has_few_rows(desc, parameters.axes, device);
  const bool is_half = desc.output().tensor.type == DataType::FLOAT16;
  TensorDesc result = desc.output().tensor;
  result.type = by_reductions ? DataType::FLOAT32 : result.type;
  if ((fused != nullptr || (by_reductions && is_half)) && !set_packed_strides(result)) {
    return Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc.op->name)};
  }
  const auto present = [&](std::size_t input) {
    return desc.tensors[input].present ? static_cast<std::uint32_t>(input) : kNoValue;
  };
  std::uint32_t value = by_reductions
                            ? add_by_reductions(desc, parameters, result, list)
                            : list.add_internal(kMoments, {0, present(kScale), present(kBias)}, std::span(&result, 1),
                                                std::as_bytes(std::span(&parameters, 1)));
  if (by_reductions && is_half && fused == nullptr) {
    list.add_output("CAST", {value}, 0);
  } else if (fused != nullptr) {
    value = by_reductions && is_half ? list.add("CAST", {value}, DataType::FLOAT16, result) : value;
    list.add_nested_output(*fused, {value}, 0);
  } else {
    list.set_output(0, value);
  }
  return list.finish();
}

// Adds the step that computes mean and variance of the input.
void lower_row_moments(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const auto parameters = parameters_of<MomentParameters>(desc);
  const TensorDesc& input = tensors[0].tensor;
  const PairedLoops loops = split_axes_with(input, input, tensors[1].tensor, tensors[2].tensor, parameters.axes);
  const MomentStep step{.function = NormalizeFunction::moments,
                        .type = input.type,
                        .uses_mean = 1,
                        .uses_variance = 1,
                        .epsilon = 0,
                        .gives_moments = 1,
                        .loops = loops.loops,
                        .affine = loops.others};
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), tensors[2].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::normalize), operands, std::as_bytes(std::span(&step, 1)));
}

// Adds the step that computes sums from the input and the gradient. The mean is either an input or an additional
// output.
void lower_row_gradients(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const auto parameters = parameters_of<MomentParameters>(desc);
  const TensorDesc& input = tensors[0].tensor;
  const PairedLoops loops =
      split_axes_with(input, tensors[1].tensor, tensors[2].tensor, tensors[3].tensor, parameters.axes);
  const GradientStep step{.function = NormalizeFunction::row_gradients,
                          .type = input.type,
                          .takes_mean = desc.input_count == 3 ? 1U : 0U,
                          .unused = 0,
                          .loops = loops.loops,
                          .statistics = loops.others};
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), tensors[2].operand(), tensors[3].operand(),
                              tensors[4].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::normalize), operands, std::as_bytes(std::span(&step, 1)));
}

void lower_moments(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const auto parameters = parameters_of<MomentParameters>(desc);
  const TensorDesc& input = tensors[0].tensor;
  TensorDesc one = input;  // used in place of an absent scale or bias
  std::fill_n(one.sizes, one.rank, 1);
  const auto of = [&](std::size_t i) -> const TensorDesc& { return desc.tensors[i].present ? tensors[i].tensor : one; };
  const PairedLoops loops = split_axes_with(input, tensors[3].tensor, of(kScale), of(kBias), parameters.axes);
  const MomentStep step{.function = NormalizeFunction::moments,
                        .type = input.type,
                        .uses_mean = parameters.uses_mean,
                        .uses_variance = parameters.uses_variance,
                        .epsilon = parameters.epsilon,
                        .gives_moments = 0,
                        .loops = loops.loops,
                        .affine = loops.others};
  const Operand operands[] = {tensors[0].operand(), tensors[kScale].operand(), tensors[kBias].operand(),
                              tensors[3].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::normalize), operands, std::as_bytes(std::span(&step, 1)));
}

// ---- Local response and Lp ------------------------------------------------------------------------------------------

// Adds the final division of the input by a FLOAT32 divisor.
void add_quotient(const OpDesc& desc, std::uint32_t input, std::uint32_t divisor, DecompositionBuilder& list) {
  if (desc.output().tensor.type == DataType::FLOAT32) {
    list.add_output("ELEMENT_WISE_DIVIDE", {input, divisor}, 0);
    return;
  }
  list.add_output("CAST", {list.add("ELEMENT_WISE_DIVIDE", {input, divisor}, DataType::FLOAT32, desc.output().tensor)},
                  0);
}

std::uint32_t widened_input(const OpDesc& desc, DecompositionBuilder& list, std::uint32_t input = 0) {
  const TensorDesc& tensor = desc.tensors[input].tensor;
  return tensor.type == DataType::FLOAT32 ? input : list.add("CAST", {input}, DataType::FLOAT32, tensor);
}

std::uint32_t multiple_of(std::uint32_t value, Scalar factor, Scalar addend, DecompositionBuilder& list) {
  return list.add("ACTIVATION_LINEAR", {value}, DataType::FLOAT32, list.tensor(value),
                  {{.field = "Alpha", .numbers = {factor}}, {.field = "Beta", .numbers = {addend}}});
}

// The divisor of a local response is POW(base, Beta), and its base is Bias + Alpha / LocalSize * sum.
struct LocalResponse {
  WindowParameters window;
  TensorDesc sums;  // shape of the window sums
  f32 factor;
  std::uint32_t base;
  std::uint32_t divisor;
};

Result<LocalResponse> add_local_response(const OpDesc& desc, DecompositionBuilder& list) {
  const TensorDesc& input = desc.tensors[0].tensor;
  const u32 size = number_of(desc, "LocalSize").as<u32>();
  LocalResponse built{
      .window = {.windowed = is_set(desc, "CrossChannel") ? 1U << kChannel : dimensions_from(kChannel + 1, input.rank),
                 .unused = 0,
                 .before = (std::int64_t{size} - 1) / 2,
                 .after = std::int64_t{size} / 2},
      .sums = input,
      .factor = number_of(desc, "Alpha").as<f32>() / static_cast<f32>(size),
      .base = 0,
      .divisor = 0};
  built.sums.type = DataType::FLOAT32;
  if (!set_packed_strides(built.sums)) {
    return Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc.op->name)};
  }
  const std::uint32_t squares =
      list.add_internal(kWindowSquares, {0}, std::span(&built.sums, 1), std::as_bytes(std::span(&built.window, 1)));
  built.base = multiple_of(squares, Scalar(f64{built.factor}), number_of(desc, "Bias"), list);
  built.divisor = list.add("ELEMENT_WISE_CONSTANT_POW", {built.base}, DataType::FLOAT32, built.sums,
                           {{.field = "Exponent", .numbers = {number_of(desc, "Beta")}}});
  return built;
}

Result<Decomposition> decompose_local_response(const OpDesc& desc) {
  DecompositionBuilder list(desc);
  const auto response = add_local_response(desc, list);
  ANYDML_TRY(response);
  add_quotient(desc, widened_input(desc, list), response.value().divisor, list);
  return list.finish();
}

// With u = InputGradient / divisor, the result is u - 2 * Beta * Alpha / LocalSize * Input * (the sum of u * Input /
// base over the elements whose windows contain this one). These elements form the mirrored window.
Result<Decomposition> decompose_local_response_gradient(const OpDesc& desc) {
  constexpr std::uint32_t kGradient = 1;
  DecompositionBuilder list(desc);
  const auto response = add_local_response(desc, list);
  ANYDML_TRY(response);
  const LocalResponse& own = response.value();
  const auto wide = [&](std::string_view op, std::uint32_t a, std::uint32_t b) {
    return list.add(op, {a, b}, DataType::FLOAT32, own.sums);
  };
  const std::uint32_t quotient = wide("ELEMENT_WISE_DIVIDE", widened_input(desc, list, kGradient), own.divisor);
  const std::uint32_t share =
      wide("ELEMENT_WISE_DIVIDE", wide("ELEMENT_WISE_MULTIPLY", quotient, widened_input(desc, list)), own.base);
  WindowParameters window = own.window;
  std::swap(window.before, window.after);
  const std::uint32_t shares =
      list.add_internal(kWindowSums, {share}, std::span(&own.sums, 1), std::as_bytes(std::span(&window, 1)));
  const f32 factor = own.factor * (2 * number_of(desc, "Beta").as<f32>());
  const std::uint32_t taken = multiple_of(wide("ELEMENT_WISE_MULTIPLY", widened_input(desc, list), shares),
                                          Scalar(f64{factor}), Scalar(-0.0), list);
  if (desc.output().tensor.type == DataType::FLOAT32) {
    list.add_output("ELEMENT_WISE_SUBTRACT", {quotient, taken}, 0);
  } else {
    list.add_output("CAST", {wide("ELEMENT_WISE_SUBTRACT", quotient, taken)}, 0);
  }
  return list.finish();
}

void lower_windows(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  const auto parameters = parameters_of<WindowParameters>(desc);
  const TensorDesc& input = tensors[0].tensor;
  const auto bytes = static_cast<std::int64_t>(element_size(input.type));
  WindowStep step{};
  step.function = desc.op == &kWindowSums ? NormalizeFunction::window_sums : NormalizeFunction::window_squares;
  step.type = input.type;
  step.before = parameters.before;
  step.after = parameters.after;
  bool may_join = false;  // whether to merge with the previous dimension
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    const bool is_windowed = (parameters.windowed >> i & 1) != 0;
    const std::int64_t stride =
        input.sizes[i] > 1 ? input.strides[i] * bytes : 0;  // a single element may have any stride
    if (may_join && !is_windowed && checked_multiply(input.sizes[i], stride) == step.strides[step.rank - 1]) {
      step.sizes[step.rank - 1] *= input.sizes[i];
      step.strides[step.rank - 1] = stride;
      continue;
    }
    step.windowed |= is_windowed ? 1U << step.rank : 0;
    step.sizes[step.rank] = input.sizes[i];
    step.strides[step.rank++] = stride;
    may_join = !is_windowed;
  }
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::normalize), operands, std::as_bytes(std::span(&step, 1)));
}

// Input / max(norm, Epsilon)
Result<Decomposition> decompose_lp(const OpDesc& desc) {
  DecompositionBuilder list(desc);
  const auto axis = number_of(desc, "Axis");
  TensorDesc reduced = desc.tensors[0].tensor;
  reduced.sizes[axis.as<u32>()] = 1;
  const std::uint32_t input = widened_input(desc, list);
  const u64 function = *facts::find_enum_value(*facts::find_enum("DML_REDUCE_FUNCTION"),
                                               number_of(desc, "P").as<u32>() == 1 ? "L1" : "L2");
  std::uint32_t norm =
      list.add("REDUCE", {input}, DataType::FLOAT32, reduced,
               {{.field = "Function", .numbers = {Scalar(function)}}, {.field = "Axes", .numbers = {axis}}});
  norm = list.add("ELEMENT_WISE_CLIP", {norm}, DataType::FLOAT32, reduced,
                  {{.field = "Min", .numbers = {number_of(desc, "Epsilon")}},
                   {.field = "Max", .numbers = {Scalar(std::numeric_limits<f64>::infinity())}}});
  add_quotient(desc, input, norm, list);
  return list.finish();
}

}  // namespace

Status check_composed(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[0];
  ANYDML_TRY(check_axes(desc));
  const bool has_channels = find_argument(desc, "CrossChannel") != nullptr;
  if (has_channels && input.tensor.rank <= kChannel) {
    return invalid(desc, input,
                   format_text("has {} dimension{}; expected a batch and channels", input.tensor.rank,
                               input.tensor.rank == 1 ? "" : "s"));
  }
  for (const OpTensor& other : desc.inputs().subspan(1)) {
    if (other.present && other.tensor.rank != input.tensor.rank) {
      return invalid(desc, other,
                     format_text("has {} dimension{}; expected {}, as many as {}", other.tensor.rank,
                                 other.tensor.rank == 1 ? "" : "s", input.tensor.rank, input.name));
    }
  }
  return is_batch_training(*desc.op) ? check_batch_training(desc) : Status();
}

Result<Decomposition> decompose_composed(const OpDesc& desc, const DeviceTraits& device) {
  if (desc.op->name == "LOCAL_RESPONSE_NORMALIZATION") {
    return decompose_local_response(desc);
  }
  if (desc.op->name == "LOCAL_RESPONSE_NORMALIZATION_GRAD") {
    return decompose_local_response_gradient(desc);
  }
  if (is_batch_training(*desc.op)) {
    return decompose_batch_training(desc, device);
  }
  return desc.op->name == "LP_NORMALIZATION" ? decompose_lp(desc) : decompose_moments(desc, device);
}

bool has_row_moments(const OpDesc& desc, std::uint32_t axes, const DeviceTraits& device) {
  return device.has_row_moments && !has_few_rows(desc, axes, device);
}

std::uint32_t add_row_moments(std::uint32_t axes, std::span<const TensorDesc> results, DecompositionBuilder& list) {
  const MomentParameters parameters{.axes = axes, .uses_mean = 1, .uses_variance = 1, .epsilon = 0};
  return list.add_internal(kRowMoments, {0}, results, std::as_bytes(std::span(&parameters, 1)));
}

std::uint32_t add_row_gradients(std::uint32_t axes, std::uint32_t mean, const TensorDesc& result,
                                DecompositionBuilder& list) {
  const MomentParameters parameters{.axes = axes, .uses_mean = 1, .uses_variance = 0, .epsilon = 0};
  const TensorDesc results[] = {result, result, result};
  const bool takes_mean = mean != kNoValue;
  return list.add_internal(kRowGradients,
                           takes_mean ? std::vector<std::uint32_t>{0, 1, mean} : std::vector<std::uint32_t>{0, 1},
                           std::span(results).first(takes_mean ? 2 : 3), std::as_bytes(std::span(&parameters, 1)));
}

bool is_internal(const OpDesc& desc) {
  const facts::Operator* const own[] = {&kMoments, &kRowMoments, &kRowGradients, &kWindowSquares, &kWindowSums};
  return std::ranges::find(own, desc.op) != std::end(own);
}

void lower_internal(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan) {
  if (desc.op == &kMoments) {
    lower_moments(desc, tensors, plan);
  } else if (desc.op == &kRowMoments) {
    lower_row_moments(desc, tensors, plan);
  } else if (desc.op == &kRowGradients) {
    lower_row_gradients(desc, tensors, plan);
  } else {
    lower_windows(desc, tensors, plan);
  }
}

}  // namespace anydml
