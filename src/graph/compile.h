// SPDX-License-Identifier: MIT
// Compiles a graph into the plans that a backend runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "plan/device_traits.h"
#include "plan/plan.h"

namespace anydml {

// Identifies the bytes of a constant across graphs.
struct ConstantKey {
  std::string text;        // constants with the same text have the same bytes, even across graphs; empty if unknown
  bool is_shared = false;  // the constant has its own slot, so that graphs can share one copy
};

// How a graph shares memory with other graphs on the same device.
struct GraphSharing {
  std::vector<ConstantKey> constants;                    // for each constant
  std::function<bool(const std::string& key)> is_there;  // whether another graph has computed the value with this key
};

// Two plans over the same slots: the graph's inputs, its outputs, the temporary (its size differs between the plans),
// the persistent memory, the constants, and memory that is shared with other graphs. The first plan runs after owned
// inputs are copied and writes the persistent memory. The second plan reads it.
struct GraphPlans {
  // Memory that graphs share: a constant, or a value that depends only on constants.
  struct Shared {
    std::string key;
    std::uint64_t bytes = 0;
    std::optional<std::uint32_t> constant = {};  // the constant that this memory contains
    bool is_read_first = false;                  // the first plan reads this constant
    bool is_read_later = true;                   // the second plan reads it
    bool is_new = false;                         // no graph has computed this value yet, so the first plan does
  };
  // An owned input that is stored unchanged.
  struct KeptInput {
    std::uint32_t input;
    std::uint64_t offset;  // in the persistent memory
    std::uint64_t bytes;
  };

  // An input that an output may replace: both may be the same memory.
  struct InPlace {
    std::uint32_t input;
    std::uint32_t output;
  };

  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  Plan initialize{0, 0};
  Plan run{0, 0};
  std::vector<KeptInput> kept;
  std::uint64_t persistent_bytes = 0;
  std::vector<std::uint64_t> constants;  // the offset of each constant
  std::uint64_t constant_bytes = 0;
  std::uint64_t run_constant_bytes = 0;  // the bytes of the leading constants that the second plan reads
  std::vector<Shared> shared;            // the memory for the last slots
  std::uint32_t steps = 0;               // in the second plan; groups and copies
  bool writes_last = false;              // only the last step of the second plan writes an output
  std::vector<InPlace> in_place;         // of operators that write only some elements of an output
  std::vector<std::uint32_t> updated;    // the outputs of these operators; their other elements are kept
  std::uint64_t temporary_values = 0;    // the bytes of all values that the second plan keeps in the temporary

  [[nodiscard]] std::uint32_t output_slot(std::uint32_t output) const { return inputs + output; }
  [[nodiscard]] std::uint32_t temporary_slot() const { return inputs + outputs; }
  [[nodiscard]] std::uint32_t persistent_slot() const { return inputs + outputs + 1; }
  [[nodiscard]] std::uint32_t constants_slot() const { return inputs + outputs + 2; }
  [[nodiscard]] std::uint32_t shared_slot(std::uint32_t i) const { return inputs + outputs + 3 + i; }
  [[nodiscard]] std::uint32_t slots() const { return shared_slot(static_cast<std::uint32_t>(shared.size())); }
};

inline constexpr std::uint64_t kPersistentAlignment = 256;  // for each persistent value, and for each constant

// If the device lacks the operator, returns an error message with the reason; otherwise returns an empty string.
using LacksOperator = std::function<std::string(const AskedOperator& op)>;

// Every source in the graph must exist, and no tensor may extend beyond the bytes of its source. device: the traits of
// the device that runs the graph (backend.h). If `text` is not null, it receives a description of the steps. `sharing`
// is null if nothing is shared. `lacks` is empty if the device has every operator.
[[nodiscard]] Result<GraphPlans> compile_graph(const Graph& graph, const DeviceTraits& device,
                                               std::string* text = nullptr, const GraphSharing* sharing = nullptr,
                                               const LacksOperator& lacks = {});

}  // namespace anydml
