// SPDX-License-Identifier: MIT
// The error function and functions based on it.
#pragma once

#include "ops/scalar/functions/error_function_constants.h"
#include "ops/scalar/functions/function.h"

namespace anydml {

// x / (1 + |x|). A FLOAT64 division would take several times as long as this code: the reciprocal in FLOAT32 has a
// relative error of about 2^-24, and two terms of the series for 1 / (1 - error) remove the error. If x is infinite,
// that error is NaN.
struct SoftsignOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    const f64 x{value};
    const f64 inverse{1.0f / (magnitude_of(value) + 1.0f)};
    const f64 error = fused(-inverse, magnitude_of(x) + 1.0, 1.0);
    return (x * inverse) * (fused(error, error, error) + 1.0);
  }
};
template <class T>
using Softsign = Function<T, SoftsignOf>;

struct ErfOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    using namespace error_function;
    // Beyond these limits the result is 1 or -1; NaN passes through.
    constexpr f32 kMax = 3.9375f;
    value = select(value > kMax, kMax, value);
    value = select(value < -kMax, -kMax, value);
    // A polynomial in x^2 - 7.5. At one end of the range all terms have the same sign, and at the other end they are
    // about as large as the result.
    const f64 x{value};
    const f64 t = fused(x, x, -7.5);
    const f64 t2 = t * t;
    const f64 t4 = t2 * t2;
    const f64 a0 = fused(fused(t, kErf3, kErf2), t2, fused(t, kErf1, kErf0));
    const f64 a1 = fused(fused(t, kErf7, kErf6), t2, fused(t, kErf5, kErf4));
    const f64 a2 = fused(fused(t, kErf11, kErf10), t2, fused(t, kErf9, kErf8));
    const f64 a3 = fused(fused(t, kErf15, kErf14), t2, fused(t, kErf13, kErf12));
    const f64 a4 = fused(fused(t, kErf19, kErf18), t2, fused(t, kErf17, kErf16));
    const f64 a5 = fused(fused(t, kErf23, kErf22), t2, fused(t, kErf21, kErf20));
    const f64 low = fused(fused(a2, t4, a1), t4, a0);
    const f64 high = fused(fused(a5, t4, a4), t4, a3);
    return x * fused(high, t4 * t4 * t4, low);
  }
};
template <class T>
using Erf = Function<T, ErfOf>;

// 0.5 x (1 + erf(x / sqrt(2))), which is x - |x| q above 0 and -|x| q below 0, where q = erfc(|x| / sqrt(2)) / 2.
struct GeluOf {
  static constexpr bool kIsLong = true;
  // Down to this limit, the fourth root of q is flat enough for a polynomial that loses few bits.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f32 x) const { return x < -4.5f; }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    using namespace error_function;
    // If x is 5.5 or more, the result is x. -0 is unchanged; NaN passes through.
    const f32 magnitude = magnitude_of(x);
    const f64 a{select(magnitude > 5.5f, 5.5f, magnitude)};
    const f64 positive{select(x < 0.0f, 0.0f, x)};
    const f64 t = a - 3.0;
    const f64 t2 = t * t;
    const f64 t4 = t2 * t2;
    const f64 a0 = fused(fused(t, kGelu3, kGelu2), t2, fused(t, kGelu1, kGelu0));
    const f64 a1 = fused(fused(t, kGelu7, kGelu6), t2, fused(t, kGelu5, kGelu4));
    const f64 a2 = fused(fused(t, kGelu11, kGelu10), t2, fused(t, kGelu9, kGelu8));
    const f64 a3 = fused(fused(t, kGelu15, kGelu14), t2, fused(t, kGelu13, kGelu12));
    const f64 a4 = fused(fused(t, kGelu19, kGelu18), t2, fused(t, kGelu17, kGelu16));
    const f64 a5 = fused(t, kGelu21, kGelu20);
    const f64 low = fused(fused(a2, t4, a1), t4, a0);
    const f64 high = fused(fused(a5, t4, a4), t4, a3);
    const f64 root = fused(high, t4 * t4 * t4, low);
    // For tiny x, square * square is slightly less than 1/2. This matters because half of an odd subnormal is a tie,
    // and the true value is above it.
    const f64 square = root * root;
    return fused(-a, square * square, positive);
  }
  // q = exp(-a^2 / 2) times approximately 1 / (sqrt(2 pi) a); a^2 is exact.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x) const {
    using namespace error_function;
    // Below -15 the result is -0; the value of 1 / a^2 does not matter in that range. For -infinity the last line
    // returns NaN.
    const f64 a{select(x < -15.0f, 15.0f, -x)};
    const f64 a_squared = a * a;
    const f64 v = quotient_of<Last::near>(1.0, a_squared);
    constexpr f64 kShift = 0x1.8p52;
    const f64 shifted = fused(a_squared, -0x1.71547652b82fep-1, kShift);
    const f64 k = shifted - kShift;
    f64 r = fused(k, -0x1.62e42fefa39efp-1, -0.5 * a_squared);
    r = fused(k, -0x1.abc9e3b39803fp-56, r);
    const f64 r2 = r * r;
    const f64 r4 = r2 * r2;
    const f64 b0 = fused(fused(r, kPower3, kPower2), r2, r + 1.0);
    const f64 b1 = fused(fused(r, kPower7, kPower6), r2, fused(r, kPower5, kPower4));
    const f64 b2 = fused(fused(r, kPower11, kPower10), r2, fused(r, kPower9, kPower8));
    const f64 power = fused(fused(b2, r4, b1), r4, b0) * from_bits<f64>((to_bits(shifted) << 52) + to_bits(f64{1.0}));
    const f64 v2 = v * v;
    const f64 v4 = v2 * v2;
    const f64 a0 = fused(fused(v, kGeluTail3, kGeluTail2), v2, fused(v, kGeluTail1, kGeluTail0));
    const f64 a1 = fused(fused(v, kGeluTail7, kGeluTail6), v2, fused(v, kGeluTail5, kGeluTail4));
    const f64 a2 = fused(fused(v, kGeluTail11, kGeluTail10), v2, fused(v, kGeluTail9, kGeluTail8));
    const f64 a3 = fused(fused(v, kGeluTail15, kGeluTail14), v2, fused(v, kGeluTail13, kGeluTail12));
    const f64 ratio = fused(fused(fused(a3, v4, a2), v4, a1), v4, a0);
    return fused(-ratio, power, static_cast<f64>(x - x));
  }
};
template <class T>
using Gelu = Function<T, GeluOf>;

}  // namespace anydml
