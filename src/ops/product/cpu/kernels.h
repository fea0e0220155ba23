// SPDX-License-Identifier: MIT
// The inner loops of products for each target.
#pragma once

#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/product/scalar/product.h"

namespace anydml {

// Multiplies a strip of rows by a panel of columns for one block of at most kProductBlock values of k. a: `rows`
// contiguous factors for each k. b: the factors of the panel's columns for each k, b_step apart. The sums replace the
// totals if this is the first block. Otherwise they are added to the totals.
using ProductBlock = void (*)(const f32* a, const f32* b, std::int64_t b_step, std::int64_t depth, f32* totals,
                              std::int64_t totals_step, bool is_first) noexcept;

// Like ProductBlock, but for two whole strips together and one vector of columns. With so few columns, a single strip
// has too few sums to hide the latency of a multiply-add.
using ProductPair = void (*)(const f32* a, const f32* other_a, const f32* b, std::int64_t b_step, std::int64_t depth,
                             f32* totals, std::int64_t totals_step, bool is_first) noexcept;

// Like ProductBlock, but for rows of an image whose factors need not be packed: the factor of column i for k is at b +
// offsets[k] + i, for any number of columns. The function may read past the last column, by less than a panel, but it
// writes only the totals of the columns.
using ProductLine = void (*)(const f32* a, const f32* b, const std::int64_t* offsets, std::int64_t depth, f32* totals,
                             std::int64_t totals_step, std::int64_t columns, bool is_first) noexcept;

inline constexpr std::int64_t kTransposedSide = 4;
inline constexpr std::int64_t kLineRows = 6;  // maximum number of rows in a ProductLine

struct ProductKernels {
  std::int64_t strip;          // maximum number of rows in a strip
  std::int64_t panel;          // columns of a panel
  const ProductBlock* blocks;  // indexed by the rows of the strip minus 1
  // Kernels for panels in which only some columns are needed, and the number of columns that each kernel computes.
  std::int64_t few_columns;  // one vector
  std::int64_t half_columns;
  const ProductBlock* few_blocks;
  const ProductBlock* half_blocks;
  ProductPair few_pair;
  // Computes a row of outputs: the scaled totals, plus the elements of C, c_stride bytes apart, if c is not null. `to`
  // may be the totals. to and c may have any alignment.
  void (*scale_row)(const ProductScale& scale, const f32* totals, const std::byte* c, std::int64_t c_stride,
                    std::int64_t count, std::byte* to) noexcept;
  // to[k * width + i] = the element at from + i * stride + k elements, for k below `depth` and i below `count`, both at
  // least kTransposedSide. from may have any alignment.
  void (*transpose)(const std::byte* from, std::int64_t stride, std::int64_t depth, std::int64_t count,
                    std::int64_t width, f32* to) noexcept;
};

// Returns null if the target has no kernels. The scalar definition is used instead.
[[nodiscard]] const ProductKernels* product_kernels(cpu::Target target);
// Indexed by the number of rows minus 1, up to kLineRows.
[[nodiscard]] const ProductLine* product_lines(cpu::Target target);

}  // namespace anydml
