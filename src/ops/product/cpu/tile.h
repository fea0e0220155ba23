// SPDX-License-Identifier: MIT
// Multiplies one tile of a product. Two sources provide the factors in the layout that kernels read:
//
//   Rows      begin(first, depth)                  starts the next block of factors
//             strip(row, rows, first, depth)       the factors of these rows, `rows` of them for each k
//   Columns   begin(first, depth)
//             panel(column, first, depth)          the factors of the columns starting with `column`
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/prefetch.h"
#include "ops/product/cpu/tiles.h"

namespace anydml {

inline constexpr std::int64_t kMinWork = 400'000;  // multiply-adds in a piece, which take about ten microseconds

// The factors of a panel's columns for consecutive k, `step` elements apart.
struct Panel {
  const f32* first;
  std::int64_t step;
  const f32* next = nullptr;  // the next panel, if it is contiguous in memory; null if unknown
};

// Prefetches one of `parts` equal parts of some elements that are needed soon. Without this, the CPU would start
// loading a panel only when the first strip uses it, and that strip would wait.
inline void bring_part(const f32* elements, std::int64_t count, std::int64_t part, std::int64_t parts) {
  constexpr std::int64_t kOfLine = 16;
  const std::int64_t lines = ceil_div(count, kOfLine);
  const std::int64_t end = lines * (part + 1) / parts;
  for (std::int64_t line = lines * part / parts; line < end; ++line) {
    __builtin_prefetch(elements + line * kOfLine);
  }
}

// The rows of an A that was packed into strips in advance.
struct PackedStrips {
  const f32* first;  // factors of the tile's first row, which is the first row of a strip
  std::int64_t depth;

  static constexpr bool kAreFar = true;  // the strips may not be cached yet when a block begins

  void begin(std::int64_t, std::int64_t) {}
  [[nodiscard]] const f32* strip(std::int64_t row, std::int64_t rows, std::int64_t block, std::int64_t) const {
    return first + row * depth + block * rows;
  }
};

// One factor of a matrix that was packed into strips. rows: the number of rows in the matrix; of_strip: the number of
// rows in a strip.
[[nodiscard]] inline f32 packed_factor(const f32* matrix, std::int64_t rows, std::int64_t of_strip, std::int64_t depth,
                                       std::int64_t row, std::int64_t k) {
  const std::int64_t first = row / of_strip * of_strip;
  return matrix[first * depth + k * std::min(of_strip, rows - first) + row - first];
}

struct TileTotals {
  f32* first;
  std::int64_t row_step;
  std::int64_t rows;
  std::int64_t columns;
};

// Multiplies `columns` of a panel by all strips of a block. is_first_panel: whether this is the first panel of the
// block, in which case the strips may not be cached yet.
template <class Rows>
void add_panel(const ProductKernels& kernels, Rows& a, const Panel& panel, std::int64_t columns, bool is_first_panel,
               std::int64_t first, std::int64_t depth, std::int64_t all_rows, f32* totals, std::int64_t row_step) {
  const bool are_few = columns <= kernels.few_columns;
  const ProductBlock* const blocks = are_few                           ? kernels.few_blocks
                                     : columns <= kernels.half_columns ? kernels.half_blocks
                                                                       : kernels.blocks;
  const auto strip = [&](std::int64_t row) {
    return a.strip(row, std::min(kernels.strip, all_rows - row), first, depth);
  };
  const std::int64_t strips = ceil_div(all_rows, kernels.strip);
  const auto bring_next = [&](std::int64_t row) {  // while the strip that begins with this row is multiplied
    if (panel.next != nullptr) {
      bring_part(panel.next, depth * kernels.panel, row / kernels.strip, strips);
    }
    if constexpr (Rows::kAreFar) {
      if (const std::int64_t next = row + (are_few ? 2 : 1) * kernels.strip; is_first_panel && next < all_rows) {
        bring_part(strip(next), depth * std::min(kernels.strip, all_rows - next), 0, 1);
      }
    }
  };
  std::int64_t row = 0;
  for (; are_few && row + 2 * kernels.strip <= all_rows; row += 2 * kernels.strip) {
    bring_next(row);
    bring_next(row + kernels.strip);
    kernels.few_pair(strip(row), strip(row + kernels.strip), panel.first, panel.step, depth, totals + row * row_step,
                     row_step, first == 0);
  }
  for (; row < all_rows; row += kernels.strip) {
    bring_next(row);
    blocks[std::min(kernels.strip, all_rows - row) - 1](strip(row), panel.first, panel.step, depth,
                                                        totals + row * row_step, row_step, first == 0);
  }
}

// Multiplies each panel by all strips, block by block.
template <class Rows, class Columns>
void add_products(const ProductKernels& kernels, std::int64_t depth, Rows& a, Columns& b, const TileTotals& tile) {
  for (std::int64_t first = 0; first < depth; first += kProductBlock) {
    const std::int64_t of_block = std::min(kProductBlock, depth - first);
    a.begin(first, of_block);
    b.begin(first, of_block);
    for (std::int64_t column = 0; column < tile.columns; column += kernels.panel) {
      const Panel panel = b.panel(column, first, of_block);
      add_panel(kernels, a, panel, tile.columns - column, column == 0, first, of_block, tile.rows, tile.first + column,
                tile.row_step);
    }
  }
}

// Like add_products, but for a single strip of rows whose factors are available for all blocks: processes each panel
// from the first k to the last.
template <class Rows, class Columns>
void add_strip(const ProductKernels& kernels, std::int64_t depth, Rows& a, Columns& b, const TileTotals& tile) {
  for (std::int64_t column = 0; column < tile.columns; column += kernels.panel) {
    for (std::int64_t first = 0; first < depth; first += kProductBlock) {
      const std::int64_t of_block = std::min(kProductBlock, depth - first);
      Panel panel = b.panel(column, first, of_block);
      if (tile.rows <= kRowsThatWait) {
        panel.next = nullptr;  // the kernel itself prefetches
      }
      add_panel(kernels, a, panel, tile.columns - column, column == 0, first, of_block, tile.rows, tile.first + column,
                tile.row_step);
    }
  }
}

}  // namespace anydml
