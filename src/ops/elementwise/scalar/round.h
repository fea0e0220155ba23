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
    using C = compute_t<T>;
    // From here on all are integers; adding it rounds what is below to the nearest, halves to the even one.
    const C whole = sizeof(C) == sizeof(f64) ? static_cast<C>(0x1p52) : static_cast<C>(0x1p23);
    const C size = magnitude_of(x);
    const C down = round_down(size);
    const C even = select(size < whole, (size + whole) - whole, size);
    const C away = select(size - down >= C{0.5}, down + 1, down);
    return with_sign_of(select(mode == 0, even, select(mode == 2, away, down)), x);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
