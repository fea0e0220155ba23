// SPDX-License-Identifier: MIT
// ELEMENT_WISE_MULTIPLY: a * b. Floats round once to nearest even; integers wrap.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Multiply {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    if constexpr (is_float<T>) {
      return narrow<T>(widen(a) * widen(b));
    } else {
      return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
    }
  }
};

}  // namespace anydml
