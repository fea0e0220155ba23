// SPDX-License-Identifier: MIT
// The gradient kernels as plain loops that the compiler vectorizes. This file is included like kernels-inl.h, after it.

#define ANYDML_FLATTEN __attribute__((flatten, noinline))

template <std::int32_t kRows, bool kBegins>
ANYDML_FLATTEN void add_some_rows(const std::byte* const* rows, const f32* weights, std::int64_t length,
                                  f32* __restrict to) noexcept {
  const auto* const x0 = reinterpret_cast<const Floats*>(rows[0]);
  const auto* const x1 = reinterpret_cast<const Floats*>(rows[kRows > 1 ? 1 : 0]);
  const auto* const x2 = reinterpret_cast<const Floats*>(rows[kRows > 2 ? 2 : 0]);
  const auto* const x3 = reinterpret_cast<const Floats*>(rows[kRows > 3 ? 3 : 0]);
  const f32 w0 = weights[0];
  const f32 w1 = weights[kRows > 1 ? 1 : 0];
  const f32 w2 = weights[kRows > 2 ? 2 : 0];
  const f32 w3 = weights[kRows > 3 ? 3 : 0];
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < length; ++i) {
    f32 sum = (kBegins ? 0.0F : to[i]) + x0[i] * w0;
    if constexpr (kRows > 1) {
      sum = sum + x1[i] * w1;
    }
    if constexpr (kRows > 2) {
      sum = sum + x2[i] * w2;
    }
    if constexpr (kRows > 3) {
      sum = sum + x3[i] * w3;
    }
    to[i] = sum;
  }
}

template <bool kBegins>
inline void add_rows_of(const std::byte* const* rows, const f32* weights, std::int32_t count, std::int64_t length,
                        f32* to) noexcept {
  switch (count) {
    case 1:
      return add_some_rows<1, kBegins>(rows, weights, length, to);
    case 2:
      return add_some_rows<2, kBegins>(rows, weights, length, to);
    case 3:
      return add_some_rows<3, kBegins>(rows, weights, length, to);
    default:
      return add_some_rows<4, kBegins>(rows, weights, length, to);
  }
}

inline void add_rows(const std::byte* const* rows, const f32* weights, std::int32_t count, bool begins,
                     std::int64_t length, f32* to) noexcept {
  if (begins) {
    add_rows_of<true>(rows, weights, count, length, to);
  } else {
    add_rows_of<false>(rows, weights, count, length, to);
  }
}

ANYDML_FLATTEN void divide_row(const f32* __restrict divisors, std::int64_t count, f32* __restrict row) noexcept {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    row[i] = row[i] / divisors[i];
  }
}

// Computes the columns [begin, end) from the table, two taps at a time. If the number of taps is odd, the last tap is
// added alone.
ANYDML_FLATTEN void add_by_table(const GradientTable& table, const f32* __restrict x, std::int64_t begin,
                                 std::int64_t end, f32* __restrict to) noexcept {
  std::int32_t t = 2;
  if (table.taps == 1) {
    const std::int32_t* __restrict const only = table.index;
    const f32* __restrict const a = table.weights;
    ANYDML_INDEPENDENT
    for (std::int64_t c = begin; c < end; ++c) {
      to[c] = 0.0F + x[only[c]] * a[c];
    }
  } else {
    const std::int32_t* __restrict const first = table.index;
    const std::int32_t* __restrict const second = table.index + table.count;
    const f32* __restrict const a = table.weights;
    const f32* __restrict const b = table.weights + table.count;
    ANYDML_INDEPENDENT
    for (std::int64_t c = begin; c < end; ++c) {
      to[c] = (0.0F + x[first[c]] * a[c]) + x[second[c]] * b[c];
    }
  }
  for (; t + 1 < table.taps; t += 2) {
    const std::int32_t* __restrict const first = table.index + t * table.count;
    const std::int32_t* __restrict const second = table.index + (t + 1) * table.count;
    const f32* __restrict const a = table.weights + t * table.count;
    const f32* __restrict const b = table.weights + (t + 1) * table.count;
    ANYDML_INDEPENDENT
    for (std::int64_t c = begin; c < end; ++c) {
      to[c] = (to[c] + x[first[c]] * a[c]) + x[second[c]] * b[c];
    }
  }
  if (t < table.taps) {
    const std::int32_t* __restrict const last = table.index + t * table.count;
    const f32* __restrict const a = table.weights + t * table.count;
    ANYDML_INDEPENDENT
    for (std::int64_t c = begin; c < end; ++c) {
      to[c] = to[c] + x[last[c]] * a[c];
    }
  }
}

// Computes the regular columns. kTaps: taps per column, or 0 for any number.
template <std::int32_t kAdvance, std::int32_t kTaps>
ANYDML_FLATTEN void add_regular(const GradientTable& table, const f32* __restrict from, f32* __restrict sums) noexcept {
  const f32* __restrict const x = from + table.regular_first;
  f32* __restrict const to = sums + table.begin;
  const std::int64_t count = table.end - table.begin;
  if constexpr (kTaps == 4) {
    const f32 w0 = table.regular[0];
    const f32 w1 = table.regular[1];
    const f32 w2 = table.regular[2];
    const f32 w3 = table.regular[3];
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      const f32* const at = x + kAdvance * i;
      to[i] = (((0.0F + at[0] * w0) + at[1] * w1) + at[2] * w2) + at[3] * w3;
    }
    return;
  }
  constexpr std::int64_t kBlock = 256;  // sums that stay in the L1 cache
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t some = std::min(kBlock, count - first);
    for (std::int32_t t = 0; t < table.regular_taps; ++t) {
      const f32* __restrict const at = x + kAdvance * first + t;
      f32* __restrict const sum = to + first;
      const f32 weight = table.regular[t];
      if (t == 0) {
        ANYDML_INDEPENDENT
        for (std::int64_t i = 0; i < some; ++i) {
          sum[i] = 0.0F + at[kAdvance * i] * weight;
        }
      } else {
        ANYDML_INDEPENDENT
        for (std::int64_t i = 0; i < some; ++i) {
          sum[i] = sum[i] + at[kAdvance * i] * weight;
        }
      }
    }
  }
}

inline void add_columns(const GradientTable& table, const f32* x, f32* to) noexcept {
  add_by_table(table, x, 0, table.begin, to);
  if (table.begin < table.end) {
    switch (table.advance) {
      case 1:
        add_regular<1, 0>(table, x, to);
        break;
      case 2:
        if (table.regular_taps == 4) {
          add_regular<2, 4>(table, x, to);
        } else {
          add_regular<2, 0>(table, x, to);
        }
        break;
      case 3:
        add_regular<3, 0>(table, x, to);
        break;
      default:
        add_regular<4, 0>(table, x, to);
        break;
    }
  }
  add_by_table(table, x, table.end, table.count, to);
}

inline GradientKernels find_gradient_kernels() {
  return {.add_rows = add_rows, .divide = divide_row, .add_columns = add_columns};
}

#undef ANYDML_FLATTEN
