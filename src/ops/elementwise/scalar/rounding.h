// SPDX-License-Identifier: MIT
// IEEE 754's roundings to an integer, which machines have instructions for: by their names, so that loops over them
// become vectors. Zeros keep their sign, infinities and NaN stay; the machine's rounding mode plays no part.
#pragma once

#include "base/element.h"

namespace anydml {

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T round_down(T x) {
#if defined(__CUDA_ARCH__)
  return ::floor(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_floorf(x);
  } else {
    return __builtin_floor(x);
  }
#endif
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T round_up(T x) {
#if defined(__CUDA_ARCH__)
  return ::ceil(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_ceilf(x);
  } else {
    return __builtin_ceil(x);
  }
#endif
}

}  // namespace anydml
