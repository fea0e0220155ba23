// SPDX-License-Identifier: MIT
// The steps of groups whose values have locations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/passes.h"
#include "ops/family.h"
#include "plan/plan.h"

namespace anydml {

// The location of a value. A value without a slot is not stored in memory.
struct Location {
  std::uint32_t slot = kForwardedSlot;
  std::uint64_t offset = 0;

  bool operator==(const Location&) const = default;
};

[[nodiscard]] inline Location moved(const Location& location, std::int64_t bytes) {
  return {.slot = location.slot, .offset = location.offset + static_cast<std::uint64_t>(bytes)};
}

[[nodiscard]] inline PlacedTensor placed(const TensorDesc& tensor, const Location& location) {
  return {.tensor = tensor, .slot = location.slot, .offset = location.offset};
}

// Adds the steps of groups to a plan. Families lower the groups of equal layers once: a group whose operators, views
// and kinds of locations are those of an earlier group has the same steps, with other operands.
class Lowering {
 public:
  // locations: of each value; written: the values that a step writes. Both may change between calls.
  Lowering(const Graph& graph, const ValueNumbers& values, const DeviceTraits& device,
           const std::vector<Location>& locations, const ValueSet& written)
      : graph_(graph), values_(values), device_(device), locations_(locations), written_(written) {}

  // The plan is the same in all calls.
  void add(const GraphGroup& group, Plan& plan);

 private:
  // The steps of an earlier group.
  struct Lowered {
    std::vector<std::uint64_t> words;
    std::vector<std::uint32_t> places;  // for each operand of the steps, the location that it has, or kNoPlace
    std::uint64_t private_end = 0;      // of the memory that only these steps use
    bool is_repeatable = false;
  };
  // A value that a step loads.
  struct Load {
    GraphSource source;
    const TensorDesc* view;
  };

  void add_one(const GraphGroup& group, std::uint32_t position, Plan& plan);
  void add_together(const GraphGroup& group, std::uint32_t begin, std::uint32_t end, StepRole role, Plan& plan);
  void find_loads(const GraphGroup& group, std::uint32_t begin, std::uint32_t end);
  void find_stores(const GraphGroup& group, std::uint32_t begin, std::uint32_t end);
  void lower_together(const GraphGroup& group, std::uint32_t begin, Plan& plan);

  [[nodiscard]] Location location_of(const GraphSource& source) const;
  [[nodiscard]] bool is_in_place(const GraphSource& source, std::uint32_t node) const;

  void begin_key(StepRole role, std::uint64_t kind, Plan& plan);
  void add_to_key(std::uint64_t number) { key_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void add_to_key(const TensorDesc& tensor);
  void add_places_to_key(const Plan& plan);
  // Repeats the steps of an earlier group with this key, or else calls lower() and keeps its steps.
  template <class Lower>
  void repeat_or(const Lower& lower, StepRole role, Plan& plan);
  void repeat(const Lowered& lowered, StepRole role, Plan& plan);
  [[nodiscard]] Lowered steps_since(std::size_t first, std::uint64_t private_begin, Plan& plan) const;

  const Graph& graph_;
  const ValueNumbers& values_;
  const DeviceTraits& device_;
  const std::vector<Location>& locations_;
  const ValueSet& written_;

  std::unordered_map<std::string, Lowered> lowered_;
  // Of the group that is being lowered. The lists keep their memory from one group to the next.
  std::string key_;
  std::vector<Location> places_;  // of the tensors, or of the loads and then the stores
  std::vector<Load> loads_;
  std::vector<Operand> operands_;
  std::vector<std::uint32_t> stores_;                    // the position of the node whose result is stored
  std::vector<InlineVector<std::uint32_t, 4>> numbers_;  // the values of each node's inputs
};

}  // namespace anydml
