// SPDX-License-Identifier: MIT
// Nodes, values and tensors of the runtime's graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "anydml/onnx.h"
#include "onnxruntime/groups.h"
#include "onnxruntime/runtime.h"

namespace anydml::ort {

// The type of a value. The type is ANYDML_ONNX_UNDEFINED if it is unknown, or if the value is not a tensor.
struct ValueForm {
  std::int32_t type = ANYDML_ONNX_UNDEFINED;
  bool is_tensor = false;
  std::vector<std::int64_t> sizes;  // -1 for an unknown size; empty if the rank is unknown
};
[[nodiscard]] ValueForm form_of(const Runtime& runtime, const ValueInfo* value);
// Empty for an absent value.
[[nodiscard]] std::string name_of(const Runtime& runtime, const ValueInfo* value);

// A node. Absent inputs and outputs are null and have empty names.
struct NodeParts {
  NodeParts(const Runtime& runtime, const GraphNode* of);

  const GraphNode* node;
  std::string op, domain, name;
  std::vector<const ValueInfo*> inputs, outputs;
  std::vector<const ValueInfo*> implicit_inputs;  // values that the node's bodies use
  std::vector<std::string> input_names, output_names;

  // For messages: "Conv 'name'".
  [[nodiscard]] std::string label() const;
};

[[nodiscard]] std::vector<NodeParts> parts_of(const Runtime& runtime, const std::vector<const GraphNode*>& nodes);
// The nodes with the positions of the nodes that compute their inputs.
[[nodiscard]] std::vector<GroupedNode> grouped_nodes(const Runtime& runtime, const std::vector<NodeParts>& parts);

// The nodes of a graph, in an order in which each node follows the nodes that compute its inputs.
[[nodiscard]] std::vector<const GraphNode*> ordered_nodes(const Runtime& runtime, const Graph* graph);

// The type, the sizes and the number of bytes of a tensor in the CPU's memory.
class TensorContents {
 public:
  TensorContents(const Runtime& runtime, const Value* value);

  // Without data; valid as long as this object.
  [[nodiscard]] anydml_onnx_tensor tensor() const {
    return {type_, static_cast<std::int32_t>(sizes_.size()), sizes_.data(), nullptr};
  }
  [[nodiscard]] std::int32_t type() const { return type_; }
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return sizes_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::int32_t type_ = 0;
  std::vector<std::int64_t> sizes_;
  std::size_t bytes_ = 0;
};

}  // namespace anydml::ort
