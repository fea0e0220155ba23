// SPDX-License-Identifier: MIT
// Copies pairs of rows with their padding. This file is included once for each target, inside the target's namespace,
// after ops/product/cpu/integer_pairs.h and the functions clear, copy_columns and split_columns, which may write past
// the end; it has no include guard.

template <class Byte>
u32 pair_of(const PairSource<Byte>& rows, std::size_t i) {
  const auto number = [&](const Byte* row) {
    return static_cast<u16>(static_cast<i16>(row == nullptr ? 0 : row[i] - rows.zero));
  };
  return u32{number(rows.upper)} | u32{number(rows.lower)} << 16;
}

template <class Byte>
void copy_rows(const PairedRows& rows) noexcept {
  const auto* const image = reinterpret_cast<const Byte*>(rows.from);
  const std::int64_t low = std::min(std::max<std::int64_t>(0, -rows.first_column), rows.columns);
  const std::int64_t high = std::max(low, std::min(rows.columns, rows.image_columns - rows.first_column));
  const auto count = static_cast<std::size_t>(high - low);
  const auto row_at = [&](std::int64_t row) {
    return row < 0 || row >= rows.image_rows || count == 0 ? nullptr
                                                           : image + row * rows.row_distance + rows.first_column + low;
  };
  // The number of elements before this column in its plane.
  const auto place = [&](std::int64_t column, std::int64_t plane) {
    return (column - plane + rows.stride - 1) / rows.stride;
  };
  PairSource<Byte> source{.upper = nullptr,
                          .lower = nullptr,
                          .end = image + (rows.image_rows - 1) * rows.row_distance + rows.image_columns,
                          .zero = rows.zero};
  u32* to = rows.to;
  for (std::int64_t pair = 0; pair < rows.pairs; ++pair, to += rows.row_step) {
    source.upper = row_at(rows.first_row + 2 * pair);
    source.lower = row_at(rows.first_row + 2 * pair + 1);
    const bool is_outside = source.upper == nullptr && source.lower == nullptr;
    // A row may be overwritten past its end, since the next row of the plane follows.
    for (std::int64_t plane = 0; plane < rows.stride; ++plane) {
      clear(to + plane * rows.plane_step, is_outside ? rows.row_step : place(low, plane));
    }
    if (is_outside) {
      continue;
    }
    if (rows.stride == 1) {
      copy_columns(source, count, to + low);
    } else if (rows.stride == 2) {
      const std::int64_t even = low % 2;
      split_columns(source, count, to + even * rows.plane_step + place(low, even),
                    to + (1 - even) * rows.plane_step + place(low, 1 - even));
    } else {
      for (std::int64_t i = low; i < high; ++i) {
        to[i % rows.stride * rows.plane_step + i / rows.stride] = pair_of(source, static_cast<std::size_t>(i - low));
      }
    }
    for (std::int64_t plane = 0; plane < rows.stride; ++plane) {
      const std::int64_t end = place(high, plane);
      clear(to + plane * rows.plane_step + end, rows.row_step - end);
    }
  }
}
