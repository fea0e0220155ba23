// SPDX-License-Identifier: MIT
// An element-wise step as the CUDA kernels' side reads it. read_step is the only place that knows how plans hold it.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/elementwise/entries.h"
#include "plan/plan.h"

namespace anydml::cuda {

// One entry applied to values. A value is a number: below the step's loads it is the element of that operand, from
// there on the result of an instruction before this one.
struct ElementInstruction {
  EntryId entry;
  std::uint16_t variant;
  std::uint16_t sources[kMaxInputs];
  Attributes attributes;
};

// The operands of the nest are the loads, then the stores.
struct ElementStep {
  LoopNest nest;
  DataType types[kMaxOperands];
  std::uint32_t loads;
  std::vector<ElementInstruction> program;
  std::vector<std::uint16_t> stored;  // the value that goes to each
};

[[nodiscard]] ElementStep read_step(const Step& step);

}  // namespace anydml::cuda
