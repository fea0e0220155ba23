// SPDX-License-Identifier: MIT
// CAST: the number in another type. Floats to integers drop the fraction and stop at the limits, and NaN gives 0.
// Integers to integers wrap. Anything to floats rounds once to nearest even; what is too large becomes an infinity.
#pragma once

#include <limits>

#include "base/float_bits.h"

namespace anydml {

template <class From, class To>
struct Cast {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr To operator()(From x) const {
    if constexpr (is_float<From> && is_float<To>) {
      return float_to_float(x);
    } else if constexpr (is_float<From>) {
      return float_to_integer(x);
    } else if constexpr (is_float<To>) {
      return integer_to_float(x);
    } else {
      return static_cast<To>(x);
    }
  }

 private:
  // Constants, not calls: CUDA device code may not call numeric_limits.
  static constexpr To kLeast = std::numeric_limits<To>::min();
  static constexpr To kMost = std::numeric_limits<To>::max();

  ANYDML_HOST_DEVICE static constexpr To float_to_float(From x) {
    if constexpr (std::is_same_v<From, To>) {
      return x;
    } else if constexpr (sizeof(From) > sizeof(To)) {
      return round_to<To>(x);
    } else {
      return widen_to<To>(x);
    }
  }

  ANYDML_HOST_DEVICE static constexpr To float_to_integer(From x) {
    if (is_nan(x)) {
      return To{0};
    }
    const f64 value = widen_to_f64(x);  // exact
    // One past the greatest is a power of two, so it is exact where the greatest itself may not be.
    constexpr f64 kLimit = 2.0 * static_cast<f64>(u64{1} << (std::numeric_limits<To>::digits - 1));
    if (value >= kLimit) {
      return kMost;
    }
    return value <= static_cast<f64>(kLeast) ? kLeast : static_cast<To>(value);
  }

  ANYDML_HOST_DEVICE static constexpr f64 widen_to_f64(From x) {
    if constexpr (std::is_same_v<From, f64>) {
      return x;
    } else {
      return widen_to<f64>(x);
    }
  }

  // In integers, whatever the machine's rounding mode.
  ANYDML_HOST_DEVICE static constexpr To integer_to_float(From x) {
    using F = FloatParts<To>;
    using Bits = typename F::Bits;
    bool negative = false;
    if constexpr (std::is_signed_v<From>) {
      negative = x < 0;
    }
    u64 magnitude = negative ? u64{0} - static_cast<u64>(x) : static_cast<u64>(x);
    if (magnitude == 0) {
      return from_bits<To>(Bits{0});
    }
    const int width = 64 - leading_zeros(magnitude);
    const int drop = width - (F::kFractionBits + 1);
    if (drop > 0) {
      const u64 lost = magnitude & ((u64{1} << drop) - 1);
      const u64 half = u64{1} << (drop - 1);
      magnitude >>= drop;
      magnitude += lost > half || (lost == half && (magnitude & 1) != 0) ? 1 : 0;
    } else {
      magnitude <<= -drop;
    }
    // The hidden bit adds one to the exponent, and so does a carry out of the rounding.
    const u64 exponent = static_cast<u64>(width - 1 + F::kBias - 1);
    u64 bits = (exponent << F::kFractionBits) + magnitude;
    bits = bits > F::kInfinity ? u64{F::kInfinity} : bits;
    return from_bits<To>(static_cast<Bits>(bits | (negative ? u64{F::kSign} : 0)));
  }
};

}  // namespace anydml
