// SPDX-License-Identifier: MIT
// The loop of VPDPBUSD. Included once for each width, where Vector and the functions of it are those of the width and
// all that follows is compiled for its instructions; no guard.

template <std::size_t kRows>
void add_dots(const u8* __restrict a, const u8* __restrict b, std::int64_t groups, u32* __restrict totals,
              std::int64_t totals_step, bool is_first) noexcept {
  constexpr std::size_t kWidth = sizeof(Vector);
  Vector left[kRows];
  Vector right[kRows];
  ANYDML_ALL_ROWS
  for (std::size_t row = 0; row < kRows; ++row) {
    left[row] = zero();
    right[row] = zero();
  }
  for (std::int64_t group = 0; group < groups; ++group, a += kRows * kGroup, b += 2 * kWidth) {
    const Vector left_columns = load(b);
    const Vector right_columns = load(b + kWidth);
    ANYDML_ALL_ROWS
    for (std::size_t row = 0; row < kRows; ++row) {
      int four;
      std::memcpy(&four, a + row * kGroup, sizeof(four));
      const Vector of_row = in_all_lanes(four);
      left[row] = add_dot(left[row], of_row, left_columns);
      right[row] = add_dot(right[row], of_row, right_columns);
    }
  }
  ANYDML_ALL_ROWS
  for (std::size_t row = 0; row < kRows; ++row) {
    u32* const place = totals + static_cast<std::int64_t>(row) * totals_step;
    u32* const beside = place + kWidth / sizeof(u32);
    store(place, is_first ? left[row] : add(left[row], load(place)));
    store(beside, is_first ? right[row] : add(right[row], load(beside)));
  }
}

template <std::size_t... kUnits>
constexpr std::array<IntegerBlock, sizeof...(kUnits)> all_dots(std::index_sequence<kUnits...>) {
  return {add_dots<kUnits + 1>...};
}
