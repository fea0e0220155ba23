// SPDX-License-Identifier: MIT
#include "onnxruntime/capability.h"

#include <algorithm>
#include <utility>

#include "onnxruntime/groups.h"
#include "onnxruntime/log.h"
#include "onnxruntime/model_builder.h"
#include "onnxruntime/nodes.h"
#include "text/format.h"

namespace anydml::ort {
namespace {

constexpr std::size_t kMaxRank = 8;

// Why the provider cannot take a value of a node; nothing if it can.
std::optional<std::string> reason_against_value(const Runtime& runtime, const ValueInfo* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  const ValueForm form = form_of(runtime, value);
  if (!form.is_tensor) {
    return format_text("{} is not a tensor", name_of(runtime, value));
  }
  if (anydml_onnx_tensor_type(form.type) == ANYDML_NONE) {
    return format_text("{} is of {}", name_of(runtime, value), anydml_onnx_type_name(form.type));
  }
  if (form.sizes.size() > kMaxRank) {
    return format_text("{} has {} dimensions; anydml has up to {}", name_of(runtime, value), form.sizes.size(),
                       kMaxRank);
  }
  return std::nullopt;
}

bool has_varying(const Runtime& runtime, const std::vector<const ValueInfo*>& values) {
  return std::any_of(values.begin(), values.end(), [&runtime](const ValueInfo* value) {
    return value != nullptr && !runtime.get(kIsConstant, value);
  });
}

// Whether a value of a node is not a tensor.
bool has_sequences(const Runtime& runtime, const NodeParts& parts) {
  for (const auto* values : {&parts.inputs, &parts.implicit_inputs, &parts.outputs}) {
    if (std::any_of(values->begin(), values->end(), [&runtime](const ValueInfo* value) {
          return value != nullptr && !form_of(runtime, value).is_tensor;
        })) {
      return true;
    }
  }
  return false;
}

void log_groups(const std::string& graph, std::size_t count, const std::vector<std::vector<std::size_t>>& groups) {
  std::size_t taken = 0;
  for (const auto& group : groups) {
    taken += group.size();
  }
  log_provider(
      format_text("onnxruntime: graph {}: {} of {} nodes are taken, in {} groups", graph, taken, count, groups.size()));
}

// Whether a graph may be a body of If (it has no inputs), of Loop (its inputs begin with a number and a condition, and
// its outputs with a condition) or of any node (it uses values of the graph around it).
bool looks_like_body(const Runtime& runtime, const Graph* graph) {
  const std::vector<const ValueInfo*> inputs = runtime.list(kGraphInputCount, kGraphInputs, graph);
  const std::vector<const ValueInfo*> outputs = runtime.list(kGraphOutputCount, kGraphOutputs, graph);
  const auto type_of = [&runtime](const std::vector<const ValueInfo*>& values, std::size_t position) {
    return position < values.size() ? form_of(runtime, values[position]).type : ANYDML_ONNX_UNDEFINED;
  };
  if (inputs.empty() || (type_of(inputs, 0) == ANYDML_ONNX_INT64 && type_of(inputs, 1) == ANYDML_ONNX_BOOL &&
                         type_of(outputs, 0) == ANYDML_ONNX_BOOL)) {
    return true;
  }
  for (const GraphNode* node : runtime.list(kNodeCount, kNodes, graph)) {
    for (const ValueInfo* value : runtime.list(kNodeInputCount, kNodeInputs, node)) {
      if (value != nullptr && runtime.get(kIsFromOuterScope, value)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Capability::Capability(const Runtime& runtime, const ProviderOptions& options)
    : runtime_(runtime), options_(options.for_models()) {}

// Why the provider cannot take a node; nothing if it can.
std::optional<std::string> Capability::reason_against(const Graph* graph, const GraphNode* node,
                                                      const NodeParts& parts) const {
  const std::string ep = runtime_.get(kNodeEp, node);
  if (!ep.empty() && ep != kProviderName) {
    return format_text("{} has it", ep);
  }
  if (parts.op == "EPContext") {
    return "it has the compiled graph of a provider, and AnyDmlExecutionProvider reads none";
  }
  for (const auto* values : {&parts.inputs, &parts.implicit_inputs, &parts.outputs}) {
    for (const ValueInfo* value : *values) {
      if (auto reason = reason_against_value(runtime_, value); reason.has_value()) {
        return reason;
      }
    }
  }
  if (!runtime_.has_version(29) && has_varying(runtime_, parts.implicit_inputs)) {
    return "ONNX Runtime before 1.29 does not pass the values that its body uses";
  }
  try {
    ModelBuilder builder(runtime_, graph, nullptr);
    builder.add_node(node);
    for (const ValueInfo* value : parts.outputs) {
      if (value != nullptr) {
        builder.add_output(value);
      }
    }
    static_cast<void>(builder.finish(options_));
  } catch (const Failure& failure) {
    return failure.what();
  }
  return std::nullopt;
}

// Why the provider takes nothing from a graph that is an attribute of a node; nothing if it can, or if the graph is the
// model's own.
std::optional<std::string> Capability::reason_against_body(const Graph* graph) const {
  if (!runtime_.has_version(24, 4)) {
    // These versions fail if nodes of two graphs are fused, and do not say whether a graph is an attribute.
    if (has_taken_) {
      return "ONNX Runtime before 1.24.4 fuses nodes of only one graph of a model";
    }
    return looks_like_body(runtime_, graph) ? std::optional<std::string>(
                                                  "ONNX Runtime before 1.24.4 fuses no nodes "
                                                  "in bodies of If, Loop and Scan")
                                            : std::nullopt;
  }
  const GraphNode* const parent = runtime_.get(kParentNode, graph);
  if (parent != nullptr && !reason_against(graph, parent, NodeParts(runtime_, parent)).has_value()) {
    return "the node with the graph is taken as a whole";
  }
  // The runtime crashes if it is asked for the graph of the parent, so only one level is considered.
  if (parent != nullptr && has_sequences(runtime_, NodeParts(runtime_, parent))) {
    return "ONNX Runtime cannot infer the types of sequences over fused nodes";
  }
  return std::nullopt;
}

std::vector<std::vector<const GraphNode*>> Capability::groups_of(const Graph* graph) {
  const bool is_logged = is_log_wanted();
  if (const auto reason = reason_against_body(graph); reason.has_value()) {
    if (is_logged) {
      log_provider(
          format_text("onnxruntime: graph {}: no nodes are taken: {}", runtime_.get(kGraphName, graph), *reason));
    }
    return {};
  }
  const std::vector<const GraphNode*> nodes = runtime_.list(kNodeCount, kNodes, graph);
  const std::vector<NodeParts> parts = parts_of(runtime_, nodes);
  std::vector<GroupedNode> grouped = grouped_nodes(runtime_, parts);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::optional<std::string> reason = reason_against(graph, nodes[i], parts[i]);
    grouped[i].is_taken = !reason.has_value();
    if (is_logged && reason.has_value()) {
      log_provider(format_text("onnxruntime: {} is not taken: {}", parts[i].label(), *reason));
    }
  }
  const std::vector<std::vector<std::size_t>> groups = convex_groups(grouped);
  if (is_logged) {
    log_groups(runtime_.get(kGraphName, graph), nodes.size(), groups);
  }
  std::vector<std::vector<const GraphNode*>> result;
  for (const auto& group : groups) {
    auto& added = result.emplace_back();
    for (const std::size_t one : group) {
      added.push_back(nodes[one]);
    }
  }
  has_taken_ = has_taken_ || !result.empty();
  return result;
}

}  // namespace anydml::ort
