// SPDX-License-Identifier: MIT
// ELEMENT_WISE_FLOOR: the largest integer not above x. Zeros keep their sign; infinities and NaN are unchanged. Floats
// only.
#pragma once

#include "base/float_bits.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Floor {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const { return round_down(x); }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
