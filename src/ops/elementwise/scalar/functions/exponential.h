// SPDX-License-Identifier: MIT
// What is made of the exponential function.
#pragma once

#include "ops/elementwise/scalar/functions/exponential_constants.h"
#include "ops/elementwise/scalar/functions/function.h"

namespace anydml {

struct ExpOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    using namespace exponential;
    f64 x = value;
    // Beyond these the result is infinite, or 0; NaN passes.
    x = select(x > 89.0, 89.0, x);
    x = select(x < -104.0, -104.0, x);
    // x = k ln 2 + r, k an integer, in the lowest bits of a sum that is too large for a fraction.
    constexpr f64 kShift = 0x1.8p52;
    const f64 shifted = fused(x, 0x1.71547652b82fep0, kShift);
    const f64 k = shifted - kShift;
    f64 r = fused(k, -0x1.62e42fefa39efp-1, x);
    r = fused(k, -0x1.abc9e3b39803fp-56, r);
    const f64 r2 = r * r;
    const f64 r4 = r2 * r2;
    const f64 a0 = r + 1.0;
    const f64 a1 = fused(r, kExp3, kExp2);
    const f64 a2 = fused(r, kExp5, kExp4);
    const f64 a3 = fused(r, kExp7, kExp6);
    const f64 a4 = fused(r, kExp9, kExp8);
    const f64 a5 = fused(r, kExp11, kExp10);
    const f64 b0 = fused(a1, r2, a0);
    const f64 b1 = fused(a3, r2, a2);
    const f64 b2 = fused(a5, r2, a4);
    const f64 p = fused(fused(b2, r4, b1), r4, b0);
    const f64 power = from_bits<f64>((to_bits(shifted) << 52) + to_bits(1.0));
    return p * power;
  }
};
template <class T>
using Exp = Function<T, ExpOf>;

}  // namespace anydml
