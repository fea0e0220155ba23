// SPDX-License-Identifier: MIT
// What is done to rows, compiled once for each target. A row is columns of `run` elements that lie beside each other.
// Means are computed in rows of FLOAT32, in which all elements lie beside each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/resample/cpu/columns.h"

namespace anydml {

// A row in a tensor.
struct ResampleRow {
  const std::byte* at;  // the element from which the columns' taps count
  std::int64_t stride;  // in bytes, from an element of the sampled dimension to the next
  std::int64_t run;     // elements
};

struct ResampleKernels {
  // Elements of a tensor to FLOAT32, and back.
  void (*load)(const std::byte* from, std::int64_t stride, std::int64_t columns, std::int64_t run, f32* to) noexcept;
  void (*store)(const f32* from, std::int64_t columns, std::int64_t run, std::byte* to, std::int64_t stride) noexcept;
  // The means along a row: of elements that load has made, and of those of a tensor, one by one.
  void (*interpolate)(const Columns& columns, const std::byte* from, std::int64_t run, f32* to) noexcept;
  void (*interpolate_far)(const Columns& columns, const ResampleRow& row, f32* to) noexcept;
  // Of whole rows: a * x + b * y; a * x; to + a * x.
  void (*mean)(const std::byte* x, f32 a, const std::byte* y, f32 b, std::int64_t count, std::byte* to) noexcept;
  void (*scale)(const std::byte* x, f32 a, std::int64_t count, std::byte* to) noexcept;
  void (*add)(const std::byte* x, f32 a, std::int64_t count, std::byte* to) noexcept;
};
// Rows of an output one after another, each of the nearest elements of some row of the input. Strides in bytes.
struct NearestRows {
  std::byte* at;
  std::int64_t stride;  // from column to column
  std::int64_t rows;
  std::int64_t row_stride;
  const LinearTaps* taps;   // the row of the input for each; null: there is one row, of the first
  std::int64_t tap_stride;  // from row to row of the input
};
// Moves the nearest elements.
using MoveNearest = void (*)(const Columns& columns, const ResampleRow& row, const NearestRows& to) noexcept;

[[nodiscard]] ResampleKernels generic_resample_kernels(DataType type);
[[nodiscard]] ResampleKernels resample_kernels(cpu::Target target, DataType type);
[[nodiscard]] MoveNearest generic_move_nearest(std::size_t element_bytes);
[[nodiscard]] MoveNearest move_nearest(cpu::Target target, std::size_t element_bytes);

}  // namespace anydml
