// SPDX-License-Identifier: MIT
// Splits a loop nest into tiles, which are blocks of its two innermost loops, and visits the tiles. Nothing here reads
// elements.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/integers.h"
#include "plan/loop_nest.h"

namespace anydml {

// A block of rows x columns elements. The first element of operand i is `offsets[i]` bytes from the operand's address.
struct Block {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t offsets[kMaxOperands];
};

// The division of a nest into tiles. Tiles at the far edges may be smaller.
struct Tiling {
  std::int64_t rows;     // rows per tile, along the second innermost loop
  std::int64_t columns;  // columns per tile, along the innermost loop
  std::int64_t tiles;    // the total number of tiles
};

// Tiles have about `elements` elements. A tile consists of whole rows if the rows are short, or of part of a long row.
// If an operand is contiguous along the second innermost loop (`nest.crossed`), tiles are narrow and tall, so that a
// tile reads a large part of each of the operand's pages.
[[nodiscard]] inline Tiling make_tiling(const LoopNest& nest, std::int64_t elements) {
  constexpr std::int64_t kNarrow = 64;
  const std::int64_t rows = nest.rank >= 2 ? nest.loops[nest.rank - 2].size : 1;
  const std::int64_t columns = nest.innermost().size;
  Tiling tiling{};
  tiling.columns = std::max<std::int64_t>(1, std::min(columns, nest.crossed ? kNarrow : elements));
  std::int64_t fitting = elements / tiling.columns;
  if (nest.crossed && fitting > kNarrow) {
    fitting -= fitting % kNarrow;  // whole cache lines of the operand that is not contiguous along a row
  }
  tiling.rows = std::clamp<std::int64_t>(fitting, 1, rows);
  tiling.tiles = nest.count == 0
                     ? 0
                     : nest.count / (rows * columns) * ceil_div(rows, tiling.rows) * ceil_div(columns, tiling.columns);
  return tiling;
}

// Calls use(block) for tiles begin to end - 1. Tiles that follow one another along a row, or as whole rows, are
// combined into one block, because a kernel that restarts needs time to reach full memory bandwidth. Narrow tiles are
// not combined.
template <class Use>
void for_each_tile(const LoopNest& nest, const Tiling& tiling, std::int64_t begin, std::int64_t end, Use use) {
  const bool has_rows = nest.rank >= 2;
  const std::uint32_t outer_loops = has_rows ? nest.rank - 2 : 0;
  const std::int64_t columns = nest.innermost().size;
  const std::int64_t rows = has_rows ? nest.loops[nest.rank - 2].size : 1;
  // The position of tile `begin`: its first column and row, and the index of each outer loop.
  std::int64_t rest = begin;
  std::int64_t column = rest % ceil_div(columns, tiling.columns) * tiling.columns;
  rest /= ceil_div(columns, tiling.columns);
  std::int64_t row = rest % ceil_div(rows, tiling.rows) * tiling.rows;
  rest /= ceil_div(rows, tiling.rows);
  std::int64_t indices[kMaxRank] = {};
  std::int64_t outer[kMaxOperands];  // the offsets from the outer loops' indices
  std::copy_n(nest.offsets, nest.operands, outer);
  for (std::uint32_t i = outer_loops; i-- > 0;) {
    indices[i] = rest % nest.loops[i].size;
    rest /= nest.loops[i].size;
    for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
      outer[operand] += indices[i] * nest.loops[i].strides[operand];
    }
  }
  const bool whole_rows = tiling.columns >= columns;
  for (std::int64_t tile = begin; tile < end;) {
    const std::int64_t following =
        whole_rows ? ceil_div(rows - row, tiling.rows) : ceil_div(columns - column, tiling.columns);
    const std::int64_t taken = nest.crossed ? 1 : std::min(end - tile, following);
    const std::int64_t high = whole_rows ? taken * tiling.rows : tiling.rows;
    const std::int64_t wide = whole_rows ? tiling.columns : taken * tiling.columns;
    tile += taken;
    Block block;
    block.rows = std::min(high, rows - row);
    block.columns = std::min(wide, columns - column);
    for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
      block.offsets[operand] = outer[operand] + column * nest.innermost().strides[operand] +
                               (has_rows ? row * nest.loops[nest.rank - 2].strides[operand] : 0);
    }
    use(block);
    if ((column += wide) < columns) {
      continue;
    }
    column = 0;
    if ((row += high) < rows) {
      continue;
    }
    row = 0;
    for (std::uint32_t i = outer_loops; i-- > 0;) {  // advance by one, like an odometer
      const Loop& loop = nest.loops[i];
      const bool carries = ++indices[i] == loop.size;
      indices[i] = carries ? 0 : indices[i];
      for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
        outer[operand] += carries ? -(loop.size - 1) * loop.strides[operand] : loop.strides[operand];
      }
      if (!carries) {
        break;
      }
    }
  }
}

// Calls use(block) for the elements [first, first + count) of a nest, counted with the innermost loop fastest.
template <class Use>
void for_each_part(const LoopNest& nest, std::int64_t first, std::int64_t count, Use use) {
  const std::int64_t columns = nest.innermost().size;
  const std::int64_t rows = nest.rank >= 2 ? nest.loops[nest.rank - 2].size : 1;
  while (count > 0) {
    Block block;
    std::copy_n(nest.offsets, nest.operands, block.offsets);
    std::int64_t rest = first;
    for (std::uint32_t i = nest.rank; i-- > 0; rest /= nest.loops[i].size) {
      for (std::uint32_t operand = 0; operand < nest.operands; ++operand) {
        block.offsets[operand] += rest % nest.loops[i].size * nest.loops[i].strides[operand];
      }
    }
    const std::int64_t column = first % columns;
    const bool whole = column == 0 && count >= columns;
    block.rows = whole ? std::min(rows - first / columns % rows, count / columns) : 1;
    block.columns = whole ? columns : std::min(columns - column, count);
    use(block);
    first += block.rows * block.columns;
    count -= block.rows * block.columns;
  }
}

}  // namespace anydml
