// SPDX-License-Identifier: MIT
#include "ops/resample/cpu/columns.h"

#include <algorithm>

namespace anydml {
namespace {

constexpr std::int64_t kMinRegular = 8;  // columns that are worth a separate loop

std::size_t array_bytes(std::int64_t count) { return (static_cast<std::size_t>(count) * 4 + 63) / 64 * 64; }

std::int64_t taps_at_most(const ResampleDimension& dimension) {
  return dimension.kind == ResampleKind::linear      ? 2
         : dimension.kind == ResampleKind::stretched ? max_stretched_taps(dimension)
                                                     : 1;
}

// The longest range of columns in which column c + period has the same taps as column c, shifted by `advance` elements.
// For linear columns, the range contains no column with a single tap.
RegularColumns find_regular(const Columns& columns, bool linear, std::int32_t period, std::int32_t advance) {
  const f32* const second = columns.weights + columns.count;
  const auto goes_on = [&](std::int64_t c) {
    return columns.first[c + period] == columns.first[c] + advance &&
           (!linear || (second[c + period] == second[c] && second[c] != 0.0F));
  };
  RegularColumns best{.period = period, .advance = advance};
  for (std::int64_t begin = 0; begin + period < columns.count;) {
    std::int64_t c = begin;
    while (c + period < columns.count && goes_on(c)) {
      ++c;
    }
    const std::int64_t whole = (c + period - begin) / period * period;
    if (c > begin && whole > best.end - best.begin) {
      best.begin = begin;
      best.end = begin + whole;
    }
    begin = c + 1;
  }
  return best;
}

// The taps [first, end) of an output.
struct TapRange {
  std::int64_t first;
  std::int64_t end;
};
TapRange taps_of(const ResampleDimension& dimension, std::int64_t output) {
  if (dimension.kind == ResampleKind::stretched) {
    const StretchedTaps taps(dimension, output);
    return {.first = taps.first(), .end = taps.first() + taps.count()};
  }
  if (dimension.kind == ResampleKind::linear) {
    const LinearTaps taps = linear_taps(dimension, output);
    return {.first = taps.first, .end = taps.first + (taps.second == 0.0F ? 1 : 2)};
  }
  const std::int64_t nearest = nearest_of(dimension, output);
  return {.first = nearest, .end = nearest + 1};
}

}  // namespace

std::size_t column_bytes(const ResampleDimension& dimension, std::int64_t count) {
  const bool stretched = dimension.kind == ResampleKind::stretched;
  const std::int64_t weights =
      stretched || dimension.kind == ResampleKind::linear ? count * taps_at_most(dimension) : 0;
  return array_bytes(count) * (stretched ? 2 : 1) + array_bytes(weights);
}

// Taps never move backwards from one column to the next, so the first and the last column of a tile determine its span.
// The span is computed rather than estimated: if an offset is so large that no bits are left for fractions, coordinates
// skip many elements.
std::int64_t max_span(const ResampleDimension& dimension, std::int64_t count) {
  std::int64_t maximum = 0;
  for (std::int64_t first = 0; first < dimension.output_size; first += count) {
    const std::int64_t last = std::min(first + count, dimension.output_size) - 1;
    maximum = std::max(maximum, taps_of(dimension, last).end - taps_of(dimension, first).first);
  }
  return maximum;
}

Columns make_columns(const ResampleDimension& dimension, std::int64_t first, std::int64_t count, std::byte* memory) {
  auto* const firsts = reinterpret_cast<std::int32_t*>(memory);
  auto* const counts = reinterpret_cast<std::int32_t*>(memory + array_bytes(count));
  const bool stretched = dimension.kind == ResampleKind::stretched;
  const bool linear = dimension.kind == ResampleKind::linear;
  auto* const weights = reinterpret_cast<f32*>(memory + array_bytes(count) * (stretched ? 2 : 1));
  Columns columns{.count = count,
                  .max_taps = static_cast<std::int32_t>(taps_at_most(dimension)),
                  .first = firsts,
                  .taps = stretched ? counts : nullptr,
                  .weights = stretched || linear ? weights : nullptr};
  for (std::int64_t c = 0; c < count; ++c) {
    std::int64_t tap = 0;
    std::int64_t taps = 1;
    if (stretched) {
      const StretchedTaps column_taps(dimension, first + c);
      tap = column_taps.first();
      taps = column_taps.count();
      counts[c] = static_cast<std::int32_t>(taps);
      for (std::int64_t t = 0; t < columns.max_taps; ++t) {
        weights[t * count + c] = t < taps ? column_taps.weight(t) : 0.0F;
      }
    } else if (linear) {
      const LinearTaps column_taps = linear_taps(dimension, first + c);
      tap = column_taps.first;
      taps = column_taps.second == 0.0F ? 1 : 2;
      weights[c] = 1.0F - column_taps.second;
      weights[count + c] = column_taps.second;
    } else {
      tap = nearest_of(dimension, first + c);
    }
    columns.base = c == 0 ? tap : columns.base;  // later columns start at or after this tap
    firsts[c] = static_cast<std::int32_t>(tap - columns.base);
    columns.span = std::max(columns.span, tap - columns.base + taps);
  }
  if (!stretched) {
    const RegularColumns up = find_regular(columns, linear, 2, 1);
    const RegularColumns down = find_regular(columns, linear, 1, 2);
    columns.regular = up.end - up.begin >= down.end - down.begin ? up : down;
    if (columns.regular.end - columns.regular.begin < kMinRegular) {
      columns.regular = {};
    }
  }
  return columns;
}

}  // namespace anydml
