// SPDX-License-Identifier: MIT
// The parameters of a step that fills a tensor: its one operand's loops, and what goes there.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "plan/loop_nest.h"

namespace anydml {

struct FillStep {
  LoopNest nest;       // of the output; of a sequence before it the index, as if it were a tensor of bytes
  std::uint64_t bits;  // of an element, the first byte lowest: the value, or where a sequence starts
  std::uint64_t delta;
  DataType type;
  std::uint32_t is_sequence;
};

}  // namespace anydml
