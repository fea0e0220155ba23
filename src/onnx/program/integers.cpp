// SPDX-License-Identifier: MIT
#include "onnx/program/integers.h"

#include <utility>

#include "onnx/rows/expansion.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {

std::optional<QuantizedFloat> quantized_float(const NodeMessage& node, const std::vector<Kind>& kinds,
                                              const Array& scale, const Array& zero) {
  const bool are_bytes = kinds[0] == Kind::kInt8 || kinds[0] == Kind::kUint8;
  if (!are_bytes || kinds.size() < 2 || kinds[1] != Kind::kFloat || node.find("block_size") != nullptr || !scale) {
    return std::nullopt;
  }
  const std::string zero_name = node.inputs.size() > 2 ? node.inputs[2] : std::string();
  if (!zero_name.empty() && !zero) {
    return std::nullopt;
  }
  const AttributeMessage* const axis = node.find("axis");
  QuantizedFloat result{node.inputs[0], node.inputs[1], zero_name, std::nullopt};
  if (scale.count() != 1) {
    result.axis = axis == nullptr ? 1 : axis->i;
  }
  return result;
}

std::vector<NodeMessage> integer_product(const NodeMessage& node, const QuantizedFloat& a, const QuantizedFloat& b,
                                         const Array& weights, const Array& a_scale, const Array& b_scale) {
  const bool is_conv = node.op_type == "Conv";
  if (a.axis.has_value() || !weights || (!is_conv && weights.rank() != 2)) {
    return {};
  }
  // The axis of the weights that remains in the result.
  const std::int64_t remaining = is_conv ? 0 : weights.rank() - 1;
  if (b.axis.has_value() && (*b.axis < 0 ? *b.axis + weights.rank() : *b.axis) != remaining) {
    return {};
  }
  Array scale = multiply(a_scale.reshape({}), b_scale);
  if (scale.count() == 1) {
    scale = scale.reshape({});
  } else if (is_conv) {
    Sizes shape(static_cast<std::size_t>(weights.rank() - 1), 1);
    shape[0] = scale.count();
    scale = scale.reshape(shape);
  }
  Expansion expansion(node, {}, 0);
  NodeMessage product;
  product.name = node.name;
  product.op_type = node.op_type + "Integer";
  product.inputs = {a.x, b.x, a.zero, b.zero};
  while (!product.inputs.empty() && product.inputs.back().empty()) {
    product.inputs.pop_back();
  }
  const std::string sums = expansion.fresh_name();
  product.outputs = {sums};
  product.attributes = node.attributes;
  expansion.nodes.push_back(std::move(product));
  const std::string floats = expansion.add("Cast", {sums}, {{"to", std::int64_t{1}}});
  const std::string bias = expansion.input(2);
  const std::string factor = expansion.constant(scale);
  if (bias.empty()) {
    expansion.add_to("Mul", {floats, factor}, {node.outputs[0]});
    return std::move(expansion.nodes);
  }
  const std::string scaled = expansion.add("Mul", {floats, factor});
  std::vector<std::int64_t> shape(static_cast<std::size_t>(weights.rank()), 1);
  shape[1] = -1;
  const std::string reshaped = expansion.add("Reshape", {bias, expansion.constant(shape)});
  expansion.add_to("Add", {scaled, reshaped}, {node.outputs[0]});
  return std::move(expansion.nodes);
}

}  // namespace anydml::onnx
