// SPDX-License-Identifier: MIT
// The VPDPBUSD loop. This file is included once for each vector width, after Vector and its functions have been defined
// for that width, and compiled for the instructions of that width. It therefore has no include guard.

// Adds the products of consecutive groups to the sums of kSets sets, which take turns: with few rows, one set has too
// few chains to hide the latency of an instruction.
template <std::size_t kRows, std::size_t kSets>
ANYDML_INLINE void add_groups(const u8* a, std::int64_t row_step, std::int64_t group_step, std::int64_t groups,
                              const u8*& b, Vector* left, Vector* right) {
  constexpr std::size_t kWidth = sizeof(Vector);
  std::int64_t group = 0;
  for (; group + static_cast<std::int64_t>(kSets) <= groups; group += static_cast<std::int64_t>(kSets)) {
    ANYDML_ALL_ROWS
    for (std::size_t set = 0; set < kSets; ++set, a += group_step, b += 2 * kWidth) {
      const Vector left_columns = load(b);
      const Vector right_columns = load(b + kWidth);
      ANYDML_ALL_ROWS
      for (std::size_t row = 0; row < kRows; ++row) {
        int four;
        std::memcpy(&four, a + static_cast<std::int64_t>(row) * row_step, sizeof(four));
        const Vector of_row = in_all_lanes(four);
        left[set * kRows + row] = add_dot(left[set * kRows + row], of_row, left_columns);
        right[set * kRows + row] = add_dot(right[set * kRows + row], of_row, right_columns);
      }
    }
  }
  if constexpr (kSets > 1) {
    add_groups<kRows, 1>(a, row_step, group_step, groups - group, b, left, right);
  }
}

// The rows of a strip are packed in blocks of kBlock bytes, or in groups.
template <std::size_t kRows, std::size_t kBlock>
void add_dots(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  constexpr std::size_t kColumns = sizeof(Vector) / sizeof(u32);
  constexpr std::size_t kSets = kRows == 1 ? 4 : kRows <= 3 ? 2 : 1;
  constexpr auto kGroupBytes = static_cast<std::int64_t>(kGroup);
  constexpr auto kRowsBytes = static_cast<std::int64_t>(kRows * kGroup);  // of a group
  constexpr auto kGroupsOfBlock = static_cast<std::int64_t>(kBlock / kGroup);
  const u8* a = arguments.a;
  u32* totals = arguments.totals;
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const u8* b = arguments.b;
    Vector left[kSets * kRows];
    Vector right[kSets * kRows];
    ANYDML_ALL_ROWS
    for (std::size_t sum = 0; sum < kSets * kRows; ++sum) {
      left[sum] = sum < kRows ? load(arguments.start) : in_all_lanes(0);
      right[sum] = sum < kRows ? load(arguments.start + kColumns) : in_all_lanes(0);
    }
    if constexpr (kBlock == kGroup) {
      add_groups<kRows, kSets>(a, kGroupBytes, kRowsBytes, arguments.groups, b, left, right);
    } else {
      for (std::int64_t first = 0; first < arguments.groups; first += kGroupsOfBlock) {
        const std::int64_t groups = std::min(kGroupsOfBlock, arguments.groups - first);
        add_groups<kRows, kSets>(a + first * kRowsBytes, groups * kGroupBytes, kGroupBytes, groups, b, left, right);
      }
    }
    a += arguments.groups * kRowsBytes;
    ANYDML_ALL_ROWS
    for (std::size_t row = 0; row < kRows; ++row, totals += arguments.totals_step) {
      ANYDML_ALL_ROWS
      for (std::size_t set = 1; set < kSets; ++set) {
        left[row] = add(left[row], left[set * kRows + row]);
        right[row] = add(right[row], right[set * kRows + row]);
      }
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

template <std::size_t kBlock, std::size_t... kUnits>
constexpr std::array<IntegerBlock, sizeof...(kUnits)> all_dots(std::index_sequence<kUnits...>) {
  return {add_dots<kUnits + 1, kBlock>...};
}
