// SPDX-License-Identifier: MIT
// Nodes that move, choose or compare dequantized floats get the integers. No bit of a result changes.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "onnx/program/builder.h"
#include "onnx/program/quantized.h"
#include "onnx/rows/expansion.h"

namespace anydml::onnx {
namespace {

// Nodes that move the elements of their first input, and the first opset in which they accept bytes.
struct Move {
  std::string_view op;
  int since;
};
constexpr std::array kMoves = {
    Move{"DepthToSpace", 1},   Move{"Expand", 1},    Move{"Flatten", 9},  Move{"Gather", 1},
    Move{"GatherElements", 1}, Move{"GatherND", 1},  Move{"Identity", 1}, Move{"MaxPool", 12},
    Move{"Pad", 11},           Move{"Reshape", 1},   Move{"Resize", 10},  Move{"Slice", 1},
    Move{"SpaceToDepth", 1},   Move{"Split", 1},     Move{"Squeeze", 1},  Move{"Tile", 1},
    Move{"Transpose", 1},      Move{"Unsqueeze", 1},
};
constexpr int kFirstPadWithInputs = 11;
constexpr int kFirstExtremesOfBytes = 12;

const std::string* text_of(const NodeMessage& node, std::string_view name) {
  const AttributeMessage* const found = node.find(name);
  return found != nullptr && found->type == AttributeType::kString ? &found->s : nullptr;
}

// Whether a Resize only chooses elements.
bool is_nearest(const NodeMessage& node) {
  const std::string* const mode = text_of(node, "mode");
  const std::string* const coordinates = text_of(node, "coordinate_transformation_mode");
  return (mode == nullptr ? node.find("mode") == nullptr : *mode == "nearest") &&
         (coordinates == nullptr || *coordinates != "tf_crop_and_resize");
}

// The axis of the scales after a Transpose; nothing if it is unknown.
std::optional<std::int64_t> transposed_axis(const NodeMessage& node, std::int64_t axis) {
  const AttributeMessage* const perm = node.find("perm");
  if (node.op_type != "Transpose" || perm == nullptr || perm->type != AttributeType::kInts) {
    return std::nullopt;
  }
  const auto rank = static_cast<std::int64_t>(perm->ints.size());
  const auto found = std::find(perm->ints.begin(), perm->ints.end(), axis < 0 ? axis + rank : axis);
  return found == perm->ints.end() ? std::nullopt : std::optional<std::int64_t>(found - perm->ints.begin());
}

// Adds the DequantizeLinear of an integer result.
void dequantize(Expansion& e, const std::string& codes, const QuantizedFloat& like, std::optional<std::int64_t> axis,
                const std::string& name) {
  AttributeList attributes;
  if (axis.has_value()) {
    attributes.emplace_back("axis", *axis);
  }
  e.add_to("DequantizeLinear", {codes, like.scale, like.zero}, {name}, std::move(attributes));
}

NodeMessage with_inputs(const NodeMessage& node, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  NodeMessage copy = node;
  copy.inputs = std::move(inputs);
  copy.outputs = std::move(outputs);
  return copy;
}

// Whether a window of a MaxPool may contain nothing but padding. Its maximum is minus infinity, which no integer stands
// for.
bool may_see_only_padding(const NodeMessage& node) {
  const AttributeMessage* const pads = node.find("pads");
  const AttributeMessage* const kernel = node.find("kernel_shape");
  const AttributeMessage* const dilations = node.find("dilations");
  const AttributeMessage* const automatic = node.find("auto_pad");
  const bool is_automatic = automatic != nullptr && automatic->s != "NOTSET" && automatic->s != "VALID";
  const bool has_pads =
      pads != nullptr && std::any_of(pads->ints.begin(), pads->ints.end(), [](auto one) { return one != 0; });
  const bool is_dilated = dilations != nullptr && std::any_of(dilations->ints.begin(), dilations->ints.end(),
                                                              [](auto one) { return one != 1; });
  if (is_dilated && (has_pads || is_automatic)) {
    return true;
  }
  for (std::size_t i = 0; has_pads && i < pads->ints.size(); ++i) {
    if (kernel == nullptr || kernel->ints.empty() || pads->ints[i] >= kernel->ints[i % kernel->ints.size()]) {
      return true;
    }
  }
  return false;
}

std::string pattern_of(const NodeMessage& node) { return node.op_type + " by " + node.op_type + " of integers"; }

}  // namespace

// DequantizeLinear and a move become the move of the integers and DequantizeLinear.
std::optional<Replacement> QuantizedFloats::replaced_move(const NodeMessage& node, int opset) const {
  const auto* const move =
      std::find_if(kMoves.begin(), kMoves.end(), [&](const Move& one) { return one.op == node.op_type; });
  const QuantizedFloat* const value = find(node, 0);
  if (move == kMoves.end() || value == nullptr || (node.op_type == "Resize" && !is_nearest(node))) {
    return std::nullopt;
  }
  std::optional<std::int64_t> axis;
  if (value->axis.has_value()) {
    axis = transposed_axis(node, *value->axis);
    if (!axis.has_value()) {
      return std::nullopt;
    }
  }
  if (node.op_type == "MaxPool" && (!is_increasing(*value) || node.outputs.size() != 1 || may_see_only_padding(node))) {
    return std::nullopt;
  }
  Expansion e(node, {}, opset);
  std::vector<std::string> inputs = node.inputs;
  inputs[0] = value->x;
  if (node.op_type == "Pad") {  // with the float 0, which is the zero point
    constexpr std::size_t kValue = 2;
    const std::string given = kValue < inputs.size() ? inputs[kValue] : std::string();
    const Array number = given.empty() ? Array() : builder_.constant(given);
    if (opset < kFirstPadWithInputs || inputs.size() < 2 || !is_increasing(*value) ||
        (!given.empty() && (!number || number.kind() != Kind::kFloat || number.count() != 1 || number.number() != 0 ||
                            std::signbit(number.number())))) {
      return std::nullopt;
    }
    inputs.resize(std::max(inputs.size(), kValue + 1));
    inputs[kValue] = zero_of(e, *value);
  }
  std::vector<std::string> codes;
  for (const std::string& name : node.outputs) {
    codes.push_back(name.empty() ? std::string() : e.fresh_name());
  }
  e.nodes.push_back(with_inputs(node, std::move(inputs), codes));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (!codes[i].empty()) {
      dequantize(e, codes[i], *value, axis, node.outputs[i]);
    }
  }
  return Replacement{std::move(e.nodes), node.outputs, pattern_of(node), move->since};
}

// A Concat of values with the same scale is one of integers. If its result is quantized, the parts are quantized
// before.
std::optional<Replacement> QuantizedFloats::replaced_join(const NodeMessage& node) {
  const QuantizedFloat* const first = find(node, 0);
  bool are_same = first != nullptr && node.outputs.size() == 1;
  std::vector<std::string> codes;
  for (std::size_t i = 0; are_same && i < node.inputs.size(); ++i) {
    const QuantizedFloat* const part = find(node, i);
    are_same = part != nullptr && have_same_codes(*first, *part);
    codes.push_back(are_same ? part->x : std::string());
  }
  Expansion e(node, {}, builder_.opset());
  Replacement result{.nodes = {}, .outputs = node.outputs, .pattern = "Concat", .min_opset = 1};
  if (are_same) {
    const std::string joined = e.fresh_name();
    e.nodes.push_back(with_inputs(node, codes, {joined}));
    dequantize(e, joined, *first, std::nullopt, node.outputs[0]);
  } else {
    const std::optional<Tail> tail = tail_of(node, false);
    if (!tail.has_value()) {
      return std::nullopt;
    }
    codes.clear();
    for (const std::string& part : node.inputs) {
      codes.push_back(e.fresh_name());
      NodeMessage quantize = *tail->quantize;
      quantize.inputs[0] = part;
      quantize.outputs = {codes.back()};
      e.nodes.push_back(std::move(quantize));
    }
    e.nodes.push_back(with_inputs(node, codes, {e.fresh_name()}));
    finish_codes(e, e.nodes.back().outputs[0], *tail, result);
  }
  result.pattern += " by Concat of integers";
  result.nodes = std::move(e.nodes);
  return result;
}

// Relu, Where and ArgMax of integers.
std::optional<Replacement> QuantizedFloats::replaced_choice(const NodeMessage& node) const {
  const bool is_where = node.op_type == "Where";
  const QuantizedFloat* const value = find(node, is_where ? 1 : 0);
  if (value == nullptr || node.outputs.size() != 1 || !is_increasing(*value)) {
    return std::nullopt;
  }
  Expansion e(node, {}, builder_.opset());
  if (node.op_type == "ArgMax") {
    e.nodes.push_back(with_inputs(node, {value->x}, node.outputs));
    return Replacement{std::move(e.nodes), node.outputs, pattern_of(node), 1};
  }
  const std::string codes = e.fresh_name();
  if (is_where) {
    const QuantizedFloat* const other = find(node, 2);
    if (node.inputs.size() != 3 || other == nullptr || !have_same_codes(*value, *other)) {
      return std::nullopt;
    }
    e.nodes.push_back(with_inputs(node, {node.inputs[0], value->x, other->x}, {codes}));
  } else {
    if (node.inputs.size() != 1 || !node.attributes.empty()) {
      return std::nullopt;
    }
    e.add_to("Max", {value->x, zero_of(e, *value)}, {codes});
  }
  dequantize(e, codes, *value, std::nullopt, node.outputs[0]);
  const std::string pattern = is_where ? pattern_of(node) : std::string("Relu by Max of integers");
  return Replacement{std::move(e.nodes), node.outputs, pattern, kFirstExtremesOfBytes};
}

// A QuantizeLinear that undoes a DequantizeLinear.
std::optional<Replacement> QuantizedFloats::replaced_quantize(const NodeMessage& node) const {
  const QuantizedFloat* const value = find(node, 0);
  Tail tail;
  if (value == nullptr || !is_increasing(*value) || !read_quantize(node, tail) || tail.kind != value->kind) {
    return std::nullopt;
  }
  const double zero = value->zero.empty() ? 0 : builder_.constant(value->zero).number();
  if (builder_.constant(value->scale).number() != tail.scale.number() || zero != tail.zero.number()) {
    return std::nullopt;
  }
  Expansion e(node, {}, builder_.opset());
  e.add_to("Identity", {value->x}, node.outputs);
  return Replacement{std::move(e.nodes), node.outputs, "QuantizeLinear by the dequantized integers", 1};
}

}  // namespace anydml::onnx
