// SPDX-License-Identifier: MIT
// The taps of some adjacent columns as arrays, for kernels that process a row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/resample/step.h"

namespace anydml {

// Columns whose taps advance evenly, so that kernels need not read the arrays.
struct RegularColumns {
  std::int32_t period = 0;   // columns after which the taps repeat; 0 if there are no regular columns
  std::int32_t advance = 0;  // the distance that the taps advance per period, in input elements
  std::int64_t begin = 0;
  std::int64_t end = 0;  // begin plus a multiple of the period
};

struct Columns {
  std::int64_t count = 0;
  std::int64_t base = 0;      // `first` is relative to this input element
  std::int64_t span = 0;      // number of elements from `base` to the last one that is read
  std::int32_t max_taps = 1;  // per column
  const std::int32_t* first = nullptr;
  const std::int32_t* taps = nullptr;  // number of taps, only for stretched columns
  const f32* weights = nullptr;  // tap t of column c: [t * count + c]; for linear columns the second weight may be 0
  RegularColumns regular = {};
};

// The size of the arrays, a multiple of 64 bytes.
[[nodiscard]] std::size_t column_bytes(const ResampleDimension& dimension, std::int64_t count);
// Computes the columns [first, first + count) of a dimension in memory of column_bytes() bytes, aligned to 4 bytes.
[[nodiscard]] Columns make_columns(const ResampleDimension& dimension, std::int64_t first, std::int64_t count,
                                   std::byte* memory);
// An upper bound for the `span` of any `count` columns.
[[nodiscard]] std::int64_t max_span(const ResampleDimension& dimension, std::int64_t count);

}  // namespace anydml
