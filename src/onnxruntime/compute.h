// SPDX-License-Identifier: MIT
// A group of nodes that the runtime has fused, as a model of the ONNX library.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "onnxruntime/masks.h"
#include "onnxruntime/model_builder.h"
#include "onnxruntime/options.h"
#include "onnxruntime/runtime.h"

namespace anydml::ort {

class FusedNode final : public NodeComputeInfo {
 public:
  // graph: the nodes of the group; node: the node that replaces them; file: of the model, used only by this call.
  // Raises Failure.
  FusedNode(const Runtime& runtime, const Graph* graph, const GraphNode* node, const ModelFile& file,
            const ProviderOptions& options);

 private:
  static Status* create_state(NodeComputeInfo* self, NodeComputeContext* context, void** state) noexcept;
  static Status* compute(NodeComputeInfo* self, void* state, KernelContext* context) noexcept;
  static void release_state(NodeComputeInfo* self, void* state) noexcept;
  void run(KernelContext* context) const;

  const Runtime& runtime_;
  ConstantMemory memory_;
  OnnxModel model_;
  const anydml_device* const device_;  // null for the CPU
  const bool uses_own_threads_;
  GrowingMasks masks_;
  std::size_t input_count_ = 0;
  std::vector<std::size_t> outputs_;  // the fused node's output for each output of the model
};

}  // namespace anydml::ort
