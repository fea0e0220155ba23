// SPDX-License-Identifier: MIT
// One divisor of many numbers.
#pragma once

#include "ops/scalar/lanes.h"

namespace anydml {

// For dividing many ordinary numbers by one that is above 0: four operations instead of a division, which takes longer,
// and the same bits. 1 / b is known to twice as many digits, so the first quotient is one of the two numbers next to
// the true one, and its remainder is exact. The upper half of the inverse is off by less than 2^-24 of itself, and so
// adding the remainder times it rounds as a division does (Markstein).
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
