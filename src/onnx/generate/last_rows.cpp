// SPDX-License-Identifier: MIT
#include "onnx/generate/last_rows.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace anydml::onnx {
namespace {

constexpr std::array<std::string_view, 6> kElementWise = {"Add", "Cast", "Div", "Identity", "Mul", "Tanh"};

const TensorMessage* find_initializer(const GraphMessage& graph, const std::string& name) {
  const auto found = std::find_if(graph.initializers.begin(), graph.initializers.end(),
                                  [&](const TensorMessage& one) { return one.name == name; });
  return found == graph.initializers.end() ? nullptr : &*found;
}

std::optional<std::size_t> node_that_computes(const GraphMessage& graph, const std::string& value) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::vector<std::string>& outputs = graph.nodes[i].outputs;
    if (std::find(outputs.begin(), outputs.end(), value) != outputs.end()) {
      return i;
    }
  }
  return std::nullopt;
}

// How many nodes and outputs of the model use a value. A node with a graph may use any value inside it.
std::size_t count_uses(const GraphMessage& graph, const std::string& value) {
  std::size_t count = 0;
  for (const NodeMessage& node : graph.nodes) {
    count += static_cast<std::size_t>(std::count(node.inputs.begin(), node.inputs.end(), value));
    for (const AttributeMessage& attribute : node.attributes) {
      count += attribute.g != nullptr || !attribute.graphs.empty() ? 1U : 0U;
    }
  }
  return count + static_cast<std::size_t>(std::count_if(graph.outputs.begin(), graph.outputs.end(),
                                                        [&](const ValueMessage& one) { return one.name == value; }));
}

bool is_product(const GraphMessage& graph, const NodeMessage& node) {
  const bool is_known = (is_default_domain(node.domain) && node.op_type == "MatMul") ||
                        (node.domain == "com.microsoft" && node.op_type == "MatMulNBits");
  return is_known && node.inputs.size() >= 2 && find_initializer(graph, node.inputs[1]) != nullptr;
}

// The only input of an element-wise node that is not a constant of at most one dimension, which belongs to the
// vocabulary; null if the node is another one.
const std::string* changing_input(const GraphMessage& graph, const NodeMessage& node) {
  if (!is_default_domain(node.domain) ||
      std::find(kElementWise.begin(), kElementWise.end(), node.op_type) == kElementWise.end()) {
    return nullptr;
  }
  const std::string* changing = nullptr;
  for (const std::string& input : node.inputs) {
    const TensorMessage* const constant = find_initializer(graph, input);
    if (constant != nullptr && constant->dims.size() <= 1) {
      continue;
    }
    if (constant != nullptr || changing != nullptr) {
      return nullptr;
    }
    changing = &input;
  }
  return changing;
}

// The node of the product behind the logits.
std::optional<std::size_t> find_product(const GraphMessage& graph, const std::string& logits) {
  const std::string* value = &logits;
  // The nodes have not been checked yet, and may form a circle.
  for (std::size_t steps = 0; steps < graph.nodes.size() && count_uses(graph, *value) == 1; ++steps) {
    const std::optional<std::size_t> position = node_that_computes(graph, *value);
    if (!position) {
      return std::nullopt;
    }
    if (is_product(graph, graph.nodes[*position])) {
      return position;
    }
    value = changing_input(graph, graph.nodes[*position]);
    if (value == nullptr) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

bool select_rows(ModelMessage& message, const std::string& logits, const std::string& input) {
  constexpr std::int64_t kFirstOpset = 12;  // of GatherND with batch_dims
  const bool is_new =
      std::any_of(message.opset_imports.begin(), message.opset_imports.end(),
                  [](const OpsetImport& one) { return is_default_domain(one.domain) && one.version >= kFirstOpset; });
  GraphMessage& graph = message.graph;
  const std::optional<std::size_t> position = find_product(graph, logits);
  if (!is_new || !position) {
    return false;
  }
  NodeMessage node;
  node.name = input;
  node.op_type = "GatherND";
  node.inputs = {graph.nodes[*position].inputs[0], input};
  node.outputs = {input + "/selected"};
  AttributeMessage& batch = node.attributes.emplace_back();
  batch.name = "batch_dims";
  batch.type = AttributeType::kInt;
  batch.i = 1;
  graph.nodes[*position].inputs[0] = node.outputs.front();
  graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(*position), std::move(node));
  ValueMessage value;
  value.name = input;
  value.kind = Kind::kInt64;
  value.data_type = static_cast<std::int32_t>(Kind::kInt64);
  value.has_shape = true;
  value.shape = {Dimension{}, Dimension{.size = 1, .name = {}}, Dimension{.size = 1, .name = {}}};
  graph.inputs.push_back(std::move(value));
  return true;
}

}  // namespace anydml::onnx
