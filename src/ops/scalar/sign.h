// SPDX-License-Identifier: MIT
// ELEMENT_WISE_SIGN: -1 below 0, 1 above 0, and +0 for zeros of either sign. NaN also yields +0, as in the documented
// formula.
#pragma once

#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Sign {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    if constexpr (is_float<T>) {
      return static_cast<compute_t<T>>(x > compute_t<T>{0}) - static_cast<compute_t<T>>(x < compute_t<T>{0});
    } else if constexpr (std::is_signed_v<T>) {
      return static_cast<T>((x > T{0} ? 1 : 0) - (x < T{0} ? 1 : 0));
    } else {
      return static_cast<T>(x != T{0} ? 1 : 0);
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const { return narrow<T>(compute(widen(x))); }
};

}  // namespace anydml
