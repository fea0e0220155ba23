// SPDX-License-Identifier: MIT
// ELEMENT_WISE_CLIP: max(min(x, Max), Min). Min and Max are taken in the tensor's type: floats round to nearest even,
// integers drop the fraction and stop at the type's limits. A NaN anywhere gives NaN; where x equals a bound the bound
// is taken, which shows in the sign of a zero; where Min is above Max, Min wins.
#pragma once

#include "base/scalar.h"

namespace anydml {

template <class T>
struct Clip {
  T min;
  T max;

  ANYDML_HOST_DEVICE constexpr explicit Clip(const Attributes& attributes)
      : min(attributes.values[0].as<T>()), max(attributes.values[1].as<T>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const {
    if constexpr (is_float<T>) {
      if (is_nan(x) || is_nan(min) || is_nan(max)) {
        return quiet_nan<T>();
      }
      const T low = widen(x) < widen(max) ? x : max;
      return widen(low) > widen(min) ? low : min;
    } else {
      const T low = x < max ? x : max;
      return low > min ? low : min;
    }
  }
};

}  // namespace anydml
