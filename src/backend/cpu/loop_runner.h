// SPDX-License-Identifier: MIT
// Walks a part of a loop nest as blocks of two loops, the shape of a kernel. No element is known here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/loop_nest.h"

namespace anydml {

// rows x columns elements; operand i's first one lies `offsets[i]` bytes from its address.
struct Block {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t offsets[kMaxOperands];
};

// Calls use(block) for blocks that hold the elements with numbers begin to end - 1, counted in the order of the loops,
// each exactly once. Whole rows of the innermost loop go out together; cut rows at either end go alone.
template <class Use>
void for_each_block(const LoopNest& nest, std::int64_t begin, std::int64_t end, Use use) {
  const std::int64_t columns = nest.innermost().size;
  const bool has_rows = nest.rank >= 2;
  const std::int64_t rows = has_rows ? nest.loops[nest.rank - 2].size : 1;
  while (begin < end) {
    // Where element `begin` is: its column, its row in the second innermost loop, and the outer loops' part.
    const std::int64_t column = begin % columns;
    std::int64_t outer = begin / columns;
    const std::int64_t row = outer % rows;
    outer /= rows;
    Block block{};
    for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
      block.offsets[operand] = nest.offsets[operand] + column * nest.innermost().strides[operand] +
                               (has_rows ? row * nest.loops[nest.rank - 2].strides[operand] : 0);
    }
    for (std::uint32_t i = nest.rank < 2 ? 0 : nest.rank - 2; i-- > 0;) {
      const std::int64_t index = outer % nest.loops[i].size;
      outer /= nest.loops[i].size;
      for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
        block.offsets[operand] += index * nest.loops[i].strides[operand];
      }
    }
    if (column == 0 && end - begin >= columns) {
      block.rows = std::min(rows - row, (end - begin) / columns);
      block.columns = columns;
    } else {
      block.rows = 1;
      block.columns = std::min(columns - column, end - begin);
    }
    use(block);
    begin += block.rows * block.columns;
  }
}

}  // namespace anydml
