// SPDX-License-Identifier: MIT
// The hyperbolic functions.
#pragma once

#include "ops/scalar/functions/exponential.h"
#include "ops/scalar/functions/hyperbolic_constants.h"

namespace anydml {

namespace hyperbolic {

// The terms of the addition theorems for x = k ln 2 + r. cosh(k ln 2) and sinh(k ln 2) are exact, except where lost
// digits do not matter, and sinh(r) and cosh(r) - 1 are polynomials.
struct Parts {
  f64 cosh_k;
  f64 minus_sinh_k;  // +0 if k is 0, so that adding -0 keeps the sign
  f64 sinh_r;
  f64 cosh_r_less_one;
};

// Valid for |x| <= 700.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Parts parts_of(f64 x) {
  // 1022 instead of 1023, since half of a power of two is needed.
  constexpr f64 kShift = 0x1.8p52 + 1022;
  const f64 shifted = fused(x, exponential::kLog2OfE, kShift);
  const f64 k = shifted - kShift;
  f64 r = fused(k, -exponential::kLn2High, x);
  r = fused(k, -exponential::kLn2Low, r);
  const u64 bits = to_bits(shifted) << 52;
  const f64 up = from_bits<f64>(bits);
  const f64 down = from_bits<f64>((u64{2 * 1022} << 52) - bits);
  const f64 r2 = r * r;
  const f64 r4 = r2 * r2;
  const f64 s_low = fused(r2, kSinh5, kSinh3);
  const f64 s_high = fused(r4, kSinh11, fused(r2, kSinh9, kSinh7));
  const f64 c_low = fused(r2, kCosh4, kCosh2);
  const f64 c_high = fused(r4, kCosh10, fused(r2, kCosh8, kCosh6));
  return {up + down, down - up, r * fused(r2, fused(r4, s_high, s_low), 1.0), r2 * fused(r4, c_high, c_low)};
}

}  // namespace hyperbolic

struct SinhOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    const hyperbolic::Parts h = hyperbolic::parts_of(f64{exponential::clamped(x, -90.0f, 90.0f)});
    return fused(-h.minus_sinh_k, h.cosh_r_less_one, h.cosh_k * h.sinh_r) - h.minus_sinh_k;
  }
};
template <class T>
using Sinh = Function<T, SinhOf>;

struct CoshOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    const hyperbolic::Parts h = hyperbolic::parts_of(f64{exponential::clamped(x, -90.0f, 90.0f)});
    return fused(-h.minus_sinh_k, h.sinh_r, h.cosh_k * h.cosh_r_less_one) + h.cosh_k;
  }
};
template <class T>
using Cosh = Function<T, CoshOf>;

namespace hyperbolic {

// scale * tanh(x / 2) = scale * (exp(x) - 1) / (exp(x) + 1), except for the sign of zero. Valid for |x| <= 80.
template <Last last>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 scaled_tanh_of_half(exponential::Parts e, f64 scale) {
  const f64 power = e.power * scale;
  return quotient_of<last>(fused(e.part, power, power - scale), exponential::one_and(e));
}

}  // namespace hyperbolic

struct TanhOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    using namespace exponential;
    const Parts e = proven_parts_of<Near::itself>(2.0f * clamped(x, -20.0f, 20.0f));
    return with_sign_of(hyperbolic::scaled_tanh_of_half<Last::near>(e, 1.0), f64{x});
  }
};
template <class T>
using Tanh = Function<T, TanhOf>;

// Alpha * tanh(Beta * x)
struct ScaledTanhOf {
  f64 alpha;
  f64 twice_beta;

  ANYDML_HOST_DEVICE constexpr explicit ScaledTanhOf(const Attributes& attributes)
      : alpha(attributes.values[0].as<f32>()), twice_beta(2.0 * static_cast<f64>(attributes.values[1].as<f32>())) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    using namespace exponential;
    // Finite, because 0 * infinity would have an arbitrary sign if Alpha is 0.
    const f64 twice = clamped(twice_beta * f64{x}, -40.0, 40.0);
    const Parts e = parts_of(twice);
    return with_sign_of(hyperbolic::scaled_tanh_of_half<Last::exact>(e, alpha), alpha * twice);
  }
};
template <class T>
using ScaledTanh = Function<T, ScaledTanhOf>;

}  // namespace anydml
