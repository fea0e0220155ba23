// SPDX-License-Identifier: MIT
// ELEMENT_WISE_IS_NAN and ELEMENT_WISE_IS_INFINITY: 1 where x is one, else 0. By bits; floats only.
#pragma once

#include "base/scalar.h"

namespace anydml {

template <class T, class Truth>
struct IsNan {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T x) const
      requires(is_float<T> && (std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>)) {
    return is_nan(x) ? Truth{1} : Truth{0};
  }
};

}  // namespace anydml
