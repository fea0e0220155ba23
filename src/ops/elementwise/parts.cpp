// SPDX-License-Identifier: MIT
// BATCH_NORMALIZATION is fma(x - Mean, s, Bias) with s = Scale / sqrt(Variance + Epsilon), each rounded in FLOAT32. The
// tensors beside x repeat along most dimensions, so s is computed first, over the sizes at which they differ.
#include "ops/elementwise/parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

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

// Of BATCH_NORMALIZATION's inputs.
constexpr std::uint32_t kMean = 1;
constexpr std::uint32_t kVariance = 2;
constexpr std::uint32_t kScale = 3;
constexpr std::uint32_t kBias = 4;

// Without the dimensions along which it repeats.
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

}  // namespace

bool is_composed(const facts::Operator& op) { return std::ranges::find(kComposed, op.name) != std::end(kComposed); }

Recipe find_internal_recipe(const facts::Operator& op) {
  return &op == &kScaledDifference ? scaled_difference : nullptr;
}

Result<OpParts> parts_of(const OpDesc& desc, const DeviceTraits&, const KnownInputs&) {
  if (!is_composed(*desc.op)) {
    return OpParts();
  }
  PartList list(desc);
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
    return Error{ErrorKind::out_of_memory,
                 format_text("{}: a tensor that it needs besides is too large", desc.op->name)};
  }
  const std::uint32_t value = list.add_internal(kScaledDifference, {0, mean, factor, bias}, std::span(&result, 1), {});
  if (fused != nullptr) {
    list.add_nested_output(*fused, {value}, 0);
  } else {
    list.set_output(0, value);
  }
  return list.finish();
}

}  // namespace anydml
