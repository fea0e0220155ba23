// SPDX-License-Identifier: MIT
// Mean and variance normalization, shared by the kernels of all devices. Everything is FLOAT32; FLOAT16 inputs are
// widened, and FLOAT16 results are rounded. Sums follow the order in fold_order.h.
//
//   mean      the sum of x divided by the count; +0 if the mean is not used
//   d         x - mean
//   variance  the sum of d * d divided by the count
//   result    fma(d, Scale / sqrt(variance + Epsilon), Bias), or fma(d, Scale, Bias) if the variance is not used
//
// An absent scale counts as 1, and an absent bias as -0, which does not change a sum.
#pragma once

#include "ops/normalize/scalar/divisor.h"
#include "ops/normalize/scalar/sum.h"
#include "ops/scalar/lanes.h"

namespace anydml {

inline constexpr f32 kNoScale = 1;
inline constexpr f32 kNoBias = kNothing<f32>;

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 square_of_difference(f32 x, f32 mean) {
  const f32 difference = x - mean;
  return difference * difference;
}

// The divisor for the scale.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 root_of_variance(f32 variance, f32 epsilon) {
  return square_root(variance + epsilon);
}

// +0, or a number far from overflow and from the subnormal range.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_ordinary(f32 x) {
  const f32 magnitude = magnitude_of(x);
  return (magnitude >= 0x1p-40F && magnitude <= 0x1p40F) || to_bits(x) == 0;
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 normalized(f32 x, f32 mean, f32 factor, f32 bias) {
  return fused(x - mean, factor, bias);
}

}  // namespace anydml
