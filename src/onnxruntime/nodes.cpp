// SPDX-License-Identifier: MIT
#include "onnxruntime/nodes.h"

#include <unordered_map>

#include "text/format.h"

namespace anydml::ort {

ValueForm form_of(const Runtime& runtime, const ValueInfo* value) {
  ValueForm form;
  const TypeInfo* const type = runtime.get(kValueType, value);
  if (type == nullptr || runtime.get(kTypeKind, type) != ValueKind::kTensor) {
    return form;
  }
  const TensorInfo* const info = runtime.get(kTypeAsTensor, type);
  if (info != nullptr) {
    form.is_tensor = true;
    form.type = runtime.get(kElementType, info);
    form.sizes.resize(runtime.get(kRank, info));
    runtime(kSizes, info, form.sizes.data(), form.sizes.size());
  }
  return form;
}

std::string name_of(const Runtime& runtime, const ValueInfo* value) {
  return value == nullptr ? std::string() : std::string(runtime.get(kValueName, value));
}

NodeParts::NodeParts(const Runtime& runtime, const GraphNode* of)
    : node(of),
      op(runtime.get(kNodeOperator, node)),
      domain(runtime.get(kNodeDomain, node)),
      name(runtime.get(kNodeName, node)),
      inputs(runtime.list(kNodeInputCount, kNodeInputs, node)),
      outputs(runtime.list(kNodeOutputCount, kNodeOutputs, node)),
      implicit_inputs(runtime.list(kImplicitInputCount, kImplicitInputs, node)) {
  for (const ValueInfo* value : inputs) {
    input_names.push_back(name_of(runtime, value));
  }
  for (const ValueInfo* value : outputs) {
    output_names.push_back(name_of(runtime, value));
  }
}

std::string NodeParts::label() const {
  if (!name.empty()) {
    return format_text("{} '{}'", op, name);
  }
  return format_text("{} that computes '{}'", op, output_names.empty() ? std::string() : output_names[0]);
}

std::vector<NodeParts> parts_of(const Runtime& runtime, const std::vector<const GraphNode*>& nodes) {
  std::vector<NodeParts> parts;
  parts.reserve(nodes.size());
  for (const GraphNode* node : nodes) {
    parts.emplace_back(runtime, node);
  }
  return parts;
}

std::vector<GroupedNode> grouped_nodes(const Runtime& runtime, const std::vector<NodeParts>& parts) {
  std::unordered_map<std::string, std::size_t> makers;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const std::string& name : parts[i].output_names) {
      if (!name.empty()) {
        makers.emplace(name, i);
      }
    }
  }
  std::vector<GroupedNode> grouped(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto note = [&](const std::string& name) {
      if (const auto found = makers.find(name); found != makers.end()) {
        grouped[i].before.push_back(found->second);
      }
    };
    for (const std::string& name : parts[i].input_names) {
      note(name);
    }
    for (const ValueInfo* value : parts[i].implicit_inputs) {
      note(name_of(runtime, value));
    }
  }
  return grouped;
}

std::vector<const GraphNode*> ordered_nodes(const Runtime& runtime, const Graph* graph) {
  const std::vector<const GraphNode*> nodes = runtime.list(kNodeCount, kNodes, graph);
  std::vector<const GraphNode*> ordered;
  for (const std::size_t one : order_of(grouped_nodes(runtime, parts_of(runtime, nodes)))) {
    ordered.push_back(nodes[one]);
  }
  return ordered;
}

TensorContents::TensorContents(const Runtime& runtime, const Value* value) {
  TensorInfo* const info = runtime.get(kTensorInfo, value);
  // Nothing between here and the release can fail except for memory, which ends the session anyway.
  type_ = runtime.get(kElementType, info);
  sizes_.resize(runtime.get(kRank, info));
  runtime(kSizes, info, sizes_.data(), sizes_.size());
  runtime(kReleaseTensorInfo, info);
  if (type_ != 8 /* string */) {
    bytes_ = runtime.get(kTensorBytes, value);
  }
}

}  // namespace anydml::ort
