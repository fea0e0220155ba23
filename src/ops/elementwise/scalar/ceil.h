// SPDX-License-Identifier: MIT
// ELEMENT_WISE_CEIL: the least integer not below x, which is -floor(-x), signs of zeros included. Floats only.
#pragma once

#include "ops/elementwise/scalar/floor.h"
#include "ops/elementwise/scalar/negate.h"

namespace anydml {

template <class T>
struct Ceil {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    constexpr Negate<T> negate;
    return negate(Floor<T>{}(negate(x)));
  }
};

}  // namespace anydml
