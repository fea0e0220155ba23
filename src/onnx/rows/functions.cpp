// SPDX-License-Identifier: MIT
// Nodes that apply a function to each element. The operators are correctly rounded for FLOAT16 and FLOAT32.
#include "onnx/rows/functions.h"

#include <cmath>
#include <numbers>

#include "onnx/rows/single.h"

namespace anydml::onnx {
namespace {

constexpr SingleDispatch kFunctionDispatches[] = {
    {"Acos", "ELEMENT_WISE_ACOS"},
    {"Acosh", "ELEMENT_WISE_ACOSH"},
    {"Asin", "ELEMENT_WISE_ASIN"},
    {"Asinh", "ELEMENT_WISE_ASINH"},
    {"Atan", "ELEMENT_WISE_ATAN"},
    {"Atanh", "ELEMENT_WISE_ATANH"},
    {"Celu", "ACTIVATION_CELU", {{{"Alpha", "alpha"}}}},
    {"Cos", "ELEMENT_WISE_COS"},
    {"Cosh", "ELEMENT_WISE_COSH"},
    {"Elu", "ACTIVATION_ELU", {{{"Alpha", "alpha"}}}},
    {"Erf", "ELEMENT_WISE_ERF"},
    {"Exp", "ELEMENT_WISE_EXP"},
    {"Log", "ELEMENT_WISE_LOG"},
    {"Selu", "ACTIVATION_SCALED_ELU", {{{"Alpha", "alpha"}, {"Gamma", "gamma"}}}},
    {"Sigmoid", "ACTIVATION_SIGMOID"},
    {"Sin", "ELEMENT_WISE_SIN"},
    {"Sinh", "ELEMENT_WISE_SINH"},
    {"Softplus", "ACTIVATION_SOFTPLUS", {{{"Steepness", nullptr, 1}}}},
    {"Swish", "ACTIVATION_SWISH", {{{"SigmoidInputScale", "alpha"}}}},
    {"Tan", "ELEMENT_WISE_TAN"},
    {"Tanh", "ELEMENT_WISE_TANH"},
};

Compute make_function(const Node& node) { return single_dispatch(kFunctionDispatches, node); }

// ---- Pow ------------------------------------------------------------------------------------------------------------

// The exponent is converted to the type of x; if it may exceed float16, x and the exponent are converted to float32.
Array power(const Array& x, const Array& exponent) {
  const bool is_small = KindSet(Kind::kFloat16, Kind::kInt8, Kind::kUint8).contains(exponent.kind());
  const Kind wide = is_small ? x.kind() : Kind::kFloat;
  if (!exponent.is_symbol() && exponent.count() == 1 && exponent.rank() <= x.rank() && exponent.number() == 2) {
    const Array base = cast(x, wide);  // both are correctly rounded, so a square has the same bits as the power
    return cast(multiply(base, base), x.kind());
  }
  return cast(dispatch("ELEMENT_WISE_POW", {cast(x, wide), cast(exponent, wide)}), x.kind());
}

Compute make_power(const Node&) {
  return [](std::span<const Array> inputs) { return one(power(inputs[0], inputs[1])); };
}

Compute make_old_power(const Node& node) { return old_broadcasting("ELEMENT_WISE_POW", node); }

// ---- Gelu and Softsign ----------------------------------------------------------------------------------------------

}  // namespace

Array gelu_by_tanh(const Array& x) {
  const auto constant = [](double value) { return Array::scalar(Kind::kFloat, value); };
  const Array wide = cast(x, Kind::kFloat);
  const Array cubic = multiply(constant(0.044715), multiply(wide, multiply(wide, wide)));
  const Array sum = multiply(constant(std::sqrt(2 / std::numbers::pi)), add(wide, cubic));
  const Array bend = dispatch("ELEMENT_WISE_TANH", {sum});
  const Array half = multiply(constant(0.5), wide);
  return cast(multiply(half, add(constant(1), bend)), x.kind());
}

namespace {

Compute make_gelu(const Node& node) {
  const std::string approximate = node.text("approximate");
  if (approximate != "none" && approximate != "tanh") {
    wrong(node, "approximate", "'none' or 'tanh'");
  }
  if (approximate == "tanh") {
    return [](std::span<const Array> inputs) { return one(gelu_by_tanh(inputs[0])); };
  }
  return [](std::span<const Array> inputs) { return one(dispatch("ACTIVATION_GELU", {inputs[0]})); };
}

Array softsign_by_others(const Array& x) {
  return divide(x, add(dispatch("ELEMENT_WISE_ABS", {x}), Array::scalar(x.kind(), 1)));
}

Compute make_softsign(const Node& node) {
  if (node.kinds[0] == Kind::kDouble) {  // which ACTIVATION_SOFTSIGN does not accept
    return [](std::span<const Array> inputs) { return one(softsign_by_others(inputs[0])); };
  }
  return [](std::span<const Array> inputs) { return one(dispatch("ACTIVATION_SOFTSIGN", {inputs[0]})); };
}

constexpr Row kOtherFunctionRows[] = {
    {"Gelu", 1, 0, make_gelu, "GELU TANH MULTIPLY ADD CAST", kRoundedKinds},
    {"Pow", 1, kLastOldBroadcasting, make_old_power, "POW MULTIPLY CAST", kRoundedKinds},
    {"Pow", kLastOldBroadcasting + 1, 0, make_power, "POW MULTIPLY CAST", kRoundedKinds},
    {"Softsign", 1, 0, make_softsign, "SOFTSIGN ABS ADD DIVIDE"},
};

}  // namespace

std::span<const Row> function_rows() {
  static constexpr auto kRows = with_rows<row_count(kOtherFunctionRows, kFunctionDispatches)>(
      kOtherFunctionRows, kFunctionDispatches, kRoundedKinds, make_function);
  return kRows;
}

}  // namespace anydml::onnx
