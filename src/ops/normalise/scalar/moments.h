// SPDX-License-Identifier: MIT
// Mean and variance normalisation, for kernels on every device. All is FLOAT32; FLOAT16 is widened before and rounded
// after. The sums have the order of fold_order.h.
//
//   mean      the sum of x, divided by their number; +0 where the mean is not used
//   d         x - mean
//   variance  the sum of d * d, divided by their number
//   result    fma(d, Scale / sqrt(variance + Epsilon), Bias), or fma(d, Scale, Bias) where the variance is not used
//
// A scale that is absent is 1, and a bias that is absent -0, which changes no sum.
#pragma once

#include "ops/normalise/scalar/sum.h"
#include "ops/scalar/lanes.h"

namespace anydml {

inline constexpr f32 kNoScale = 1;
inline constexpr f32 kNoBias = kNothing<f32>;

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 square_of_difference(f32 x, f32 mean) {
  const f32 difference = x - mean;
  return difference * difference;
}

// The divisor of the scale.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 root_of_variance(f32 variance, f32 epsilon) {
  return square_root(variance + epsilon);
}

// +0, and numbers that are far from overflow and from subnormal ones.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_ordinary(f32 x) {
  const f32 magnitude = magnitude_of(x);
  return (magnitude >= 0x1p-60F && magnitude <= 0x1p60F) || to_bits(x) == 0;
}

// a / b of two ordinary numbers, b above 0, for whoever divides many numbers by one: four times as fast as a division.
// inverse: 1 / b, rounded. The first product is within two units of the last place of the quotient. Adding the inverse
// of its remainder leaves one of the two numbers next to the quotient, whose own remainder is exact. With an inverse
// that is off by less than 2^-24 of itself, adding that rounds as a division does (Markstein).
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 ordinary_quotient(f32 a, f32 b, f32 inverse) {
  const f32 near = a * inverse;
  const f32 next = fused(fused(-near, b, a), inverse, near);
  return fused(fused(-next, b, a), inverse, next);
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 normalised(f32 x, f32 mean, f32 factor, f32 bias) {
  return fused(x - mean, factor, bias);
}

}  // namespace anydml
