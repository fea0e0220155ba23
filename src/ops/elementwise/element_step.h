// SPDX-License-Identifier: MIT
// An element-wise step that owns its memory, for backends that generate code from it. step.h describes how plans store
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/elementwise/step.h"

namespace anydml {

// The operands of the loop nest are the loads, then the stores.
struct ElementStep {
  LoopNest nest;
  DataType types[kMaxOperands];
  std::uint32_t loads;
  std::vector<Instruction> program;
  std::vector<std::uint16_t> stored;  // the value that each store writes

  // Valid for the lifetime of this step.
  [[nodiscard]] ElementwiseStep view() const {
    return {.nest = &nest, .loads = loads, .program = program, .stored = stored};
  }
};

[[nodiscard]] inline ElementStep read_element_step(const Step& flat) {
  const ElementwiseStep step = read_elementwise(flat);
  ElementStep read{.nest = *step.nest,
                   .types = {},
                   .loads = step.loads,
                   .program = {step.program.begin(), step.program.end()},
                   .stored = {step.stored.begin(), step.stored.end()}};
  for (std::size_t i = 0; i < flat.operands.size(); ++i) {
    read.types[i] = flat.operands[i].type;
  }
  return read;
}

}  // namespace anydml
