// SPDX-License-Identifier: MIT
// ELEMENT_WISE_DIVIDE: a / b. Floats round once to nearest even, with IEEE 754's rules for zeros and infinities.
// Integers truncate; the result is 0 if b = 0, and MIN / -1 wraps to MIN.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Divide {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> a, compute_t<T> b) const {
    if constexpr (is_float<T>) {
      return a / b;
    } else {
      if (b == 0) {
        return 0;
      }
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) {
          return static_cast<T>(wrapping_t<T>{0} - static_cast<wrapping_t<T>>(a));
        }
      }
      return static_cast<T>(a / b);
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return narrow<T>(compute(widen(a), widen(b)));
  }
};

}  // namespace anydml
