// SPDX-License-Identifier: MIT
// Converts rows of totals to outputs, in plain loops that the compiler vectorizes. This file is included once for each
// target, inside the target's namespace, after ops/product/cpu/integer_kernels.h, ops/product/scalar/integer.h and
// backend/cpu/loops.h; it has no include guard.

inline i32 corrected(const IntegerRow& row, std::int64_t i) {
  u32 total = row.totals[i] + row.plus;
  if (row.column_sums != nullptr) {
    total -= row.zero * row.column_sums[i];
  }
  if (row.column_zeros != nullptr) {
    total -= row.column_zeros[i] * row.rest;
  }
  return static_cast<i32>(total);
}

// Calls store(i, total) for each element.
template <class Store>
inline void each_total(const IntegerRow& given, Store store) {
  const IntegerRow row = given;
  if (row.column_zeros != nullptr) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < row.count; ++i) {
      store(i, static_cast<i32>(row.totals[i] + row.plus - row.zero * row.column_sums[i] -
                                row.column_zeros[i] * row.rest));
    }
  } else if (row.column_sums != nullptr) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < row.count; ++i) {
      store(i, static_cast<i32>(row.totals[i] + row.plus - row.zero * row.column_sums[i]));
    }
  } else {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < row.count; ++i) {
      store(i, static_cast<i32>(row.totals[i] + row.plus));
    }
  }
}

template <class T>
inline void put(std::byte* to, std::int64_t i, T value) {
  std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

inline void to_int32(const IntegerRow& row, std::byte* to) noexcept {
  each_total(row, [=](std::int64_t i, i32 total) { put(to, i, total); });
}
inline void to_float32(const IntegerRow& row, const std::byte* bias, std::byte* to) noexcept {
  const f32* const factors = row.factors;
  if (bias == nullptr) {
    each_total(row, [=](std::int64_t i, i32 total) { put(to, i, scaled_total(total, factors[i])); });
    return;
  }
  each_total(row, [=](std::int64_t i, i32 total) {
    f32 added;
    std::memcpy(&added, bias + i * static_cast<std::int64_t>(sizeof(f32)), sizeof(added));
    put(to, i, scaled_total(total, factors[i]) + added);
  });
}
