// SPDX-License-Identifier: MIT
// The error function and what is made of it.
#pragma once

#include "ops/elementwise/scalar/functions/function.h"

namespace anydml {

// x / (1 + |x|). A division of FLOAT64 takes several times what all this does: the reciprocal in FLOAT32 is off by
// about 2^-24, and two terms of the series 1 / (1 - error) leave nothing of that. For an infinity the error is NaN.
struct SoftsignOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    const f64 x = value;
    const f64 inverse = 1.0f / (magnitude_of(value) + 1.0f);
    const f64 error = fused(-inverse, magnitude_of(x) + 1.0, 1.0);
    return (x * inverse) * (fused(error, error, error) + 1.0);
  }
};
template <class T>
using Softsign = Function<T, SoftsignOf>;

}  // namespace anydml
