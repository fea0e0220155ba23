// SPDX-License-Identifier: MIT
// Divides many numbers by the same divisor.
#pragma once

#include "ops/scalar/lanes.h"

namespace anydml {

// Divides many ordinary numbers by one positive number. Four operations replace a slower division and give the same
// bits. The inverse of the divisor is known to twice the precision, so the first quotient is one of the two numbers
// next to the exact quotient, and its remainder can be computed exactly. The upper half of the inverse has a relative
// error below 2^-24, so adding the remainder times this upper half gives the correctly rounded quotient (Markstein).
struct OrdinaryDivisor {
  f32 divisor;
  f32 inverse;
  f32 rest_of_inverse;

  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr OrdinaryDivisor of(f32 b) {
    const f32 inverse = 1 / b;
    return {b, inverse, fused(-b, inverse, 1.0F) * inverse};
  }

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 quotient(f32 a) const {
    const f32 near = fused(a, inverse, a * rest_of_inverse);
    return fused(fused(-near, divisor, a), inverse, near);
  }
};

}  // namespace anydml
