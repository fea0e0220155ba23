// SPDX-License-Identifier: MIT
// Functions based on the logarithm.
#pragma once

#include "ops/scalar/functions/function.h"
#include "ops/scalar/functions/logarithm_constants.h"

namespace anydml {

struct LogOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    if constexpr (kOnGpu) {
      const Split of(x);
      return sum_of(static_cast<f64>(static_cast<i32>(of.exponent)), 0x1.62e42fefa39efp-24, f64{of.r});
    } else {
      return of_any(x);
    }
  }
  // On a GPU, positive normal numbers skip the work that only other inputs need.
  template <bool on_gpu = kOnGpu>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f32 x) const requires(on_gpu) {
    return to_bits(x) - to_bits(f32{0x1p-126f}) >= to_bits(from_bits<f32>(0x7f800000)) - to_bits(f32{0x1p-126f});
  }
  template <bool on_gpu = kOnGpu>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x) const requires(on_gpu) {
    return of_any(x);
  }

 private:
  // x = 2^k (1 + r), computed in FLOAT32, because a vector contains twice as many FLOAT32 values as FLOAT64 values. 1 +
  // r is from sqrt(1/2) to sqrt(2), and r is exact.
  struct Split {
    ANYDML_HOST_DEVICE constexpr explicit Split(f32 x)
        : exponent((to_bits(x) - to_bits(f32{0x1.6a09e6p-1f})) & 0xff800000),
          r(from_bits<f32>(to_bits(x) - exponent) - 1.0f) {}
    u32 exponent;  // k, in the bits of a FLOAT32 exponent
    f32 r;
  };

  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr f64 of_any(f32 x) {
    const bool subnormal = x < 0x1p-126f;
    const Split of(select(subnormal, x * 0x1p24f, x));
    // k / 2^24. For 0 and infinity, k is replaced with a FLOAT32 of the largest magnitude. Because of the scaling, the
    // result then overflows to infinity. Numbers without a logarithm yield NaN.
    f32 k = fused(static_cast<f32>(static_cast<i32>(of.exponent)), 0x1p-47f, select(subnormal, -0x18p-24f, 0.0f));
    const u32 negative = u32{0} - static_cast<u32>(x < 0.0f);
    k = select(x > 0.0f, k, from_bits<f32>(negative | 0xff7fffff));
    k = select(x < from_bits<f32>(0x7f800000), k, from_bits<f32>(to_bits(x) - 1));
    return sum_of(f64{k}, 0x1.62e42fefa39efp23, f64{of.r});
  }

  // ln(1 + r) + k ln2, where k and ln2 are scaled by powers of two that cancel each other.
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr f64 sum_of(f64 k, f64 ln2, f64 r) {
    using namespace logarithm;
    const f64 r2 = r * r;
    const f64 r4 = r2 * r2;
    const f64 r8 = r4 * r4;
    const f64 a0 = fused(fused(r, kLog5, kLog4), r2, fused(r, kLog3, kLog2));
    const f64 a1 = fused(fused(r, kLog9, kLog8), r2, fused(r, kLog7, kLog6));
    const f64 a2 = fused(fused(r, kLog13, kLog12), r2, fused(r, kLog11, kLog10));
    const f64 a3 = fused(fused(r, kLog17, kLog16), r2, fused(r, kLog15, kLog14));
    const f64 p = fused(fused(fused(r4, kLog18, a3), r4, a2), r8, fused(a1, r4, a0));
    const f64 sum = fused(k, ln2, fused(p, r2, r));
    // Sets the last bit, so that no sum is a midpoint between two FLOAT32 values, and no tie is rounded in the wrong
    // direction. If the sum would be a midpoint, the true value is above it.
    return from_bits<f64>(to_bits(sum) | 1);
  }
};
template <class T>
using Log = Function<T, LogOf>;

namespace logarithm {

// ln(1 + r) for 1 + r from sqrt(1/2) to sqrt(2).
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 log_near_one(f64 r) {
  const f64 r2 = kSubnormalsAreSlow ? select(r * r < 0x1p-240, 0.0, r * r) : r * r;
  const f64 r4 = r2 * r2;
  const f64 r8 = r4 * r4;
  const f64 a0 = fused(fused(r, kLog1p5, kLog1p4), r2, fused(r, kLog1p3, kLog1p2));
  const f64 a1 = fused(fused(r, kLog1p9, kLog1p8), r2, fused(r, kLog1p7, kLog1p6));
  const f64 a2 = fused(fused(r, kLog1p13, kLog1p12), r2, fused(r, kLog1p11, kLog1p10));
  const f64 a3 = fused(fused(r, kLog1p17, kLog1p16), r2, fused(r, kLog1p15, kLog1p14));
  const f64 a4 = fused(r2, kLog1p20, fused(r, kLog1p19, kLog1p18));
  const f64 p = fused(fused(a4, r8, fused(a3, r4, a2)), r8, fused(a1, r4, a0));
  return fused(p, r2, r);
}

// ln(u) for u >= 1. If u < sqrt(2), `excess` is u - 1 with all its digits, some of which u itself has lost. `last` is 1
// if the last bit should be set as in LOG, since the same ties occur here. If x is infinite or NaN, the result is x.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 log_above_one(f64 x, f64 u, f64 excess, u64 last) {
  constexpr f64 kSplit = 0x1.6a09e667f3bcdp0;
  const u64 above = to_bits(u) - to_bits(0.5 * kSplit);
  const f64 part = from_bits<f64>(to_bits(u) - (above & 0xfff0000000000000));
  const f64 k = from_bits<f64>((above >> 52) | to_bits(f64{0x1p52})) - 0x1p52;
  const f64 r = select(u < kSplit, excess, part - 1.0);
  const f64 sum = fused(k, 0x1.62e42fefa39efp-1, log_near_one(r));
  return select(x < from_bits<f64>(0x7ff0000000000000), from_bits<f64>(to_bits(sum) | last), x);
}

// ln(1 + exp(t)) for a FLOAT64 t: max(t, 0) + ln(1 + exp(-|t|)).
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 log_of_one_and_exp(f64 t) {
  // Anything below exp(-210) is negligible, even if it is divided by the smallest FLOAT32; NaN passes through.
  const f64 maximum = magnitude_of(t);
  const f64 x = -select(maximum > 210.0, 210.0, maximum);
  constexpr f64 kShift = 0x1.8p52;
  const f64 shifted = fused(x, 0x1.71547652b82fep0, kShift);
  const f64 k = shifted - kShift;
  f64 r = fused(k, -0x1.62e42fefa39efp-1, x);
  r = fused(k, -0x1.abc9e3b39803fp-56, r);
  const f64 r2 = r * r;
  const f64 r4 = r2 * r2;
  const f64 b0 = fused(fused(r, kExp3, kExp2), r2, r + 1.0);
  const f64 b1 = fused(fused(r, kExp7, kExp6), r2, fused(r, kExp5, kExp4));
  const f64 b2 = fused(fused(r, kExp11, kExp10), r2, fused(r, kExp9, kExp8));
  const f64 p = fused(fused(b2, r4, b1), r4, b0);
  const f64 e = p * from_bits<f64>((to_bits(shifted) << 52) + to_bits(f64{1.0}));
  // 1 + e, or half of 1 + e, which is equally exact.
  const bool large = e > 0x1.a827999fcef32p-2;
  const f64 excess = select(large, fused(e, 0.5, -0.5), e);
  // ln(2) is rounded up: with the nearest FLOAT64, softplus(0x39ea41d0) would wrongly be a tie.
  const f64 ln2 = select(large, 0x1.62e42fefa39fp-1, 0.0);
  return (select(t < 0.0, 0.0, t) + ln2) + log_near_one(excess);
}

}  // namespace logarithm

// ln(1 + exp(Steepness * x)) / Steepness, within 0.5001 units in the last place; correctly rounded if Steepness is 1.
// The product is exact in FLOAT64.
struct SoftplusOf {
  static constexpr bool kIsLong = true;
  f64 steepness;
  f64 inverse;

  ANYDML_HOST_DEVICE constexpr explicit SoftplusOf(const Attributes& attributes)
      : steepness(attributes.values[0].as<f32>()), inverse(1.0 / steepness) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    return logarithm::log_of_one_and_exp(steepness * static_cast<f64>(x)) * inverse;
  }
};
template <class T>
using Softplus = Function<T, SoftplusOf>;

// Alpha * ln(1 + exp(Beta * x)), within 0.5001 units in the last place.
struct ParametricSoftplusOf {
  static constexpr bool kIsLong = true;
  f64 alpha;
  f64 beta;

  ANYDML_HOST_DEVICE constexpr explicit ParametricSoftplusOf(const Attributes& attributes)
      : alpha(attributes.values[0].as<f32>()), beta(attributes.values[1].as<f32>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    return alpha * logarithm::log_of_one_and_exp(beta * static_cast<f64>(x));
  }
};
template <class T>
using ParametricSoftplus = Function<T, ParametricSoftplusOf>;

// ln(|x| + sqrt(x^2 + 1)) with the sign of x.
struct AsinhOf {
  static constexpr bool kIsLong = true;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    const f64 x = magnitude_of(static_cast<f64>(value));
    const f64 square = x * x;  // exact
    const f64 sum = square + 1.0;
    const f64 root = root_of<Last::near>(sum);
    // For small x, corrects the root by half of the difference between the exact sum and the square of the root.
    const f64 lost = 0.5 * (fused(-root, root, sum) + (square - (sum - 1.0)));
    const f64 result = logarithm::log_above_one(x, x + root, x + ((root - 1.0) + lost), 1);
    return with_sign_of(result, static_cast<f64>(value));
  }
};
template <class T>
using Asinh = Function<T, AsinhOf>;

// ln(x + sqrt(x^2 - 1)); NaN below 1.
struct AcoshOf {
  static constexpr bool kIsLong = true;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    f64 x{value};
    x = select(x < 1.0, quiet_nan<f64>(), x);
    const f64 root = root_of<Last::near>(fused(x, x, -1.0));
    // For the tie at 2^24, the true value is below the midpoint. All other ties are above 2^40, and their true values
    // are above the midpoint.
    return logarithm::log_above_one(x, x + root, (x - 1.0) + root, static_cast<u64>(x > 0x1p40));
  }
};
template <class T>
using Acosh = Function<T, AcoshOf>;

// With j chosen so that d = 2^j (1 - |x|) is close to 1 + |x|: ln((1 + |x|) / (1 - |x|)) / 2 is
// j ln(2) / 2 + atanh(s), where s = (1 + |x| - d) / (1 + |x| + d).
struct AtanhOf {
  static constexpr bool kIsLong = true;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    using namespace logarithm;
    const f64 x = magnitude_of(static_cast<f64>(value));
    const f64 above = 1.0 + x;
    const f64 below = 1.0 - x;
    // The difference between the bit patterns of two FLOAT64 values nearly equals the difference between their
    // logarithms.
    const u64 steps = (to_bits(above) - to_bits(below) + (u64{1} << 51)) & 0xfff0000000000000;
    const f64 d = from_bits<f64>(to_bits(below) + steps);
    f64 j = from_bits<f64>((steps >> 52) | to_bits(f64{0x1p52})) - 0x1p52;
    const f64 quotient = quotient_of<Last::near>(above - d, above + d);
    // Undefined beyond 1, and infinite at 1.
    const f64 s = select(steps == 0, x, quotient);
    j = select(x < 1.0, j, from_bits<f64>(x == 1.0 ? 0x7ff0000000000000 : 0x7ff8000000000000));
    const f64 t = kSubnormalsAreSlow ? fused(s, s, 0x1p-200) : s * s;
    const f64 t2 = t * t;
    const f64 t4 = t2 * t2;
    const f64 a0 = fused(t, kAtanh2, kAtanh1);
    const f64 a1 = fused(t, kAtanh4, kAtanh3);
    const f64 a2 = fused(t, kAtanh6, kAtanh5);
    const f64 a3 = fused(t, kAtanh8, kAtanh7);
    const f64 p = fused(fused(t4, kAtanh9, fused(a3, t2, a2)), t4, fused(a1, t2, a0));
    const f64 result = fused(j, 0x1.62e42fefa39efp-2, fused(p, t * s, s));
    return with_sign_of(result, static_cast<f64>(value));
  }
};
template <class T>
using Atanh = Function<T, AtanhOf>;

}  // namespace anydml
