// SPDX-License-Identifier: MIT
// ELEMENT_WISE_CEIL: the smallest integer not below x, which equals -floor(-x), including the signs of zeros. Floats
// only.
#pragma once

#include "base/float_bits.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Ceil {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const { return round_up(x); }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
