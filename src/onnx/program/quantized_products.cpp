// SPDX-License-Identifier: MIT
// Products of dequantized floats become products of integers, whose sums are exact.
#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "onnx/program/builder.h"
#include "onnx/program/quantized.h"
#include "onnx/rows/expansion.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {
namespace {

// Sums are int32, and the product of two bytes is at most 255 * 255.
constexpr std::int64_t kMaxTerms = 0x7fffffff / (255 * 255);
constexpr int kFirstWithIntegers = 13;
constexpr std::int64_t kFloatNumber = static_cast<std::int64_t>(Kind::kFloat);
// Scales of a bias that differ less than this count as the product of the scales: converters multiply them in float or
// in double.
constexpr double kScaleTolerance = 1e-6;

bool has_only(const NodeMessage& node, const std::set<std::string_view>& names) {
  return std::all_of(node.attributes.begin(), node.attributes.end(),
                     [&](const AttributeMessage& one) { return names.contains(one.name); });
}

// Whether a value has one scale, or one for each index of an axis. rank: 0 if it is unknown.
bool has_scales_along(const QuantizedFloat& value, std::int64_t axis, int rank) {
  return !value.axis.has_value() || *value.axis == axis || (rank > 0 && *value.axis + rank == axis);
}

// 0 or 1; nothing for other numbers.
std::optional<bool> truth_of(const NodeMessage& node, std::string_view name) {
  const AttributeMessage* const found = node.find(name);
  if (found == nullptr) {
    return false;
  }
  const bool is_truth = found->type == AttributeType::kInt && (found->i == 0 || found->i == 1);
  return is_truth ? std::optional(found->i != 0) : std::nullopt;
}

std::optional<double> number_of(const NodeMessage& node, std::string_view name) {
  const AttributeMessage* const found = node.find(name);
  if (found == nullptr) {
    return 1;
  }
  return found->type == AttributeType::kFloat ? std::optional(static_cast<double>(found->f)) : std::nullopt;
}

std::string transposed(Expansion& e, const std::string& x, bool is_transposed) {
  return is_transposed ? e.add("Transpose", {x}, {{"perm", std::vector<std::int64_t>{1, 0}}}) : x;
}

}  // namespace

// Whether a bias consists of INT32 numbers whose scale is the product of the scales.
bool QuantizedFloats::is_bias(const QuantizedFloat& bias, const Array& product_scale) const {
  if (bias.kind != Kind::kInt32 || (bias.axis.has_value() && *bias.axis != 0 && *bias.axis != -1)) {
    return false;
  }
  if (!bias.zero.empty()) {
    const std::vector<std::int64_t> zeros = builder_.constant(bias.zero).to_integers();
    if (std::any_of(zeros.begin(), zeros.end(), [](std::int64_t one) { return one != 0; })) {
      return false;
    }
  }
  const std::vector<double> expected = product_scale.to_numbers();
  const std::vector<double> scales = builder_.constant(bias.scale).to_numbers();
  if (scales.size() != 1 && expected.size() != 1 && scales.size() != expected.size()) {
    return false;
  }
  for (std::size_t i = 0; i < std::max(scales.size(), expected.size()); ++i) {
    const double wanted = expected[expected.size() == 1 ? 0 : i];
    if (!(std::abs(scales[scales.size() == 1 ? 0 : i] - wanted) <= kScaleTolerance * std::abs(wanted))) {
      return false;
    }
  }
  return true;
}

// The number of terms in each sum of a product. kept: the axis of the weights of a Gemm that remains in the result.
std::int64_t QuantizedFloats::count_terms(const Product& product, int kept, const Array& weights) {
  if (product.is_conv) {
    return weights.count() / std::max<std::int64_t>(weights.size(0), 1);
  }
  if (kept >= 0) {
    return weights.size(1 - kept);
  }
  return weights.rank() > 1 ? weights.size(weights.rank() - 2) : weights.count();
}

// Reads a product of dequantized floats.
std::optional<QuantizedFloats::Product> QuantizedFloats::product_of(const NodeMessage& node) const {
  const QuantizedFloat* const a = find(node, 0);
  const QuantizedFloat* const b = find(node, 1);
  if (a == nullptr || b == nullptr || a->axis.has_value() || node.inputs.size() > 3 || node.outputs.size() != 1) {
    return std::nullopt;
  }
  const Array weights = builder_.constant(b->x);
  Product product;
  product.is_conv = node.op_type == "Conv";
  product.a = *a;
  product.b = *b;
  product.rank = weights ? weights.rank() : 0;
  double alpha = 1;
  std::int64_t axis = 0;  // the axis of b that remains in the result
  if (node.op_type == "Gemm") {
    const std::optional<bool> is_a_transposed = truth_of(node, "transA");
    const std::optional<bool> is_b_transposed = truth_of(node, "transB");
    const std::optional<double> factor = number_of(node, "alpha");
    const std::optional<double> beta = number_of(node, "beta");
    if (!is_a_transposed || !is_b_transposed || !factor || !beta ||
        !has_only(node, {"transA", "transB", "alpha", "beta"}) || (weights && weights.rank() != 2)) {
      return std::nullopt;
    }
    product.is_a_transposed = *is_a_transposed;
    product.is_b_transposed = *is_b_transposed;
    product.beta = *beta;
    alpha = *factor;
    product.rank = 2;
    axis = *is_b_transposed ? 0 : 1;
  } else if (product.is_conv) {
    if (!weights || weights.rank() < 3) {
      return std::nullopt;
    }
  } else {
    if (node.inputs.size() != 2 || !node.attributes.empty() || (b->axis.has_value() && product.rank < 2)) {
      return std::nullopt;
    }
    axis = product.rank - 1;
  }
  if (!has_scales_along(*b, axis, product.rank)) {
    return std::nullopt;
  }
  if (weights && count_terms(product, node.op_type == "Gemm" ? static_cast<int>(axis) : -1, weights) > kMaxTerms) {
    return std::nullopt;
  }
  const Array b_scale = builder_.constant(b->scale);
  product.scale = multiply(builder_.constant(a->scale).reshape({}), b_scale.flatten());
  if (alpha != 1) {
    product.scale = multiply(product.scale, Array::scalar(Kind::kFloat, alpha));
  }
  product.alpha = alpha;
  product.bias = node.inputs.size() > 2 ? node.inputs[2] : std::string();
  if (node.op_type == "Gemm" && !product.bias.empty()) {  // Add has no rule that C must not be larger than the result
    const Array known = builder_.constant(product.bias);
    if (!known || known.rank() > 1) {
      return std::nullopt;
    }
  }
  const auto bias = floats_.find(product.bias);
  if (bias != floats_.end() && alpha == 1 && product.beta == 1 && is_bias(bias->second, product.scale)) {
    product.integer_bias = bias->second.x;
  }
  return product;
}

std::optional<Replacement> QuantizedFloats::replaced_product(const NodeMessage& node) {
  const std::optional<Product> product = product_of(node);
  if (!product.has_value()) {
    return std::nullopt;
  }
  Replacement result{.nodes = {}, .outputs = node.outputs, .pattern = node.op_type, .min_opset = kFirstWithIntegers};
  // The integer operators have no alpha.
  const bool has_integers = product->alpha == 1 && (product->bias.empty() || !product->integer_bias.empty());
  const std::optional<Tail> tail = has_integers ? tail_of(node, true) : std::nullopt;
  if (tail.has_value()) {
    write_quantized_product(node, *product, *tail, result);
  } else {
    write_float_product(node, *product, result);
  }
  return result;
}

// QLinearConv or QLinearMatMul. Neither has the bias of a Gemm, so a Gemm with a bias is written in steps that compute
// the same: the sum is multiplied by one factor, and rounded once.
void QuantizedFloats::write_quantized_product(const NodeMessage& node, const Product& product, const Tail& tail,
                                              Replacement& result) {
  Expansion e(node, {}, builder_.opset());
  const std::string y_zero = tail.zero_name.empty() ? e.constant(tail.zero) : tail.zero_name;
  const std::string a_zero = zero_of(e, product.a);
  const std::string b_zero = zero_of(e, product.b);
  const std::string a = transposed(e, product.a.x, product.is_a_transposed);
  const std::string b = transposed(e, product.b.x, product.is_b_transposed);
  const std::string codes = e.fresh_name();
  std::string by = product.is_conv ? "QLinearConv" : "QLinearMatMul";
  if (!product.is_conv && !product.bias.empty()) {
    by = "MatMulInteger";
    const std::string total = e.add("MatMulInteger", {a, b, a_zero, b_zero});
    const std::string sum = e.add("Add", {total, product.integer_bias});
    const std::string wide = e.add("Cast", {sum}, {{"to", kFloatNumber}});
    const std::string scaled = e.add("Mul", {wide, e.constant(divide(product.scale, tail.scale))});
    e.add_to("QuantizeLinear", {scaled, e.constant_float(1), y_zero}, {codes});
  } else {
    NodeMessage& made = e.nodes.emplace_back();
    made.name = node.name;
    made.op_type = by;
    made.inputs = {a, product.a.scale, a_zero, b, product.b.scale, b_zero, tail.scale_name, y_zero};
    if (product.is_conv) {
      made.attributes = node.attributes;
      if (!product.bias.empty()) {
        made.inputs.push_back(product.integer_bias);
      }
    }
    made.outputs = {codes};
  }
  finish_codes(e, codes, tail, result);
  result.pattern += " by " + by;
  result.nodes = std::move(e.nodes);
}

// A product of integers, which is converted to float, scaled and added to the bias.
void QuantizedFloats::write_float_product(const NodeMessage& node, const Product& product, Replacement& result) {
  Expansion e(node, {}, 0);
  const std::string a = transposed(e, product.a.x, product.is_a_transposed);
  const std::string b = transposed(e, product.b.x, product.is_b_transposed);
  NodeMessage& made = e.nodes.emplace_back();
  made.name = node.name;
  made.op_type = product.is_conv ? "ConvInteger" : "MatMulInteger";
  made.inputs = {a, b, product.a.zero, product.b.zero};
  while (made.inputs.back().empty()) {
    made.inputs.pop_back();
  }
  if (product.is_conv) {
    made.attributes = node.attributes;
  }
  result.pattern += " by " + made.op_type;
  const std::string total = e.fresh_name();
  e.nodes.back().outputs = {total};
  const std::string wide = e.add("Cast", {total}, {{"to", kFloatNumber}});
  Array scale = product.scale.count() == 1 ? product.scale.reshape({}) : product.scale;
  if (product.is_conv && scale.rank() == 1) {
    Sizes shape(static_cast<std::size_t>(product.rank - 1), 1);
    shape[0] = scale.count();
    scale = scale.reshape(shape);
  }
  const std::string factor = e.constant(scale);
  if (product.bias.empty()) {
    e.add_to("Mul", {wide, factor}, {node.outputs[0]});
  } else {
    const std::string scaled = e.add("Mul", {wide, factor});
    std::string bias = product.bias;
    if (product.is_conv) {
      std::vector<std::int64_t> shape(static_cast<std::size_t>(product.rank), 1);
      shape[1] = -1;
      bias = e.add("Reshape", {bias, e.constant(shape)});
    }
    if (product.beta != 1) {
      bias = e.add("Mul", {bias, e.constant_float(product.beta)});
    }
    e.add_to("Add", {scaled, bias}, {node.outputs[0]});
  }
  result.nodes = std::move(e.nodes);
}

}  // namespace anydml::onnx
