// SPDX-License-Identifier: MIT
// The parameters of a step that fills a tensor: the loops of its only operand, and the value.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "plan/loop_nest.h"

namespace anydml {

struct FillStep {
  LoopNest nest;       // loops over the output; for a sequence, also over its index tensor of bytes, which comes first
  std::uint64_t bits;  // an element, first byte lowest: the value, or the start of a sequence
  std::uint64_t delta;
  DataType type;
  std::uint32_t is_sequence;
};

}  // namespace anydml
