// SPDX-License-Identifier: MIT
// Compares bits. All NaNs are equal, and +0 and -0 differ.
#pragma once

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/float_bits.h"

namespace anydml::test {

template <class T>
struct UnsignedOf {
  using type = std::make_unsigned_t<T>;
};
template <>
struct UnsignedOf<f16> {
  using type = u16;
};
template <>
struct UnsignedOf<f32> {
  using type = u32;
};
template <>
struct UnsignedOf<f64> {
  using type = u64;
};

template <class T>
u64 bits_of(T value) {
  return __builtin_bit_cast(typename UnsignedOf<T>::type, value);
}

template <class T>
T from_raw(u64 bits) {
  return __builtin_bit_cast(T, static_cast<typename UnsignedOf<T>::type>(bits));
}

template <class T>
bool same(T a, T b) {
  if constexpr (is_float<T>) {
    if (is_nan(a) || is_nan(b)) {
      return is_nan(a) && is_nan(b);
    }
  }
  return bits_of(a) == bits_of(b);
}

// The value and its bits, for messages.
template <class T>
std::string show(T value) {
  char text[80];
  if constexpr (is_float<T>) {
    const double number = [&] {
      if constexpr (sizeof(T) == 2) {
        return static_cast<double>(widen(value));
      } else {
        return static_cast<double>(value);
      }
    }();
    std::snprintf(text, sizeof(text), "%.17g (0x%" PRIx64 ")", number, bits_of(value));
  } else if constexpr (std::is_signed_v<T>) {
    std::snprintf(text, sizeof(text), "%" PRId64, static_cast<i64>(value));
  } else {
    std::snprintf(text, sizeof(text), "%" PRIu64, static_cast<u64>(value));
  }
  return text;
}

}  // namespace anydml::test
