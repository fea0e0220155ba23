// SPDX-License-Identifier: MIT
// The parameters of a step that fills a tensor: its one operand's loops, and what goes there.
#pragma once

#include <cstdint>

#include "plan/loop_nest.h"

namespace anydml {

struct FillStep {
  LoopNest nest;
  std::uint64_t bits;           // of an element, the first byte lowest
  std::uint32_t element_bytes;  // 1, 2, 4 or 8
  std::uint32_t reserved;
};

}  // namespace anydml
