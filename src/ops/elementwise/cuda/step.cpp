// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/step.h"

#include <algorithm>

#include "ops/elementwise/step.h"

namespace anydml::cuda {

ElementStep read_step(const Step& flat) {
  const ElementwiseStep step = read_elementwise(flat);
  ElementStep read{.nest = *step.nest,
                   .types = {},
                   .loads = step.loads,
                   .program = {},
                   .stored = {step.stored.begin(), step.stored.end()}};
  for (std::size_t i = 0; i < flat.operands.size(); ++i) {
    read.types[i] = flat.operands[i].type;
  }
  for (const Instruction& from : step.program) {
    ElementInstruction& to = read.program.emplace_back();
    to = {.entry = entry_of(from), .variant = from.variant, .sources = {}, .attributes = from.attributes};
    std::copy_n(from.sources, kMaxInputs, to.sources);
  }
  return read;
}

}  // namespace anydml::cuda
