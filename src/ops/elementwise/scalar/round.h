// SPDX-License-Identifier: MIT
// ELEMENT_WISE_ROUND: to the nearest integer, halves to the even one (RoundingMode 0) or away from 0 (2), or towards 0
// (1). Zeros and what becomes one keep their sign; infinities and NaN stay. Floats only.
#pragma once

#include "base/scalar.h"
#include "ops/elementwise/scalar/lanes.h"

namespace anydml {

template <class T>
struct Round {
  u32 mode;

  ANYDML_HOST_DEVICE constexpr explicit Round(const Attributes& attributes) : mode(attributes.values[0].as<u32>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    const compute_t<T> size = magnitude_of(x);
    const compute_t<T> down = round_down(size);
    const compute_t<T> rest = size - down;  // exact
    const compute_t<T> half{0.5};
    const compute_t<T> halved = down * half;
    const bool odd = round_down(halved) != halved;
    const bool up = mode == 0 ? (rest > half) | ((rest == half) & odd) : (mode == 2) & (rest >= half);
    return with_sign_of(down + static_cast<compute_t<T>>(up), x);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
