// SPDX-License-Identifier: MIT
// A step of a program: one node, or a part of one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onnx/rows/row.h"

namespace anydml::onnx {

class Program;

// The index of a value in a program.
using ValueIndex = std::int32_t;
inline constexpr ValueIndex kAbsent = -1;

struct Step {
  std::string label;  // for messages: "Conv 'name'"
  std::string op;
  Compute compute;
  std::vector<std::string> inputs;  // the names of values; "" for an absent one
  std::vector<std::string> outputs;
  std::vector<Kind> kinds;  // of the outputs
  std::string uses;         // the operators, as reports name them
  std::string on_host;      // why the step can never be part of a graph, or ""
  std::vector<std::shared_ptr<Program>> bodies;
  bool multiplies_codes = false;  // it multiplies its first input by weights in codes (step_graphs.h)
  bool is_of_weights = false;     // its inputs are all constants, but it is still part of a graph
  // Steps of a model with the same number compute the same function of their inputs. 0: it is unknown.
  std::uint32_t recipe = 0;

  // Filled in by the program.
  std::vector<ValueIndex> taken;  // the inputs
  std::vector<ValueIndex> given;  // the outputs
};

// Returns the results of a step; errors begin with its label.
[[nodiscard]] Arrays perform(const Step& step, std::span<const Array> inputs);

}  // namespace anydml::onnx
