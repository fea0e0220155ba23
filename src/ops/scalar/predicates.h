// SPDX-License-Identifier: MIT
// ELEMENT_WISE_IS_NAN and ELEMENT_WISE_IS_INFINITY: 1 if x is NaN or infinite, respectively, else 0. Computed on the
// bits; floats only.
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

// InfinityMode: 0 either, 1 positive, 2 negative.
template <class T, class Truth>
struct IsInfinity {
  u32 mode;

  ANYDML_HOST_DEVICE constexpr explicit IsInfinity(const Attributes& attributes)
      : mode(attributes.values[0].as<u32>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T x) const
      requires(is_float<T> && (std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>)) {
    const bool positive = (to_bits(x) == FloatParts<T>::kInfinity) & (mode != 2);
    const bool negative =
        (to_bits(x) == static_cast<float_bits_t<T>>(FloatParts<T>::kInfinity | FloatParts<T>::kSign)) & (mode != 1);
    return static_cast<Truth>(positive | negative);
  }
};

}  // namespace anydml
