// SPDX-License-Identifier: MIT
// CAST: converts a number to a different type. Conversions from floats to integers truncate and saturate, and NaN
// becomes 0. Conversions between integers wrap. Conversions to floats round once to nearest even; numbers that are too
// large become infinities.
#pragma once

#include <limits>

#include "base/float_bits.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class From, class To>
struct Cast {
  using Input = compute_t<From>;
  using Output = compute_t<To>;  // for a cast to FLOAT16, a FLOAT32 that rounds to the result

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Output compute(Input x) const {
    if constexpr (std::is_same_v<To, f16>) {
      return before_f16(x);
    } else if constexpr (is_float<From> && !is_float<To>) {
      return float_to_integer(x);
    } else {
      return static_cast<To>(x);  // integers wrap; floats round once, in hardware
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr To operator()(From x) const {
    if constexpr (std::is_same_v<From, To>) {
      return x;
    } else {
      return narrow<To>(compute(widen(x)));
    }
  }

 private:
  // Constants, because CUDA device code may not call numeric_limits.
  static constexpr To kMin = std::numeric_limits<To>::min();
  static constexpr To kMax = std::numeric_limits<To>::max();
  static constexpr int kDigits = std::numeric_limits<To>::digits;

  ANYDML_HOST_DEVICE static constexpr To float_to_integer(Input x) {
    using Wide = std::conditional_t<sizeof(To) == 8, f64, Input>;
    using Whole = std::conditional_t<(sizeof(To) < 4), i32, To>;  // the type to which hardware converts
    constexpr int kPrecision = FloatParts<Wide>::kFractionBits + 1;
    // The largest integer plus one is a power of two, so it is exact even if the largest integer itself is not.
    using Bits = float_bits_t<Wide>;
    constexpr Bits kLimitBits = static_cast<Bits>(FloatParts<Wide>::kBias + kDigits) << FloatParts<Wide>::kFractionBits;
    constexpr Wide kLimit = from_bits<Wide>(kLimitBits);
    constexpr Wide kBelowLimit = kDigits > kPrecision ? from_bits<Wide>(kLimitBits - 1) : static_cast<Wide>(kMax);
    constexpr Wide kLowest = static_cast<Wide>(kMin);
    const Wide value = select(x == x, static_cast<Wide>(x), Wide{0});
    const Wide below = select(value >= kBelowLimit, kBelowLimit, value);
    const Wide within = select(below <= kLowest, kLowest, below);
    const To result = static_cast<To>(static_cast<Whole>(within));
    if constexpr (kDigits > kPrecision) {
      return select(value >= kLimit, kMax, result);
    } else {
      return result;
    }
  }

  // A FLOAT32 that rounds to the same FLOAT16 as x.
  ANYDML_HOST_DEVICE static constexpr f32 before_f16(Input x) {
    if constexpr (std::is_same_v<Input, f64>) {
      // The FLOAT32 digits of x, with the last digit set if any digit beyond it is nonzero. The result has more digits
      // than a FLOAT16, so it cannot be mistaken for a tie. Numbers beyond FLOAT32's range are beyond FLOAT16's too.
      constexpr int kDropped = FloatParts<f64>::kFractionBits - FloatParts<f32>::kFractionBits;
      constexpr u64 kLast = u64{1} << kDropped;
      const u64 bits = to_bits(x);
      const u64 sticky = (bits & (kLast - 1)) != 0 ? kLast : 0;
      return static_cast<f32>(from_bits<f64>((bits & ~(kLast - 1)) | sticky));
    } else if constexpr (is_float<From>) {
      return x;
    } else if constexpr (sizeof(From) >= 4) {
      // All integers beyond 65519 become infinities, and FLOAT32 represents every integer up to 2^24.
      constexpr From kInfinite = From{1} << 20;
      const From below = x < kInfinite ? x : kInfinite;
      if constexpr (std::is_signed_v<From>) {
        return static_cast<f32>(static_cast<i32>(below > -kInfinite ? below : -kInfinite));
      } else {
        return static_cast<f32>(static_cast<i32>(below));
      }
    } else {
      return static_cast<f32>(x);
    }
  }
};

}  // namespace anydml
