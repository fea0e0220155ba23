// SPDX-License-Identifier: MIT
// Reads the nodes that quantize and dequantize.
#include "onnx/program/quantized.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include "onnx/program/builder.h"
#include "onnx/rows/expansion.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {
namespace {

constexpr KindSet kByteKinds{Kind::kInt8, Kind::kUint8};
constexpr double kMaxCode = 255;
constexpr int kFirstClipWithInputs = 11;
constexpr std::string_view kMicrosoft = "com.microsoft";

bool is_quantize(const NodeMessage& node) {
  return node.op_type == "QuantizeLinear" && (is_default_domain(node.domain) || node.domain == kMicrosoft);
}

bool is_default(const AttributeMessage& attribute, std::int64_t otherwise) {
  return attribute.type == AttributeType::kInt && attribute.i == otherwise;
}

// Whether the node quantizes or dequantizes in float, without blocks, and without attributes that need checks. kind: of
// the result; kUndefined if any is allowed.
bool is_plain(const NodeMessage& node, Kind kind) {
  return std::all_of(node.attributes.begin(), node.attributes.end(), [kind](const AttributeMessage& one) {
    if (one.name == "axis" || one.name == "saturate") {
      return one.type == AttributeType::kInt;
    }
    if (one.name == "block_size") {
      return is_default(one, 0);
    }
    if (one.name == "precision") {
      return is_default(one, 0) || is_default(one, static_cast<std::int64_t>(Kind::kFloat));
    }
    return one.name == "output_dtype" && (is_default(one, 0) || is_default(one, static_cast<std::int64_t>(kind)));
  });
}

// Whether every float that is quantized with this scale, dequantized and quantized again gives the same integer, and
// greater integers mean greater floats.
bool is_ordinary(const Array& scale) {
  const std::vector<double> numbers = scale.to_numbers();
  return std::all_of(numbers.begin(), numbers.end(), [](double one) {
    return one > 0 && one * 2 * kMaxCode < static_cast<double>(std::numeric_limits<float>::max());
  });
}

// The integer of a float bound of a Clip.
std::optional<Array> code_of(const Array& bound, const Array& scale, const Array& zero) {
  if (bound.kind() != Kind::kFloat || bound.count() != 1 || std::isnan(bound.number())) {
    return std::nullopt;
  }
  return dispatch("ELEMENT_WISE_QUANTIZE_LINEAR", {bound.reshape({}), scale, zero});
}

}  // namespace

void QuantizedFloats::read(const GraphMessage& graph, const Counts& uses) {
  for (const NodeMessage& node : graph.nodes) {
    const bool may_end = is_quantize(node) || node.op_type == "Relu" || node.op_type == "Clip";
    if (!may_end || node.inputs.empty()) {
      continue;
    }
    const auto found = uses.find(node.inputs[0]);
    if (found != uses.end() && found->second == 1) {
      users_.emplace(node.inputs[0], &node);
    }
  }
}

bool QuantizedFloats::note(const NodeMessage& node) {
  if (node.inputs.size() < 2 || node.inputs.size() > 3 || node.outputs.size() != 1 || node.inputs[0].empty() ||
      !is_plain(node, Kind::kFloat) || builder_.kind_of(node.inputs[1]) != Kind::kFloat) {
    return false;
  }
  QuantizedFloat result{.x = node.inputs[0],
                        .scale = node.inputs[1],
                        .zero = node.inputs.size() > 2 ? node.inputs[2] : std::string(),
                        .kind = builder_.kind_of(node.inputs[0]),
                        .axis = std::nullopt};
  const Array scale = builder_.constant(result.scale);
  const bool is_known = scale && (result.zero.empty() || builder_.constant(result.zero));
  if (!is_known || (!kByteKinds.contains(result.kind) && result.kind != Kind::kInt32)) {
    return false;
  }
  if (scale.count() != 1) {
    const AttributeMessage* const axis = node.find("axis");
    result.axis = axis == nullptr ? 1 : axis->i;
  }
  floats_.emplace(node.outputs[0], std::move(result));
  return true;
}

std::optional<Replacement> QuantizedFloats::replacement(const NodeMessage& node, int opset) {
  const bool is_candidate = std::any_of(node.inputs.begin(), node.inputs.end(),
                                        [this](const std::string& name) { return floats_.contains(name); });
  if (!is_candidate || node.outputs.empty() || node.outputs[0].empty()) {
    return std::nullopt;
  }
  if (node.op_type == "Conv" || node.op_type == "Gemm" || node.op_type == "MatMul") {
    return replaced_product(node);
  }
  if (node.op_type == "QuantizeLinear") {
    return replaced_quantize(node);
  }
  if (node.op_type == "Concat") {
    return replaced_join(node);
  }
  if (node.op_type == "Relu" || node.op_type == "Where" || node.op_type == "ArgMax") {
    return replaced_choice(node);
  }
  return replaced_move(node, opset);
}

// The bytes from which a node's input was dequantized, or null if the input was not dequantized.
const QuantizedFloat* QuantizedFloats::find(const NodeMessage& node, std::size_t input) const {
  const auto found = input < node.inputs.size() ? floats_.find(node.inputs[input]) : floats_.end();
  return found != floats_.end() && kByteKinds.contains(found->second.kind) ? &found->second : nullptr;
}

const NodeMessage* QuantizedFloats::only_user(const NodeMessage& node) const {
  if (node.outputs.size() != 1) {
    return nullptr;
  }
  const auto found = users_.find(node.outputs[0]);
  return found == users_.end() ? nullptr : found->second;
}

// The nodes after a node that quantize its result, if nothing else uses it. may_activate: whether an activation may be
// among them.
std::optional<QuantizedFloats::Tail> QuantizedFloats::tail_of(const NodeMessage& node, bool may_activate) const {
  Tail tail;
  const NodeMessage* next = only_user(node);
  if (may_activate && next != nullptr && !is_quantize(*next)) {
    tail.activation = next;
    next = only_user(*next);
  }
  if (next == nullptr || !is_quantize(*next) || !read_quantize(*next, tail) ||
      (tail.activation != nullptr && !read_activation(tail))) {
    return std::nullopt;
  }
  tail.quantize = next;
  return tail;
}

// Reads a QuantizeLinear with one scale that is a constant, whose result has bytes.
bool QuantizedFloats::read_quantize(const NodeMessage& node, Tail& tail) const {
  if (node.inputs.size() < 2 || node.inputs.size() > 3 || node.outputs.size() != 1) {
    return false;
  }
  tail.scale_name = node.inputs[1];
  tail.zero_name = node.inputs.size() > 2 ? node.inputs[2] : std::string();
  tail.scale = builder_.constant(tail.scale_name);
  if (!tail.scale || tail.scale.kind() != Kind::kFloat || tail.scale.count() != 1 || !is_ordinary(tail.scale)) {
    return false;
  }
  tail.scale = tail.scale.reshape({});
  if (tail.zero_name.empty()) {
    const AttributeMessage* const asked = node.find("output_dtype");
    tail.kind = asked == nullptr || is_default(*asked, 0) ? Kind::kUint8 : static_cast<Kind>(asked->i);
    tail.zero = kByteKinds.contains(tail.kind) ? Array::scalar(tail.kind, 0) : Array();
  } else {
    tail.kind = builder_.kind_of(tail.zero_name);
    tail.zero = builder_.constant(tail.zero_name);
  }
  if (!kByteKinds.contains(tail.kind) || !tail.zero || tail.zero.count() != 1 || !is_plain(node, tail.kind)) {
    return false;
  }
  tail.zero = tail.zero.reshape({});
  return true;
}

// Reads an activation before QuantizeLinear. Quantizing keeps the order of floats, so the bounds of a Clip may as well
// be bounds of the integers.
bool QuantizedFloats::read_activation(Tail& tail) const {
  const NodeMessage& node = *tail.activation;
  if (!is_default_domain(node.domain) || !node.attributes.empty()) {
    return false;
  }
  if (node.op_type == "Relu") {
    tail.min = tail.zero;
    return node.inputs.size() == 1;
  }
  if (node.op_type != "Clip" || node.inputs.size() > 3 || builder_.opset() < kFirstClipWithInputs) {
    return false;
  }
  const auto read = [&](std::size_t input, std::optional<Array>& code) {
    if (input >= node.inputs.size() || node.inputs[input].empty()) {
      return true;
    }
    const Array bound = builder_.constant(node.inputs[input]);
    code = bound ? code_of(bound, tail.scale, tail.zero) : std::nullopt;
    return code.has_value();
  };
  return read(1, tail.min) && read(2, tail.max);
}

// Whether equal integers are equal floats.
bool QuantizedFloats::have_same_codes(const QuantizedFloat& a, const QuantizedFloat& b) const {
  const auto zero_number = [this](const QuantizedFloat& value) {
    return value.zero.empty() ? std::vector<double>{0} : builder_.constant(value.zero).to_numbers();
  };
  return a.kind == b.kind && !a.axis.has_value() && !b.axis.has_value() &&
         builder_.constant(a.scale).to_numbers() == builder_.constant(b.scale).to_numbers() &&
         zero_number(a) == zero_number(b);
}

bool QuantizedFloats::is_increasing(const QuantizedFloat& value) const {
  return !value.axis.has_value() && is_ordinary(builder_.constant(value.scale));
}

// The zero point of a value; a constant 0 if it has none.
std::string QuantizedFloats::zero_of(Expansion& e, const QuantizedFloat& value) const {
  return value.zero.empty() ? e.constant(Array::scalar(value.kind, 0)) : value.zero;
}

// Gives the integers of a result the name of the quantized value, after the activation.
void QuantizedFloats::finish_codes(Expansion& e, const std::string& codes, const Tail& tail, Replacement& result) {
  const IntegerLimits limits = integer_limits(tail.kind);
  const auto bound = [&](const std::optional<Array>& code, std::int64_t limit) {
    return code.has_value() && code->integer() != limit ? e.constant(*code) : std::string();
  };
  const std::string min = bound(tail.min, limits.min);
  const std::string max = bound(tail.max, static_cast<std::int64_t>(limits.max));
  const std::string& name = tail.quantize->outputs[0];
  if (min.empty() && max.empty()) {
    e.nodes.back().outputs = {name};
  } else {
    e.add_to("Clip", {codes, min, max}, {name});
  }
  result.outputs.push_back(name);
  replaced_.insert(tail.quantize);
  if (tail.activation != nullptr) {
    replaced_.insert(tail.activation);
    result.pattern += ", " + tail.activation->op_type;
  }
  result.pattern += ", QuantizeLinear";
}

}  // namespace anydml::onnx
