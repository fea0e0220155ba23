// SPDX-License-Identifier: MIT
// The VPDPBUSD loop. This file is included once for each vector width, after Vector and its functions have been defined
// for that width, and compiled for the instructions of that width. It therefore has no include guard.

template <std::size_t kRows>
void add_dots(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  constexpr std::size_t kWidth = sizeof(Vector);
  constexpr std::size_t kColumns = kWidth / sizeof(u32);
  const u8* a = arguments.a;
  u32* totals = arguments.totals;
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const u8* b = arguments.b;
    Vector left[kRows];
    Vector right[kRows];
    ANYDML_ALL_ROWS
    for (std::size_t row = 0; row < kRows; ++row) {
      left[row] = load(arguments.start);
      right[row] = load(arguments.start + kColumns);
    }
    for (std::int64_t group = 0; group < arguments.groups; ++group, a += kRows * kGroup, b += 2 * kWidth) {
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
    for (std::size_t row = 0; row < kRows; ++row, totals += arguments.totals_step) {
      store(totals, arguments.is_first ? left[row] : add(left[row], load(totals)));
      store(totals + kColumns, arguments.is_first ? right[row] : add(right[row], load(totals + kColumns)));
    }
  }
}

// With four panels there are enough chains to hide the latency of an instruction.
inline void multiply_row(const IntegerRowArguments& arguments) noexcept {
  constexpr std::size_t kWidth = sizeof(Vector);
  constexpr std::size_t kColumns = kWidth / sizeof(u32);
  constexpr auto kPanels = static_cast<std::size_t>(kRowPanels);
  const u8* a = arguments.a;
  const u8* b = arguments.b;
  Vector left[kPanels];
  Vector right[kPanels];
  ANYDML_ALL_ROWS
  for (std::size_t panel = 0; panel < kPanels; ++panel) {
    left[panel] = in_all_lanes(0);
    right[panel] = in_all_lanes(0);
  }
  for (std::int64_t group = 0; group < arguments.groups; ++group, a += kGroup, b += 2 * kWidth) {
    int four;
    std::memcpy(&four, a, sizeof(four));
    const Vector of_row = in_all_lanes(four);
    ANYDML_ALL_ROWS
    for (std::size_t panel = 0; panel < kPanels; ++panel) {
      const u8* const from = b + static_cast<std::int64_t>(panel) * arguments.panel_step;
      left[panel] = add_dot(left[panel], of_row, load(from));
      right[panel] = add_dot(right[panel], of_row, load(from + kWidth));
    }
  }
  ANYDML_ALL_ROWS
  for (std::size_t panel = 0; panel < kPanels; ++panel) {
    u32* const totals = arguments.totals + static_cast<std::int64_t>(panel) * arguments.totals_step;
    store(totals, left[panel]);
    store(totals + kColumns, right[panel]);
  }
}

template <std::size_t... kUnits>
constexpr std::array<IntegerBlock, sizeof...(kUnits)> all_dots(std::index_sequence<kUnits...>) {
  return {add_dots<kUnits + 1>...};
}
