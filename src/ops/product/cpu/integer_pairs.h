// SPDX-License-Identifier: MIT
// The inner loops of depthwise byte convolutions for each target.
//
// Rows of the image are copied two at a time: an element of the copy is a pair of 16-bit numbers, those of both rows in
// one column, without their zero point; the first row's is in the lower half. A vector instruction multiplies pairs by
// pairs of weights and adds both products, so that one load of the copy serves two rows of the filter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "base/element.h"
#include "ops/product/integer_step.h"

namespace anydml {

// Copies columns [first_column, first_column + columns) of `pairs` pairs of rows, starting with the rows first_row and
// first_row + 1. Elements outside the image are 0. The columns are divided into `stride` planes: column i of a row is
// element i / stride of plane i % stride. Each plane has rows of row_step pairs, all of which are written. Writes up to
// kPairSlack - 1 pairs past the end of a plane, and reads nothing outside the image and the gaps between its rows.
struct PairedRows {
  const std::byte* from;      // the image's first element; elements of a row are contiguous
  std::int64_t row_distance;  // in bytes
  std::int64_t image_rows;
  std::int64_t image_columns;
  std::int64_t first_row;
  std::int64_t first_column;
  std::int64_t pairs;
  std::int64_t columns;
  std::int64_t stride;
  std::int64_t row_step;    // in pairs
  std::int64_t plane_step;  // in pairs
  i32 zero;
  u32* to;
};

// Computes the outputs of a line, and those of a second line if to[1] is not null. Sum i of line n consists of the
// products of weights[lines * k + n] and the pair at from + offsets[k] + i, for each term k, and of `plus`, modulo
// 2^32. A weight contains those of the two rows, with the first row in the lower half. The sums without `plus` must fit
// into 32 bits. Quantized outputs are computed from the sums as in ops/product/scalar/integer.h. Reads and writes up to
// kPairSlack - 1 elements past the end.
struct PairedLine {
  const u32* from;
  const std::int64_t* offsets;  // in pairs
  const u32* weights;
  std::int64_t terms;
  std::int64_t count;
  u32 plus;
  f32 factor;
  i32 zero;  // of the outputs
  std::byte* to[2];
};
inline constexpr std::int64_t kPairSlack = 16;

enum class PairedOutput : std::uint32_t { int32, int8, uint8 };

struct IntegerPairs {
  void (*copy_signed)(const PairedRows& rows) noexcept;
  void (*copy_unsigned)(const PairedRows& rows) noexcept;
  void (*add_lines[3])(const PairedLine& line) noexcept;  // by PairedOutput
};

[[nodiscard]] const IntegerPairs& integer_pairs(cpu::Target target);

}  // namespace anydml
