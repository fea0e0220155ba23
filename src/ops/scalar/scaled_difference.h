// SPDX-License-Identifier: MIT
// The last step of BATCH_NORMALIZATION: fma(x - mean, scale, bias) in FLOAT32. The difference is rounded, and the
// product and the sum are rounded together. The result is then rounded to the type of x.
#pragma once

#include <type_traits>

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct ScaledDifference {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 compute(f32 x, f32 mean, f32 scale, f32 bias) const {
    return fused(x - mean, scale, bias);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x, f32 mean, f32 scale, f32 bias) const
      requires(std::is_same_v<T, f32> || std::is_same_v<T, f16>) {
    return narrow<T>(compute(widen(x), mean, scale, bias));
  }
};

}  // namespace anydml
