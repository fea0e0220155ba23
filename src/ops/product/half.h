// SPDX-License-Identifier: MIT
// The FLOAT16 products that a matrix library can compute directly: each matrix consists of equally spaced lines of
// contiguous elements, and the matrices of a batch are equally spaced too. The `halves` of ProductStep specify the
// types of such a step; C, if present, has the type of the output.
#pragma once

#include <cstdint>
#include <optional>

#include "base/element.h"
#include "ops/product/step.h"

namespace anydml::products {

// A matrix as a set of lines: its rows or its columns.
struct MatrixLines {
  bool are_rows;
  std::int64_t pitch;  // elements from one line to the next
};

[[nodiscard]] constexpr std::optional<MatrixLines> lines_of(const MatrixStrides& strides, std::int64_t rows,
                                                            std::int64_t columns, std::int64_t element_bytes) {
  // The stride of a dimension of size 1 has no meaning.
  const auto pitch = [&](std::int64_t near, std::int64_t length, std::int64_t far, std::int64_t lines) -> std::int64_t {
    if (length != 1 && near != element_bytes) {
      return 0;
    }
    if (lines == 1) {
      return length;
    }
    return far % element_bytes == 0 && far / element_bytes >= length ? far / element_bytes : 0;
  };
  if (const std::int64_t of_rows = pitch(strides.column, columns, strides.row, rows); of_rows != 0) {
    return MatrixLines{.are_rows = true, .pitch = of_rows};
  }
  if (const std::int64_t of_columns = pitch(strides.row, rows, strides.column, columns); of_columns != 0) {
    return MatrixLines{.are_rows = false, .pitch = of_columns};
  }
  return std::nullopt;
}

[[nodiscard]] constexpr std::int64_t output_bytes(const ProductStep& step) {
  return (step.halves & kHalfOutput) != 0 ? sizeof(f16) : sizeof(f32);
}

// Whether C has a layout that is valid for an output: rows of contiguous elements, and a separate matrix for each batch
// element.
[[nodiscard]] constexpr bool has_rows_of_output(const ProductStep& step, const MatrixStrides& strides) {
  const auto lines = lines_of(strides, step.rows, step.columns, output_bytes(step));
  return lines.has_value() && lines->are_rows && (step.batch_rank == 0 || strides.batch[0] > 0);
}

[[nodiscard]] constexpr bool fits_half_product(const ProductStep& step, bool has_c) {
  constexpr std::int64_t kHalfBytes = sizeof(f16);
  constexpr std::int64_t kMaxBatches = 0x7fffffff;
  const bool has_batches = step.batch_rank != 0;
  return step.rows > 0 && step.columns > 0 && step.depth > 0 && step.batches > 0 && step.batches <= kMaxBatches &&
         step.batch_rank <= 1 && lines_of(step.a, step.rows, step.depth, kHalfBytes).has_value() &&
         lines_of(step.b, step.depth, step.columns, kHalfBytes).has_value() &&
         (!has_batches || (step.a.batch[0] >= 0 && step.b.batch[0] >= 0)) && has_rows_of_output(step, step.output) &&
         (!has_c || has_rows_of_output(step, step.c));
}

}  // namespace anydml::products
