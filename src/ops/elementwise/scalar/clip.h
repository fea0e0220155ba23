// SPDX-License-Identifier: MIT
// ELEMENT_WISE_CLIP: max(min(x, Max), Min). Min and Max are taken in the tensor's type: floats round to nearest even,
// integers drop the fraction and stop at the type's limits. A NaN anywhere gives NaN; where x equals a bound the bound
// is taken, which shows in the sign of a zero; where Min is above Max, Min wins.
#pragma once

#include "base/scalar.h"

namespace anydml {

template <class T>
struct Clip {
  compute_t<T> min;
  compute_t<T> max;

  ANYDML_HOST_DEVICE constexpr explicit Clip(const Attributes& attributes)
      : min(widen(attributes.values[0].as<T>())), max(widen(attributes.values[1].as<T>())) {
    if constexpr (is_float<T>) {
      // Nothing is below or above a NaN, so two of them are what every x comes to.
      if (is_nan(min) || is_nan(max)) {
        min = max = quiet_nan<compute_t<T>>();
      }
    }
  }

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    const compute_t<T> low = x < max ? x : max;
    const compute_t<T> result = low > min ? low : min;
    if constexpr (is_float<T>) {
      return x != x ? x : result;
    } else {
      return result;
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const { return narrow<T>(compute(widen(x))); }
};

}  // namespace anydml
