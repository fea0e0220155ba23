// SPDX-License-Identifier: MIT
// The parameters of a step that fills a tensor: the loops of its one operand, and the value.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "plan/loop_nest.h"

namespace anydml {

struct FillStep {
  LoopNest nest;       // of the output; for a sequence preceded by the index, as if it were a tensor of bytes
  std::uint64_t bits;  // of an element, the first byte lowest: the value, or the start of a sequence
  std::uint64_t delta;
  DataType type;
  std::uint32_t is_sequence;
};

}  // namespace anydml
