// SPDX-License-Identifier: MIT
// The loops of an element-wise step, in the simplest form that visits the same elements.
#pragma once

#include <cstdint>
#include <span>

#include "plan/inner_layout.h"
#include "plan/tensor.h"

namespace anydml {

struct Loop {
  std::int64_t size;
  std::int64_t strides[kMaxOperands];  // in bytes
};

struct LoopNest {
  std::uint32_t operands = 0;               // inputs first, the output last
  std::uint32_t rank = 0;                   // at least 1
  Loop loops[kMaxRank] = {};                // outermost first
  std::int64_t offsets[kMaxOperands] = {};  // from each operand's address to the first element visited
  std::int64_t count = 0;                   // the number of elements; if 0, there is nothing to do
  InnerLayout inner = InnerLayout::contiguous;
  bool crossed = false;  // an input is contiguous along the second innermost loop, but not along the innermost loop

  [[nodiscard]] const Loop& innermost() const { return loops[rank - 1]; }
};

// Requires validated tensors of equal sizes, with the output last. Dimensions of size 1 are dropped. The output's
// strides become positive, with the largest one outermost. Neighbors that are contiguous in every operand are merged.
// The outer loops are then sorted by the smallest stride of any operand, so that all operands benefit from the caches.
[[nodiscard]] LoopNest make_loop_nest(std::span<const TensorDesc> tensors);

}  // namespace anydml
