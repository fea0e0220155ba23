// SPDX-License-Identifier: MIT
// BATCH_NORMALIZATION is fma(x - Mean, s, Bias) with s = Scale / sqrt(Variance + Epsilon), each rounded in FLOAT32. All
// tensors other than x repeat along most dimensions, so s is computed first, only over the dimensions in which these
// tensors vary.
//
// ADAM_OPTIMIZER first computes the rate of the training step, a single number. The remaining operators are
// element-wise and become one step, which reads and writes each tensor once and may run in place.
#include "ops/elementwise/decomposition.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "base/shape.h"
#include "ops/arguments.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kComposed[] = {
#define ANYDML_ENTRY(op, Definition)
#define ANYDML_COMPOSED_ENTRY(op) #op,
#include "ops/elementwise/elementwise.def"
};

constexpr facts::Operator kScaledDifference = [] {
  facts::Operator op{};
  op.name = "SCALED_DIFFERENCE";
  return op;
}();

// Inputs of BATCH_NORMALIZATION.
constexpr std::uint32_t kMean = 1;
constexpr std::uint32_t kVariance = 2;
constexpr std::uint32_t kScale = 3;
constexpr std::uint32_t kBias = 4;

// Inputs and outputs of ADAM_OPTIMIZER.
constexpr std::uint32_t kParameters = 0;
constexpr std::uint32_t kFirstMoment = 1;
constexpr std::uint32_t kSecondMoment = 2;
constexpr std::uint32_t kGradient = 3;
constexpr std::uint32_t kTrainingStep = 4;

// The tensor reduced to one element along the dimensions in which it repeats.
TensorDesc without_repeats(TensorDesc tensor) {
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    tensor.sizes[i] = tensor.strides[i] == 0 ? 1 : tensor.sizes[i];
  }
  return tensor;
}

std::uint16_t scaled_difference(const OpDesc& desc, InputValues inputs, ElementwiseProgram& program) {
  const Entry& own = entry(EntryId::SCALED_DIFFERENCE);
  const DataType type = desc.output().tensor.type;
  const Variant types{type, DataType::FLOAT32, DataType::FLOAT32, DataType::FLOAT32, type};
  return program.add(own.id, find_variant(own, types), inputs.first(own.inputs));
}

Result<Decomposition> decompose_batch_normalization(const OpDesc& desc) {
  DecompositionBuilder list(desc);
  const auto coefficients = [&](std::uint32_t input) {
    list.see(input, without_repeats(list.tensor(input)));
    const TensorDesc& tensor = list.tensor(input);
    return tensor.type == DataType::FLOAT32 ? input : list.add("CAST", {input}, DataType::FLOAT32, tensor);
  };
  const std::uint32_t mean = coefficients(kMean);
  const std::uint32_t variance = coefficients(kVariance);
  const std::uint32_t scale = coefficients(kScale);
  const std::uint32_t bias = coefficients(kBias);
  const TensorDesc spread = list.tensor(variance);
  std::uint32_t factor = list.add(
      "ACTIVATION_LINEAR", {variance}, DataType::FLOAT32, spread,
      {{.field = "Alpha", .numbers = {Scalar(1.0)}}, {.field = "Beta", .numbers = {number_of(desc, "Epsilon")}}});
  factor = list.add("ELEMENT_WISE_SQRT", {factor}, DataType::FLOAT32, spread);
  TensorDesc both = spread;
  for (std::uint32_t i = 0; i < both.rank; ++i) {
    both.sizes[i] = std::max(both.sizes[i], list.tensor(scale).sizes[i]);
  }
  factor = list.add("ELEMENT_WISE_DIVIDE", {scale, factor}, DataType::FLOAT32, both);
  const schema::Described* fused = fused_activation(desc);
  TensorDesc result = desc.output().tensor;
  if (fused != nullptr && !set_packed_strides(result)) {
    return Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", desc.op->name)};
  }
  const std::uint32_t value = list.add_internal(kScaledDifference, {0, mean, factor, bias}, std::span(&result, 1), {});
  if (fused != nullptr) {
    list.add_nested_output(*fused, {value}, 0);
  } else {
    list.set_output(0, value);
  }
  return list.finish();
}

// LearningRate * (sqrt(1 - POW(Beta2, step)) / (1 - POW(Beta1, step))), as a tensor of one element.
std::uint32_t add_rate(const OpDesc& desc, DecompositionBuilder& list) {
  list.see(kTrainingStep, without_repeats(list.tensor(kTrainingStep)));
  const TensorDesc one = list.tensor(kTrainingStep);
  const auto of_one = [&](std::string_view op, const std::vector<std::uint32_t>& sources,
                          const std::vector<OpAttribute>& attributes = {}) {
    return list.add(op, sources, DataType::FLOAT32, one, attributes);
  };
  const auto linear = [&](std::uint32_t value, Scalar factor, f64 addend) {
    return of_one("ACTIVATION_LINEAR", {value},
                  {{.field = "Alpha", .numbers = {factor}}, {.field = "Beta", .numbers = {Scalar(addend)}}});
  };
  // No element-wise operator produces a constant, so a one-element tensor with a given number is computed by clamping
  // an arbitrary value to that number from both sides.
  const std::uint32_t any = one.type == DataType::FLOAT32 ? kTrainingStep : of_one("CAST", {kTrainingStep});
  const auto one_less_power = [&](std::string_view beta) {
    const std::uint32_t base = of_one(
        "ELEMENT_WISE_CLIP", {any},
        {{.field = "Min", .numbers = {number_of(desc, beta)}}, {.field = "Max", .numbers = {number_of(desc, beta)}}});
    return linear(of_one("ELEMENT_WISE_POW", {base, kTrainingStep}), Scalar(-1.0), 1);
  };
  const std::uint32_t root = of_one("ELEMENT_WISE_SQRT", {one_less_power("Beta2")});
  const std::uint32_t correction = of_one("ELEMENT_WISE_DIVIDE", {root, one_less_power("Beta1")});
  return linear(correction, number_of(desc, "LearningRate"), -0.0);
}

Result<Decomposition> decompose_adam(const OpDesc& desc) {
  DecompositionBuilder list(desc);
  const std::uint32_t rate = add_rate(desc, list);
  const TensorDesc& whole = desc.output().tensor;
  const auto wide = [&](std::uint32_t input) {
    return list.tensor(input).type == DataType::FLOAT32
               ? input
               : list.add("CAST", {input}, DataType::FLOAT32, list.tensor(input));
  };
  const auto add = [&](std::string_view op, const std::vector<std::uint32_t>& sources) {
    return list.add(op, sources, DataType::FLOAT32, whole);
  };
  // Multiplies by a number. The operator also adds Beta, but adding -0 changes nothing.
  const auto times = [&](std::uint32_t value, f32 factor) {
    return list.add(
        "ACTIVATION_LINEAR", {value}, DataType::FLOAT32, whole,
        {{.field = "Alpha", .numbers = {Scalar(f64{factor})}}, {.field = "Beta", .numbers = {Scalar(-0.0)}}});
  };
  // Returns the FLOAT32 value that becomes this output, after a cast if necessary.
  const auto built = [&](std::string_view op, const std::vector<std::uint32_t>& sources, std::uint32_t output) {
    const TensorDesc& tensor = desc.outputs()[output].tensor;
    if (tensor.type == DataType::FLOAT32) {
      const std::uint32_t value = list.add_as(op, sources, tensor, {});
      list.set_output(output, value);
      return value;
    }
    const std::uint32_t value = add(op, sources);
    list.add_output("CAST", {value}, output);
    return value;
  };
  const auto beta1 = number_of(desc, "Beta1").as<f32>();
  const auto beta2 = number_of(desc, "Beta2").as<f32>();
  const std::uint32_t gradient = wide(kGradient);
  const std::uint32_t first =
      built("ELEMENT_WISE_ADD", {times(wide(kFirstMoment), beta1), times(gradient, 1 - beta1)}, kFirstMoment);
  const std::uint32_t square = add("ELEMENT_WISE_MULTIPLY", {times(gradient, 1 - beta2), gradient});
  const std::uint32_t second = built("ELEMENT_WISE_ADD", {times(wide(kSecondMoment), beta2), square}, kSecondMoment);
  const std::uint32_t root = list.add(
      "ACTIVATION_LINEAR", {add("ELEMENT_WISE_SQRT", {second})}, DataType::FLOAT32, whole,
      {{.field = "Alpha", .numbers = {Scalar(1.0)}}, {.field = "Beta", .numbers = {number_of(desc, "Epsilon")}}});
  const std::uint32_t step = add("ELEMENT_WISE_DIVIDE", {add("ELEMENT_WISE_MULTIPLY", {first, rate}), root});
  built("ELEMENT_WISE_SUBTRACT", {wide(kParameters), step}, kParameters);
  return list.finish();
}

}  // namespace

bool is_composed(const facts::Operator& op) { return std::ranges::find(kComposed, op.name) != std::end(kComposed); }

Recipe find_internal_recipe(const facts::Operator& op) {
  return &op == &kScaledDifference ? scaled_difference : nullptr;
}

// Inputs have already been broadcast to the first output.
Status check_composed_entry(const OpDesc& desc) {
  const OpTensor& first = desc.output();
  for (const OpTensor& output : desc.outputs()) {
    if (output.tensor.rank != first.tensor.rank ||
        !std::equal(first.tensor.sizes, first.tensor.sizes + first.tensor.rank, output.tensor.sizes)) {
      return invalid(
          desc, output,
          format_text("sizes are {}; expected {}, the sizes of {}", shape_text(output.tensor.sizes, output.tensor.rank),
                      shape_text(first.tensor.sizes, first.tensor.rank), first.name));
    }
  }
  return {};
}

Result<Decomposition> decompose(const OpDesc& desc, const DeviceTraits&, const KnownInputs&) {
  if (!is_composed(*desc.op)) {
    return Decomposition();
  }
  return desc.op->name == "ADAM_OPTIMIZER" ? decompose_adam(desc) : decompose_batch_normalization(desc);
}

}  // namespace anydml
