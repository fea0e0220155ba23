// SPDX-License-Identifier: MIT
// Decides which nodes of a graph the provider takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "anydml/onnx.h"
#include "onnxruntime/nodes.h"
#include "onnxruntime/options.h"
#include "onnxruntime/runtime.h"

namespace anydml::ort {

// The answers to the runtime, which asks for each graph of a model: first for the graphs in attributes, then for the
// graphs around them.
class Capability {
 public:
  Capability(const Runtime& runtime, const ProviderOptions& options);

  // Returns the groups of nodes that the provider takes from a graph, each of which the runtime can fuse.
  [[nodiscard]] std::vector<std::vector<const GraphNode*>> groups_of(const Graph* graph);

 private:
  [[nodiscard]] std::optional<std::string> reason_against(const Graph* graph, const GraphNode* node,
                                                          const NodeParts& parts) const;
  [[nodiscard]] std::optional<std::string> reason_against_body(const Graph* graph) const;

  const Runtime& runtime_;
  const anydml_onnx_options options_;
  bool has_taken_ = false;
};

}  // namespace anydml::ort
