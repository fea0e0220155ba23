// SPDX-License-Identifier: MIT
// The steps of a dispatchable, each as a graph of its own that can be compiled and timed by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "model.h"

namespace anydml::dmlrun {

// Where the bytes of a step's port lie in a run by steps.
struct StepValue {
  bool is_input = false;  // of the dispatchable, counted over the tensors that are there; otherwise a node's output
  std::size_t index = 0;
  std::uint32_t output = 0;
  std::uint64_t bytes = 0;

  bool operator<(const StepValue& other) const {
    return std::tie(is_input, index, output) < std::tie(other.is_input, other.index, other.output);
  }
};

struct ProfileStep {
  Dispatchable part;
  std::vector<StepValue> values;  // as part.ports, which have one tensor each
  std::string nodes;              // for people
  bool is_once = false;           // the graph runs it when it is initialised
};

// In an order in which each comes after the ones that feed it: as the graph's compiler joins nodes on a CPU, but for
// operators that it makes of others, which are a step each.
[[nodiscard]] Result<std::vector<ProfileStep>> steps_of(const Dispatchable& dispatchable);

}  // namespace anydml::dmlrun
