// SPDX-License-Identifier: MIT
// ELEMENT_WISE_MAX: the greater of a and b. A NaN in either gives NaN, and +0 is above -0.
#pragma once

#include "ops/elementwise/scalar/lanes.h"

namespace anydml {

template <class T>
struct Max {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> a, compute_t<T> b) const {
    return greater_of(a, b);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return narrow<T>(compute(widen(a), widen(b)));
  }
};

}  // namespace anydml
