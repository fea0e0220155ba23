// SPDX-License-Identifier: MIT
// ELEMENT_WISE_ABS: |x|. The sign bit of floats is cleared, even for NaN and -0; the smallest integer, which has no
// positive counterpart, is unchanged.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Abs {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const {
    if constexpr (is_float<T>) {
      return from_bits<T>(static_cast<float_bits_t<T>>(to_bits(x) & FloatParts<T>::kMagnitude));
    } else if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else {
      return x < T{0} ? static_cast<T>(wrapping_t<T>{0} - static_cast<wrapping_t<T>>(x)) : x;
    }
  }
};

}  // namespace anydml
