// SPDX-License-Identifier: MIT
// The taps of some neighbouring columns as arrays, for kernels that go along a row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/resample/step.h"

namespace anydml {

// Columns between which the taps move on evenly, so that kernels need not look at the arrays.
struct RegularColumns {
  std::int32_t period = 0;   // columns after which the taps repeat; 0: no regular columns
  std::int32_t advance = 0;  // and how many input elements further on
  std::int64_t begin = 0;
  std::int64_t end = 0;  // begin plus a multiple of the period
};

struct Columns {
  std::int64_t count = 0;
  std::int64_t base = 0;       // the input element from which `first` counts
  std::int64_t span = 0;       // the elements from there on to the last one that is read
  std::int32_t most_taps = 1;  // of a column
  const std::int32_t* first = nullptr;
  const std::int32_t* taps = nullptr;  // how many, of stretched columns alone
  const f32* weights = nullptr;        // tap t of column c: [t * count + c]; of linear columns the second may be 0
  RegularColumns regular = {};
};

// The memory that the arrays take, a multiple of 64 bytes.
[[nodiscard]] std::size_t column_bytes(const ResampleDimension& dimension, std::int64_t count);
// The columns [first, first + count) of a dimension, in memory of so many bytes at a multiple of 4.
[[nodiscard]] Columns make_columns(const ResampleDimension& dimension, std::int64_t first, std::int64_t count,
                                   std::byte* memory);
// A bound of `span` for any so many columns.
[[nodiscard]] std::int64_t most_span(const ResampleDimension& dimension, std::int64_t count);

}  // namespace anydml
