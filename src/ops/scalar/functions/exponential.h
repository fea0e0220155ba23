// SPDX-License-Identifier: MIT
// Functions based on the exponential function.
//
// exp(x) is an exact power of two times exp(r) for a small r; exp(r) - 1 is a polynomial. All functions here add exp(r)
// - 1 last, multiplied by an exact number, so that almost the only error is the final rounding.
#pragma once

#include "ops/scalar/functions/exponential_constants.h"
#include "ops/scalar/functions/function.h"

namespace anydml {

namespace exponential {

// Beyond these limits exp is infinite or 0 in FLOAT32. NaN passes through.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 clamped(f32 x, f32 minimum, f32 maximum) {
  x = select(x > maximum, maximum, x);
  return select(x < minimum, minimum, x);
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 clamped(f64 x, f64 minimum, f64 maximum) {
  x = select(x > maximum, maximum, x);
  return select(x < minimum, minimum, x);
}

// exp(x) = (part + 1) * power
struct Parts {
  f64 part;
  f64 power;
};

// Whether the error of `part` is less than an ulp of `part` itself, or only less than an ulp of 1, which saves one
// operation.
enum class Near { itself, one };

// exp(r) - 1 and 2^k for x = k ln 2 + r, on a GPU. Most of r is computed in FLOAT32, where the product of k and the
// high bits of ln 2 is exact, as is the difference. Valid for |x| <= 170.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Parts parts_on_gpu(f32 x) {
  constexpr f32 kShift = 0x1.8p23f + 1023;
  const f32 shifted = fused(x, static_cast<f32>(kLog2OfE), kShift);
  const f32 k = shifted - kShift;
  const f64 r = fused(f64{k}, -kLn2Rest, f64{fused(k, -static_cast<f32>(kLn2Short), x)});
  const f64 tail = horner(r, kExp2, kExp3, kExp4, kExp5, kExp6, kExp7, kExp8, kExp9, kExp10);
  return {fused(r * r, tail, r), from_bits<f64>(static_cast<u64>(to_bits(shifted) << 20) << 32)};
}

// x = k ln 2 + r. k is in the lowest bits of a sum that is too large to have a fraction, together with the bias of
// FLOAT64's exponent, so that a shift turns it into a power of two. Valid for x from -700 to 710; at 710, exp is
// infinite.
template <Near near = Near::itself>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Parts parts_of(f64 x) {
  constexpr f64 kShift = 0x1.8p52 + 1023;
  const f64 shifted = fused(x, kLog2OfE, kShift);
  const f64 k = shifted - kShift;
  f64 r = fused(k, -kLn2High, x);
  r = fused(k, -kLn2Low, r);
  // The polynomial is written as sums of products with powers of r, because on Arm, constant factors are free, but a
  // constant addend costs a move.
  const f64 r2 = r * r;
  const f64 r3 = r2 * r;
  const f64 r4 = r2 * r2;
  const f64 high = fused(r2, kExp10, fused(r, kExp9, kExp8));
  const f64 middle = fused(r4, high, fused(r3, kExp7, fused(r2, kExp6, fused(r, kExp5, kExp4))));
  const f64 part = near == Near::one ? fused(r4, middle, fused(r3, kExp3, fused(r2, kExp2, r)))
                                     : fused(r2, kExp2, fused(r4, middle, r3 * kExp3)) + r;
  return {part, from_bits<f64>(to_bits(shifted) << 52)};
}

// scale * (exp(x) - 1)
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 scaled_less_one(f64 x, f64 scale) {
  const Parts e = parts_of(x);
  const f64 power = scale * e.power;
  return fused(e.part, power, power - scale);
}

// 1 + exp(x)
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 one_and(Parts e) { return fused(e.part, e.power, e.power + 1.0); }

// For functions without attributes. Tests verify the results of these functions for every input, so GPUs and CPUs can
// use different methods.
template <Near near>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Parts proven_parts_of(f32 x) {
  if constexpr (kOnGpu) {
    return parts_on_gpu(x);
  } else {
    return parts_of<near>(f64{x});
  }
}

}  // namespace exponential

struct ExpOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    using namespace exponential;
    const Parts e = proven_parts_of<Near::one>(clamped(x, -104.0f, 89.0f));
    return fused(e.part, e.power, e.power);
  }
};
template <class T>
using Exp = Function<T, ExpOf>;

// 1 / (1 + exp(-x))
struct SigmoidOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    using namespace exponential;
    const f32 minus = clamped(-x, -104.0f, 104.0f);
    // Near 0 the true value is slightly closer to 1/2 than 1/2 + x/4. A FLOAT64 cannot represent that small difference,
    // but it decides the rounding if 1/2 + x/4 is the midpoint between two FLOAT32 values. So instead of 1, the
    // dividend is a nearby number, above 1 for x < 0 and below 1 for x > 0: the top bits of -x, read as an integer, are
    // 1 and 5 in these cases.
    const f64 one = from_bits<f64>(to_bits(f64{1.0}) + 2 - (to_bits(f64{minus}) >> 61));
    return quotient_of(one, one_and(proven_parts_of<Near::one>(minus)));
  }
};
template <class T>
using Sigmoid = Function<T, SigmoidOf>;

// x / (1 + exp(-SigmoidInputScale * x))
class SwishOf {
 public:
  ANYDML_HOST_DEVICE constexpr explicit SwishOf(const Attributes& attributes)
      : scale_(-static_cast<f64>(attributes.values[0].as<f32>())),
        more_(scale_ == 0.0 ? 0.0 : with_sign_of(0x1p-178, -scale_)),
        limit_(limit_of(scale_)) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    // Beyond these limits the exponential is so large that the result is 0, or so small that it does not change 1.
    const auto limit = static_cast<f32>(limit_);
    const f32 inside = exponential::clamped(x, -limit, limit);
    // For a tiny x the true value differs slightly from x / 2. A FLOAT64 cannot represent that small difference, but it
    // decides the rounding if x / 2 is the midpoint between two FLOAT32 values, which is possible only below 2^-126. So
    // a number is added that is too small to change a larger x.
    const f64 below = exponential::one_and(exponential::parts_of<exponential::Near::one>(scale_ * f64{inside}));
    return with_sign_of(quotient_of(f64{x} + more_, below), f64{x});
  }
  // If x is infinite, the result is x / 1, or NaN for infinity / infinity.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f32 x) const {
    return magnitude_of(x) > static_cast<f32>(kMax);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x) const {
    return select(scale_ * f64{x} < 0.0, f64{x}, quiet_nan<f64>());
  }

 private:
  static constexpr f64 kMax = 0x1.fffffep127;  // the largest finite FLOAT32

  // The x that yields 700 when multiplied by the scale's magnitude, or kMax if that x is not a FLOAT32.
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr f32 limit_of(f64 scale) {
    const f64 x = scale == 0.0 ? kMax : 700.0 / magnitude_of(scale);
    return static_cast<f32>(x > kMax ? kMax : x);
  }

  f64 scale_;
  f64 more_;
  f64 limit_;  // representable as a FLOAT32
};
template <class T>
using Swish = Function<T, SwishOf>;

// x >= 0 ? x : Alpha * (exp(x) - 1)
struct EluOf {
  f64 alpha;

  ANYDML_HOST_DEVICE constexpr explicit EluOf(const Attributes& attributes) : alpha(attributes.values[0].as<f32>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    const f64 below = exponential::scaled_less_one(f64{select(x < -104.0f, -104.0f, x)}, alpha);
    return select(f64{x} >= 0.0, f64{x}, below);
  }
};
template <class T>
using Elu = Function<T, EluOf>;

// max(0, x) + min(0, Alpha * (exp(x / Alpha) - 1)); one term is always 0, for either sign of Alpha.
struct CeluOf {
  f64 alpha;
  f64 inverse;

  ANYDML_HOST_DEVICE constexpr explicit CeluOf(const Attributes& attributes)
      : alpha(attributes.values[0].as<f32>()), inverse(1.0 / alpha) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    const f64 below = exponential::scaled_less_one(exponential::clamped(f64{x} * inverse, -104.0, 600.0), alpha);
    return select(f64{x} >= 0.0, f64{x}, below);
  }
};
template <class T>
using Celu = Function<T, CeluOf>;

// x > 0 ? Gamma * x : Gamma * (Alpha * exp(x) - Alpha)
struct ScaledEluOf {
  f64 both;
  f64 gamma;

  ANYDML_HOST_DEVICE constexpr explicit ScaledEluOf(const Attributes& attributes)
      : both(static_cast<f64>(attributes.values[0].as<f32>()) * static_cast<f64>(attributes.values[1].as<f32>())),
        gamma(attributes.values[1].as<f32>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    const f64 below = exponential::scaled_less_one(f64{select(x < -104.0f, -104.0f, x)}, both);
    return select(f64{x} > 0.0, gamma * f64{x}, below);
  }
};
template <class T>
using ScaledElu = Function<T, ScaledEluOf>;

}  // namespace anydml
