// SPDX-License-Identifier: MIT
// ELEMENT_WISE_CLIP: max(min(x, Max), Min). Min and Max are converted to the tensor's type: floats round to nearest
// even, integers truncate and saturate. If any operand is NaN, the result is NaN. If x equals a bound, the result is
// the bound, which matters for the sign of a zero. If Min is above Max, Min wins.
#pragma once

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Clip {
  compute_t<T> min;
  compute_t<T> max;
  compute_t<T> last;  // for floats: added to the result. NaN if a bound is NaN, otherwise -0, which changes nothing

  ANYDML_HOST_DEVICE constexpr explicit Clip(const Attributes& attributes)
      : min(widen(attributes.values[0].as<T>())), max(widen(attributes.values[1].as<T>())), last(0) {
    if constexpr (is_float<T>) {
      last = is_nan(min) || is_nan(max) ? quiet_nan<compute_t<T>>() : -compute_t<T>{0};
    }
  }

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    if constexpr (is_float<T>) {
      const compute_t<T> low = select(x >= max, max, x);  // a NaN fails both comparisons and passes through
      return select(low <= min, min, low) + last;
    } else {
      const T low = x < max ? x : max;
      return low > min ? low : min;
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const { return narrow<T>(compute(widen(x))); }
};

}  // namespace anydml
