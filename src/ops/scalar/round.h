// SPDX-License-Identifier: MIT
// ELEMENT_WISE_ROUND: to the nearest integer with ties to even (RoundingMode 0) or away from zero (2), or toward zero
// (1). Zeros, and numbers that round to zero, keep their sign; infinities and NaN are unchanged. Floats only.
#pragma once

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Round {
  u32 mode;

  ANYDML_HOST_DEVICE constexpr explicit Round(const Attributes& attributes) : mode(attributes.values[0].as<u32>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    // Branches are fine here, since they do not depend on the elements: compilers generate a separate loop for each
    // mode.
    if (mode == 0) {
      return round_even(x);
    }
    return mode == 2 ? round_away(x) : round_towards_zero(x);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
