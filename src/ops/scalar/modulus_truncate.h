// SPDX-License-Identifier: MIT
// ELEMENT_WISE_MODULUS_TRUNCATE: a - b * trunc(a / b), with an exact quotient; C's % and fmod.
//
//   a non-zero result has a's sign          a zero result of floats has a's sign
//   integers: b = 0 gives 0, MIN and -1 give 0
//   floats:   b = +-0, a = +-inf or a NaN gives NaN; b = +-inf gives a; subnormals are kept
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct ModulusTruncate {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      return of_floats(a, b);
    } else {
      if (b == 0) {
        return 0;
      }
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) {
          return 0;  // this includes MIN % -1, which would trap on x86
        }
      }
      return static_cast<T>(a % b);
    }
  }

 private:
  // Long division on the significands. With a = A * 2^ea and b = B * 2^eb, ea >= eb, the remainder is (A * 2^(ea - eb)
  // mod B) * 2^eb. The power of two is applied in steps, each with the maximum number of bits that 64-bit arithmetic
  // allows. Since R < B < 2^(fraction bits + 1), a step can shift by (63 - fraction bits): 53 for FLOAT16 (one more
  // step), 40 for FLOAT32 (up to 7 more steps) and 11 for FLOAT64 (up to 186 more steps). No floating-point operations
  // are involved.
  ANYDML_HOST_DEVICE static constexpr T of_floats(T a, T b) {
    using F = FloatParts<T>;
    using Bits = typename F::Bits;
    constexpr int kRoom = 63 - F::kFractionBits;
    const Bits sign = static_cast<Bits>(to_bits(a) & F::kSign);
    const Bits x = static_cast<Bits>(to_bits(a) & F::kMagnitude);
    const Bits y = static_cast<Bits>(to_bits(b) & F::kMagnitude);
    if (y == 0 || x >= F::kInfinity || y > F::kInfinity) {
      return quiet_nan<T>();
    }
    if (x < y) {
      return a;
    }
    // A subnormal has the exponent of the smallest normal numbers and no hidden bit.
    const int x_exponent = x < F::kHidden ? 1 : static_cast<int>(x >> F::kFractionBits);
    const int y_exponent = y < F::kHidden ? 1 : static_cast<int>(y >> F::kFractionBits);
    const u64 divisor = static_cast<u64>(y & F::kFraction) | (y < F::kHidden ? 0 : u64{F::kHidden});
    u64 remainder = static_cast<u64>(x & F::kFraction) | (x < F::kHidden ? 0 : u64{F::kHidden});
    remainder %= divisor;
    for (int gap = x_exponent - y_exponent; gap > 0 && remainder != 0; gap -= kRoom) {
      remainder = (remainder << (gap < kRoom ? gap : kRoom)) % divisor;
    }
    if (remainder == 0) {
      return from_bits<T>(sign);
    }
    // Move the leading one to the position of the hidden bit, or as far as the smallest exponent allows.
    const int wanted = leading_zeros(remainder) - kRoom;
    const int shift = wanted < y_exponent - 1 ? wanted : y_exponent - 1;
    const u64 exponent = static_cast<u64>(y_exponent - shift);
    // The hidden bit, if there is one, adds the 1 that is subtracted from the exponent here.
    const u64 magnitude = (remainder << shift) + ((exponent - 1) << F::kFractionBits);
    return from_bits<T>(static_cast<Bits>(sign | magnitude));
  }
};

}  // namespace anydml
