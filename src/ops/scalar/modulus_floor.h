// SPDX-License-Identifier: MIT
// ELEMENT_WISE_MODULUS_FLOOR: a - b * floor(a / b), with an exact quotient; Python's %.
//
//   a non-zero result has b's sign          a zero result of floats has b's sign
//   integers: a % 0 and MIN % -1 are 0
//   floats:   b = +-0, a = +-inf or a NaN gives NaN; subnormals are kept; with m the exact truncated remainder, the
//             result is m; if m is not 0 and its sign differs from b's, it is m + b, rounded once to nearest even.
//             So for b = +-inf and a != 0: a if the signs agree, b if they differ.
#pragma once

#include "ops/scalar/modulus_truncate.h"

namespace anydml {

template <class T>
struct ModulusFloor {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    const T m = ModulusTruncate<T>{}(a, b);
    if constexpr (is_float<T>) {
      using F = FloatParts<T>;
      const auto m_bits = to_bits(m);
      const auto b_sign = static_cast<typename F::Bits>(to_bits(b) & F::kSign);
      if ((m_bits & F::kMagnitude) == 0) {
        return from_bits<T>(b_sign);
      }
      if ((m_bits & F::kMagnitude) > F::kInfinity || (m_bits & F::kSign) == b_sign) {
        return m;
      }
      // FLOAT16 is rounded twice here, to FLOAT32 and then to FLOAT16. The result is the same as with a single
      // rounding, since 24 >= 2 * 11 + 2.
      return narrow<T>(widen(m) + widen(b));
    } else if constexpr (std::is_signed_v<T>) {
      return m != 0 && (m < 0) != (b < 0) ? static_cast<T>(m + b) : m;
    } else {
      return m;
    }
  }
};

}  // namespace anydml
