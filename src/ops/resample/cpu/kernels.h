// SPDX-License-Identifier: MIT
// Operations on rows, compiled once for each target. A row consists of columns of `run` adjacent elements. Means are
// computed in packed FLOAT32 rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/resample/cpu/columns.h"

namespace anydml {

// A row in a tensor.
struct ResampleRow {
  const std::byte* at;  // the columns' taps are relative to this element
  std::int64_t stride;  // in bytes, between elements of the sampled dimension
  std::int64_t run;     // elements
};

struct ResampleKernels {
  // Convert elements of a tensor to FLOAT32, and back.
  void (*load)(const std::byte* from, std::int64_t stride, std::int64_t columns, std::int64_t run, f32* to) noexcept;
  void (*store)(const f32* from, std::int64_t columns, std::int64_t run, std::byte* to, std::int64_t stride) noexcept;
  // Compute the means along a row. `interpolate` reads adjacent FLOAT32 elements, and `interpolate_far` reads the
  // elements of a tensor one by one.
  void (*interpolate)(const Columns& columns, const std::byte* from, std::int64_t run, f32* to) noexcept;
  void (*interpolate_far)(const Columns& columns, const ResampleRow& row, f32* to) noexcept;
  // Combine whole rows: a * x + b * y; a * x; to + a * x.
  void (*mean)(const std::byte* x, f32 a, const std::byte* y, f32 b, std::int64_t count, std::byte* to) noexcept;
  void (*scale)(const std::byte* x, f32 a, std::int64_t count, std::byte* to) noexcept;
  void (*add)(const std::byte* x, f32 a, std::int64_t count, std::byte* to) noexcept;
};

// Gradients: sums of rows, and sums along a row.
inline constexpr std::int32_t kGradientRows = 4;     // maximum number of rows added together
inline constexpr std::int32_t kMaxGradientTaps = 8;  // columns with more taps have no table
// Some columns of an output gradient in which each column is a single element. Column c is the sum of x[index[t * count
// + c]] times weights[t * count + c] over t. For a column with fewer taps, the missing taps refer to a zero after the
// last element. The columns [begin, end) have the same weights, and their taps start `advance` elements apart.
struct GradientTable {
  std::int64_t count = 0;
  std::int32_t taps = 0;  // per column; 0 if there is no table
  std::int32_t advance = 0;
  std::int32_t regular_taps = 0;
  std::int32_t regular_first = 0;  // first tap of column `begin`
  std::int64_t begin = 0;
  std::int64_t end = 0;
  const std::int32_t* index = nullptr;
  const f32* weights = nullptr;
  f32 regular[kMaxGradientTaps] = {};
};
struct GradientKernels {
  // to[i] = (begins ? +0 : to[i]) + rows[0][i] * weights[0] + rows[1][i] * weights[1] ..., in this order. Rows may have
  // any alignment.
  void (*add_rows)(const std::byte* const* rows, const f32* weights, std::int32_t count, bool begins,
                   std::int64_t length, f32* to) noexcept;
  void (*divide)(const f32* divisors, std::int64_t count, f32* row) noexcept;
  void (*add_columns)(const GradientTable& table, const f32* x, f32* to) noexcept;
};

// Consecutive rows of an output, each of which consists of the nearest elements of an input row. Strides are in bytes.
struct NearestRows {
  std::byte* at;
  std::int64_t stride;  // between columns
  std::int64_t rows;
  std::int64_t row_stride;
  const LinearTaps* taps;   // the input row for each output row; null if there is only the first row
  std::int64_t tap_stride;  // between rows of the input
};
// Copies the nearest elements.
using MoveNearest = void (*)(const Columns& columns, const ResampleRow& row, const NearestRows& to) noexcept;

[[nodiscard]] ResampleKernels generic_resample_kernels(DataType type);
[[nodiscard]] ResampleKernels resample_kernels(cpu::Target target, DataType type);
[[nodiscard]] GradientKernels generic_gradient_kernels();
[[nodiscard]] GradientKernels gradient_kernels(cpu::Target target);
[[nodiscard]] MoveNearest generic_move_nearest(std::size_t element_bytes);
[[nodiscard]] MoveNearest move_nearest(cpu::Target target, std::size_t element_bytes);

}  // namespace anydml
