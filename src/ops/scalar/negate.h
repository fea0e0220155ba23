// SPDX-License-Identifier: MIT
// ELEMENT_WISE_NEGATE: -x. The sign bit of floats is flipped, even for NaN and 0; integers wrap.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Negate {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const {
    if constexpr (is_float<T>) {
      return from_bits<T>(static_cast<float_bits_t<T>>(to_bits(x) ^ FloatParts<T>::kSign));
    } else {
      return static_cast<T>(wrapping_t<T>{0} - static_cast<wrapping_t<T>>(x));
    }
  }
};

}  // namespace anydml
