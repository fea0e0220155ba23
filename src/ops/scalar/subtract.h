// SPDX-License-Identifier: MIT
// ELEMENT_WISE_SUBTRACT: a - b. Floats round once to nearest even; integers wrap.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Subtract {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> a, compute_t<T> b) const {
    if constexpr (is_float<T>) {
      return a - b;
    } else {
      return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return narrow<T>(compute(widen(a), widen(b)));
  }
};

}  // namespace anydml
