// SPDX-License-Identifier: MIT
// The expected results of both modulus operators, from arithmetic outside this project: 128-bit integers, and the C
// library's fmod, which is exact. Nothing here includes a scalar definition.
#pragma once

#include <cmath>

#include "support/bits.h"

namespace anydml::test {

template <class T>
struct Expected {
  T floor;
  T truncate;
};

#if defined(__aarch64__)
using MachineHalf = __fp16;  // on Arm, g++ 12 has no _Float16 in C++
#else
using MachineHalf = _Float16;
#endif

// Converts with the compiler and the hardware instead of base/float_bits.h.
inline double to_double(f16 value) { return static_cast<double>(__builtin_bit_cast(MachineHalf, value)); }
inline double to_double(f32 value) { return static_cast<double>(value); }
inline double to_double(f64 value) { return value; }

template <class T>
T from_double(double value) {
  if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(f16, static_cast<MachineHalf>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
Expected<T> oracle(T a, T b) {
  if constexpr (is_float<T>) {
    const double y = to_double(b);
    const double m = std::fmod(to_double(a), y);
    // The sum may round in double and again when converted to T. For FLOAT32 and FLOAT16 that equals rounding once,
    // since 53 >= 2 * 24 + 2; for FLOAT64 it only rounds once.
    const double floor = m == 0 ? std::copysign(0.0, y) : std::signbit(m) != std::signbit(y) ? m + y : m;
    return {from_double<T>(floor), from_double<T>(m)};
  } else {
    if (b == 0) {
      return {T{0}, T{0}};
    }
    // 64 bits suffice for every product of narrower types; with __int128 each division is a library call.
    __extension__ using Int128 = __int128;
    using Wide = std::conditional_t<sizeof(T) == 8, Int128, i64>;
    const auto x = static_cast<Wide>(a);
    const auto y = static_cast<Wide>(b);
    const Wide toward_zero = x / y;
    const Wide truncate = x - toward_zero * y;
    const Wide downward = truncate != 0 && (truncate < 0) != (y < 0) ? toward_zero - 1 : toward_zero;
    return {static_cast<T>(x - downward * y), static_cast<T>(truncate)};
  }
}

}  // namespace anydml::test
