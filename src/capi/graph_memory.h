// SPDX-License-Identifier: MIT
// The memory that a graph keeps: its constants, and the values that depend only on them. A GraphMemory exists for the
// duration of one compilation.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capi/compiled.h"
#include "capi/run.h"
#include "capi/shared_constants.h"
#include "graph/graph.h"

namespace anydml {

inline constexpr std::string_view kGraphLabel = "graph";  // the beginning of messages about a graph

struct GivenConstant {
  const std::byte* data = nullptr;  // null if the constant is empty
  bool is_shared = false;           // the data stays unchanged as long as any object compiled from it exists
};

class GraphMemory {
 public:
  // `shared` is null if the graph has no shared constants.
  GraphMemory(const Graph& graph, std::span<const GivenConstant> constants, const Device& device,
              SharedConstants* shared);
  GraphMemory(const GraphMemory&) = delete;  // `sharing` refers to this object
  GraphMemory& operator=(const GraphMemory&) = delete;

  // For each input, whether an output depends on it.
  [[nodiscard]] const std::vector<bool>& used_inputs() const { return used_inputs_; }
  [[nodiscard]] const GraphSharing* sharing() const { return shared_ != nullptr ? &sharing_ : nullptr; }

  // Allocates the memory, copies the used constants to the device, and computes the values that depend only on them,
  // unless another graph has already done so. Constants that only this computation needs are not kept.
  [[nodiscard]] Status initialize(const GraphPrograms& programs, anydml_compiled& compiled);

 private:
  void find_used(const Graph& graph);
  Status find_shared(const GraphPlans& plans, CompiledGraph& graph, Temporary& uploads);

  const Graph& graph_;
  std::span<const GivenConstant> constants_;
  const Device& device_;
  SharedConstants* shared_;
  std::vector<bool> used_inputs_, used_constants_;
  GraphSharing sharing_;
  // The memory of values that other graphs computed, by key. This map keeps the memory alive until this graph owns it.
  std::unordered_map<std::string, std::shared_ptr<DeviceMemory>> found_;
  // Indices into GraphPlans::shared: new_ lists memory that other graphs will find, and passing_ lists memory that is
  // needed only until the first plan has run.
  std::vector<std::size_t> new_, passing_;
  std::vector<std::uint64_t> passing_offsets_;  // for each entry of passing_, its offset in their common memory
};

}  // namespace anydml
