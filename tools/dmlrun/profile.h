// SPDX-License-Identifier: MIT
// Splits a dispatchable into steps, each a separate graph that can be compiled and timed on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "model.h"

namespace anydml::dmlrun {

// The value that a step's port reads or writes when the steps run one by one.
struct StepValue {
  bool is_input = false;  // whether `index` refers to the dispatchable's present inputs; otherwise to its nodes
  std::size_t index = 0;
  std::uint32_t output = 0;
  std::uint64_t bytes = 0;

  bool operator<(const StepValue& other) const {
    return std::tie(is_input, index, output) < std::tie(other.is_input, other.index, other.output);
  }
};

struct ProfileStep {
  Dispatchable part;
  std::vector<StepValue> values;  // in the order of part.ports, which have one tensor each
  std::string nodes;              // for display
  bool is_once = false;           // the graph runs it at initialization
};

// Returns the steps in topological order. On a CPU, the graph compiler forms the same steps, except that here each
// composite operator is one step.
[[nodiscard]] Result<std::vector<ProfileStep>> steps_of(const Dispatchable& dispatchable);

}  // namespace anydml::dmlrun
