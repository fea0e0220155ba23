// SPDX-License-Identifier: MIT
// ELEMENT_WISE_FLOOR: the greatest integer not above x. Zeros keep their sign, infinities and NaN stay. Floats only.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Floor {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    using F = FloatParts<T>;
    using Bits = typename F::Bits;
    const Bits bits = to_bits(x);
    const bool negative = (bits & F::kSign) != 0;
    const int exponent = static_cast<int>((bits & F::kMagnitude) >> F::kFractionBits) - F::kBias;
    if (exponent >= F::kFractionBits || (bits & F::kMagnitude) == 0) {
      return x;  // an integer already, an infinity, a NaN or a zero
    }
    if (exponent < 0) {
      return from_bits<T>(negative ? static_cast<Bits>(F::kSign | static_cast<Bits>(Bits{F::kBias} << F::kFractionBits))
                                   : Bits{0});  // -1 or 0
    }
    // The bits below the binary point go; a negative number first steps away from zero, which may carry into the
    // exponent and is then right all the same.
    const Bits below = static_cast<Bits>(F::kFraction >> exponent);
    return from_bits<T>(static_cast<Bits>((bits + (negative ? below : 0)) & static_cast<Bits>(~below)));
  }
};

}  // namespace anydml
