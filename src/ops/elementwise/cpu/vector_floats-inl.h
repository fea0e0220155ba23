// SPDX-License-Identifier: MIT
// The modulus operators for floats. With x and y > 0 and any integer q, r = fma(-q, y, x) is x - q * y rounded once. If
// |x| >= y and 0 <= r < y, then r is exact, because the true value is a multiple of y's last place, and so r is the
// remainder regardless of q. If |x| < y, then q = 0 gives x itself, and floor's q = -1 gives x + y rounded once, as in
// the definition; no other q passes 0 <= r < y. Everything else fails that test: large quotients, zeros, infinities,
// NaN.
#if defined(ANYDML_VECTOR_FLOATS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_VECTOR_FLOATS_INL
#undef ANYDML_VECTOR_FLOATS_INL
#else
#define ANYDML_VECTOR_FLOATS_INL
#endif

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "ops/elementwise/cpu/vector_arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

// 0 <= r < y; false if either is NaN.
template <class DF, class V = hn::Vec<DF>>
HWY_INLINE hn::Mask<DF> is_remainder(DF d, V r, V y) {
#if HWY_TARGET == HWY_NEON
  // One comparison of the bits: negative numbers and NaN compare above every y that is not NaN.
  const hn::RebindToUnsigned<DF> d_bits;
  return hn::RebindMask(d, hn::Lt(hn::BitCast(d_bits, r), hn::BitCast(d_bits, y)));
#else
  return hn::And(hn::Ge(r, hn::Zero(d)), hn::Lt(r, y));
#endif
}

// If the quotient was rounded up to the next integer, -y <= r < 0. Then r is exact and r + y is the remainder.
template <class DF, class V = hn::Vec<DF>>
HWY_INLINE V settled(DF d, V r, V y) {
#if HWY_TARGET == HWY_NEON
  // Compared as bits, a negative number is larger than any positive number.
  const hn::RebindToUnsigned<DF> d_bits;
  if constexpr (sizeof(hn::TFromD<DF>) == 4) {
    return hn::BitCast(d, hn::Min(hn::BitCast(d_bits, r), hn::BitCast(d_bits, hn::Add(r, y))));
  }
#endif
  return hn::Add(r, hn::IfThenElseZero(hn::Lt(r, hn::Zero(d)), y));
}

// Computes the definition's result from m, the remainder of |a| divided by |b|, in any float type that represents the
// sum of m and b accurately enough.
template <bool kFloor, class DF, class V = hn::Vec<DF>>
HWY_INLINE V with_float_sign(DF d, V a, V b, V m) {
  const auto sign = hn::SignBit(d);
  const auto r = hn::Or(m, hn::And(a, sign));
  if constexpr (kFloor) {
    const auto differ =
        hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<DF>(), hn::Xor(a, b)))));
    const auto sum = hn::IfThenElse(differ, hn::Add(r, b), r);
    return hn::IfThenElse(hn::Eq(m, hn::Zero(d)), hn::And(b, sign), sum);
  } else {
    return r;
  }
}

// |a| mod |b| for any operands: x and y are |a| and |b| if |a| is finite and 0 < |b| < infinity, otherwise 0 and 1.
template <class DF>
struct Magnitudes {
  using V = hn::Vec<DF>;
  V x;
  V y;
  V special;  // the result where no division is needed
  hn::Mask<DF> usable;

  HWY_INLINE Magnitudes(DF d, V a, V b) {
    const auto infinity = hn::Set(d, std::numeric_limits<hn::TFromD<DF>>::infinity());
    const V a_magnitude = hn::Abs(a);
    const V b_magnitude = hn::Abs(b);
    const auto a_finite = hn::Lt(a_magnitude, infinity);
    usable = hn::And(a_finite, hn::And(hn::Gt(b_magnitude, hn::Zero(d)), hn::Lt(b_magnitude, infinity)));
    special = hn::IfThenElse(hn::And(a_finite, hn::Eq(b_magnitude, infinity)), a_magnitude, hn::NaN(d));
    x = hn::IfThenElseZero(usable, a_magnitude);
    y = hn::IfThenElse(usable, b_magnitude, hn::Set(d, 1));
  }

  HWY_INLINE V special_or(V m) const { return hn::IfThenElse(usable, m, special); }

  template <class Remainder>
  HWY_INLINE V with(Remainder remainder_of) const {
    return special_or(remainder_of(x, y));
  }
};

// One step of the long division: reduces r to [-y / 2, y / 2], or slightly more because the quotient is rounded.
template <class V>
HWY_INLINE V reduced(V r, V y, V inverse) {
  return hn::NegMulAdd(hn::Round(hn::Mul(r, inverse)), y, r);
}

// x mod y for FLOAT32 numbers, computed in FLOAT64: long division with 48 bits of the quotient per step. Each remainder
// is a multiple of the divisor's last place and smaller than the divisor, so it fits in 24 bits, and every step is
// exact.
template <class DF>
HWY_INLINE hn::Vec<DF> long_division(DF d, hn::Vec<DF> x, hn::Vec<DF> y) {
  const hn::Half<DF> d_half;
  const hn::Rebind<f64, decltype(d_half)> d_wide;
  using W = hn::Vec<decltype(d_wide)>;
  const W x0 = hn::PromoteTo(d_wide, hn::LowerHalf(d_half, x));
  const W x1 = hn::PromoteTo(d_wide, hn::UpperHalf(d_half, x));
  const W y0 = hn::PromoteTo(d_wide, hn::LowerHalf(d_half, y));
  const W y1 = hn::PromoteTo(d_wide, hn::UpperHalf(d_half, y));
  const W both = hn::Div(hn::Set(d_wide, 1.0), hn::Mul(y0, y1));
  W inverse0 = hn::Mul(both, y1);
  W inverse1 = hn::Mul(both, y0);
  // The largest quotient determines the number of steps for all lanes.
  const f64 quotient = hn::GetLane(hn::MaxOfLanes(d_wide, hn::Max(hn::Mul(x0, inverse0), hn::Mul(x1, inverse1))));
  const auto exponent = static_cast<int>(std::bit_cast<u64>(quotient) >> 52) - 1023;
  W r0 = x0;
  W r1 = x1;
  for (int shift = std::max(exponent, 0) / 48 * 48; shift > 0; shift -= 48) {
    const W up = hn::Set(d_wide, std::bit_cast<f64>(static_cast<u64>(1023 + shift) << 52));
    const W down = hn::Set(d_wide, std::bit_cast<f64>(static_cast<u64>(1023 - shift) << 52));
    r0 = reduced(r0, hn::Mul(y0, up), hn::Mul(inverse0, down));
    r1 = reduced(r1, hn::Mul(y1, up), hn::Mul(inverse1, down));
  }
  r0 = reduced(r0, y0, inverse0);
  r1 = reduced(r1, y1, inverse1);
  return hn::Combine(d, hn::DemoteTo(d_half, settled(d_wide, r1, y1)), hn::DemoteTo(d_half, settled(d_wide, r0, y0)));
}

// x mod y for FLOAT64 numbers: with x = X * 2^ex and y = Y * 2^ey, 1 <= X, Y < 2, it is (X * 2^(ex - ey) mod Y) * 2^ey.
// The power of two is applied 48 bits at a time; each remainder is exact for the reason above. Several vectors run in
// lockstep, since each step depends on the previous one.
template <std::size_t kVectors, class D, class V = hn::Vec<D>>
HWY_INLINE void long_divisions(D d, const V* x, const V* y, V* out) {
  const hn::RebindToUnsigned<D> d_bits;
  const auto integer_of = [&](auto bits) HWY_ATTR {  // up to 2^51
    const V lifted_integer = hn::BitCast(d, hn::Or(bits, hn::Set(d_bits, kTwoTo52Bits)));
    return hn::Sub(lifted_integer, hn::Set(d, 0x1p52));
  };
  const auto power_of_two = [&](V exponent) HWY_ATTR {  // for an integer in the range of normal exponents
    return hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(d_bits, hn::Add(exponent, hn::Set(d, 0x1p52 + 1023)))));
  };
  // Splits into significand and biased exponent; subnormals are scaled to normal numbers first.
  const auto split = [&](V v, V& significand) HWY_ATTR {
    const auto small = hn::Lt(v, hn::Set(d, 0x1p-1022));
    const auto bits = hn::BitCast(d_bits, hn::IfThenElse(small, hn::Mul(v, hn::Set(d, 0x1p54)), v));
    const auto fraction = hn::And(bits, hn::Set(d_bits, u64{FloatParts<f64>::kFraction}));
    significand = hn::BitCast(d, hn::Or(fraction, hn::Set(d_bits, u64{0x3FF} << 52)));
    return hn::Sub(integer_of(hn::ShiftRight<52>(bits)), hn::IfThenElseZero(small, hn::Set(d, 54.0)));
  };
  V r[kVectors], divisor[kVectors], inverse[kVectors], steps[kVectors], y_exponent[kVectors];
  V maximum = hn::Zero(d);
  for (std::size_t i = 0; i < kVectors; ++i) {
    V x_significand;
    const V x_exponent = split(x[i], x_significand);
    y_exponent[i] = split(y[i], divisor[i]);
    inverse[i] = hn::Div(hn::Set(d, 1.0), divisor[i]);
    const V gap = hn::Max(hn::Sub(x_exponent, y_exponent[i]), hn::Zero(d));
    steps[i] = hn::Floor(hn::Mul(hn::Add(gap, hn::Set(d, 0.5)), hn::Set(d, 1.0 / 48)));
    maximum = hn::Max(maximum, steps[i]);
    const V first = hn::Mul(x_significand, power_of_two(hn::NegMulAdd(steps[i], hn::Set(d, 48.0), gap)));
    r[i] = reduced(first, divisor[i], inverse[i]);
    inverse[i] = hn::Mul(inverse[i], hn::Set(d, 0x1p48));
  }
  const f64 last = hn::GetLane(hn::MaxOfLanes(d, maximum));
  for (f64 step = 0; step < last; ++step) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const V quotient = hn::Round(hn::Mul(r[i], inverse[i]));
      const V next = hn::NegMulAdd(quotient, divisor[i], hn::Mul(r[i], hn::Set(d, 0x1p48)));
      r[i] = hn::IfThenElse(hn::Gt(steps[i], hn::Set(d, step)), next, r[i]);
    }
  }
  for (std::size_t i = 0; i < kVectors; ++i) {
    // The scaling has two steps, because the whole power might not be representable.
    const V exponent = hn::Sub(y_exponent[i], hn::Set(d, 1023.0));
    const V half = hn::Floor(hn::Mul(exponent, hn::Set(d, 0.5)));
    const V scaled = hn::Mul(settled(d, r[i], divisor[i]), power_of_two(half));
    const V m = hn::Mul(scaled, power_of_two(hn::Sub(exponent, half)));
    out[i] = hn::IfThenElse(hn::Lt(x[i], y[i]), x[i], m);
  }
}

template <class T, bool kFloor>
requires(std::is_same_v<T, f32> || std::is_same_v<T, f64>) struct Arithmetic<T, kFloor> {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using ProvenTag = D;
  using Proven = hn::Mask<D>;
  static constexpr bool kAlwaysQuick = false;
  static constexpr std::size_t kUnroll = kUnrollSimple;
  static constexpr std::size_t kUnrollOneDivisor = kUnrollSimple;

  struct Divisor {
    V b;
    V y;
    V sign;
    V inverse;
    V nudge;
    HWY_INLINE explicit Divisor(T value) {
      const D d;
      b = hn::Set(d, value);
      y = hn::Abs(b);
      sign = hn::And(b, hn::SignBit(d));
      const V exact = hn::Div(hn::Set(d, 1), y);
      nudge = hn::Mul(exact, hn::Set(d, std::numeric_limits<T>::epsilon()));
      inverse = kFloor ? exact : hn::Add(exact, hn::Add(nudge, nudge));
    }
  };

  // The dividend for a divisor y > 0, and the sign of the result.
  static HWY_INLINE V dividend(V a, V b_sign) {
    if constexpr (kFloor) {
      return hn::Xor(a, b_sign);
    } else {
      return hn::Abs(a);
    }
  }
  static HWY_INLINE V integer(V quotient) {
    if constexpr (kFloor) {
      return hn::Floor(quotient);
    } else {
      return hn::Trunc(quotient);
    }
  }
  static HWY_INLINE V signed_again(D d, V a, V b_sign, V r) {
#if HWY_TARGET == HWY_NEON
    static_cast<void>(d);
    if constexpr (kFloor) {
      return hn::Or(r, b_sign);
    } else {
      return hn::CopySignToAbs(r, a);
    }
#else
    const V sign = hn::SignBit(d);
    if constexpr (kFloor) {
      return hn::Or(hn::AndNot(sign, r), b_sign);  // r may be -0, which counts as proven here
    } else {
      return hn::Or(r, hn::And(a, sign));
    }
#endif
  }

  static HWY_INLINE V quick(D d, V a, V b, Proven& proven) {
    const V b_sign = hn::And(b, hn::SignBit(d));
    const V y = hn::Abs(b);
    const V x = dividend(a, b_sign);
    const V r = hn::NegMulAdd(integer(hn::Div(x, y)), y, x);
    proven = hn::And(proven, is_remainder(d, r, y));
    return signed_again(d, a, b_sign, r);
  }

  // If x is a multiple of y, a quotient computed from the inverse could be too small, so it is increased by more than
  // the rounding errors so far.
  static HWY_INLINE V quotient(V x, const Divisor& divisor) {
    const V estimate = hn::Mul(x, divisor.inverse);
    return kFloor ? hn::MulAdd(hn::Abs(x), divisor.nudge, estimate) : estimate;
  }

  static HWY_INLINE V quick(D d, V a, const Divisor& divisor, Proven& proven) {
    const V x = dividend(a, divisor.sign);
    const V r = hn::NegMulAdd(integer(quotient(x, divisor)), divisor.y, x);
    proven = hn::And(proven, is_remainder(d, r, divisor.y));
    return signed_again(d, a, divisor.sign, r);
  }

  // Handles a common reason for unproven lanes: the quotient was merely rounded up to the next integer. Returns whether
  // this settles all lanes.
  static HWY_INLINE bool settles(D d, V a, V b, V& result) {
    const V b_sign = hn::And(b, hn::SignBit(d));
    const V y = hn::Abs(b);
    const V x = dividend(a, b_sign);
    const V r = settled(d, hn::NegMulAdd(integer(hn::Div(x, y)), y, x), y);
    result = signed_again(d, a, b_sign, r);
    return hn::AllTrue(d, is_remainder(d, r, y));
  }

  template <std::size_t kVectors>
  static HWY_NOINLINE void thorough(D d, const V* a, const V* b, V* out) {
    bool all = true;
    for (std::size_t i = 0; i < kVectors; ++i) {
      all = settles(d, a[i], b[i], out[i]) && all;
    }
    if (all) {
      return;
    }
    if constexpr (std::is_same_v<T, f32>) {
      for (std::size_t i = 0; i < kVectors; ++i) {
        const V m = Magnitudes<D>(d, a[i], b[i]).with([d](V x, V y) HWY_ATTR { return long_division(d, x, y); });
        out[i] = with_float_sign<kFloor>(d, a[i], b[i], m);
      }
    } else {
      constexpr std::size_t kTogether = kVectors < 4 ? kVectors : 4;
      for (std::size_t i = 0; i < kVectors; i += kTogether) {
        V x[kTogether], y[kTogether], m[kTogether];
        for (std::size_t k = 0; k < kTogether; ++k) {
          const Magnitudes<D> magnitudes(d, a[i + k], b[i + k]);
          x[k] = magnitudes.x;
          y[k] = magnitudes.y;
        }
        long_divisions<kTogether>(d, x, y, m);
        for (std::size_t k = 0; k < kTogether; ++k) {
          const Magnitudes<D> magnitudes(d, a[i + k], b[i + k]);
          out[i + k] = with_float_sign<kFloor>(d, a[i + k], b[i + k], magnitudes.special_or(m[k]));
        }
      }
    }
  }
};

template <bool kFloor>
struct F16Divisor {
  typename Arithmetic<f32, kFloor>::Divisor wide;
  hn::Vec<hn::ScalableTag<u16>> y_bits;
  hn::Vec<hn::ScalableTag<u16>> sign_bits;
  hn::Vec<hn::ScalableTag<f32>> small_y;  // scaled by 2^-112, for Arm's kernels
  hn::Vec<hn::ScalableTag<f32>> small_inverse;
  hn::Vec<hn::ScalableTag<f32>> small_nudge;

  HWY_INLINE explicit F16Divisor(f16 value) : wide(widen(value)) {
    const hn::ScalableTag<u16> d;
    const hn::ScalableTag<f32> d_float;
    small_y = hn::Mul(wide.y, hn::Set(d_float, 0x1p-112F));
    small_inverse = hn::Mul(wide.inverse, hn::Set(d_float, 0x1p112F));
    small_nudge = hn::Mul(wide.nudge, hn::Set(d_float, 0x1p112F));
    y_bits = hn::Set(d, static_cast<u16>(std::bit_cast<u16>(value) & 0x7FFF));
    sign_bits = hn::Set(d, static_cast<u16>(std::bit_cast<u16>(value) & 0x8000));
  }
};

// FLOAT16, computed in FLOAT32, so that each vector becomes two. The sum for floor may be rounded twice, first to 24
// bits; the result is the same as with a single rounding, since 24 >= 2 * 11 + 2.
template <bool kFloor>
struct Arithmetic<f16, kFloor> {
  using Wide = Arithmetic<f32, kFloor>;
  using D = hn::ScalableTag<u16>;
  using V = hn::Vec<D>;
  using DF = hn::ScalableTag<f32>;
  using F = hn::Vec<DF>;
  using Halves = hn::Rebind<hwy::float16_t, DF>;  // with the number of lanes of FLOAT32
  using Divisor = F16Divisor<kFloor>;
  static constexpr bool kAlwaysQuick = false;
  static constexpr std::size_t kUnroll = 4;
  static constexpr std::size_t kUnrollOneDivisor = 4;

  static HWY_INLINE F lower(V v) {
    const hn::Rebind<u16, DF> d_bits;
    return hn::PromoteTo(DF(), hn::BitCast(Halves(), hn::LowerHalf(d_bits, v)));
  }
  static HWY_INLINE F upper(V v) {
    const hn::Rebind<u16, DF> d_bits;
    return hn::PromoteTo(DF(), hn::BitCast(Halves(), hn::UpperHalf(d_bits, v)));
  }
  static HWY_INLINE V together(F low, F high) {
    const hn::Rebind<u16, DF> d_bits;
    return hn::Combine(D(), hn::BitCast(d_bits, hn::DemoteTo(Halves(), high)),
                       hn::BitCast(d_bits, hn::DemoteTo(Halves(), low)));
  }

#if HWY_TARGET == HWY_NEON
  // Conversions are slow here, so the bits are only shifted into position. For a finite number, this gives a FLOAT32
  // number that is smaller by a factor of 2^112. Remainders are smaller by the same factor, and quotients are
  // unchanged. Infinities and NaN become finite numbers and are left unproven.
  using ProvenTag = D;
  using Proven = hn::Mask<D>;

  static HWY_INLINE F lower_small(V magnitude) {
    return F(vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(magnitude.raw), 13)));
  }
  static HWY_INLINE F upper_small(V magnitude) { return F(vreinterpretq_f32_u32(vshll_high_n_u16(magnitude.raw, 13))); }

  template <class Quotient>
  static HWY_INLINE V finite(V a, V b_sign, V y, F y0, F y1, Proven& proven, Quotient quotient) {
    const D d;
    const DF d_float;
    const V sign = hn::Set(d, u16{0x8000});
    const V x = hn::AndNot(sign, a);
    proven = hn::And(proven, hn::Lt(hn::Max(x, y), hn::Set(d, u16{0x7C00})));
    F x0 = lower_small(x);
    F x1 = upper_small(x);
    if constexpr (kFloor) {  // the dividend is negative where the signs differ
      const V differ = hn::And(hn::Xor(a, b_sign), sign);
      x0 = hn::Or(x0, F(vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(differ.raw), 16))));
      x1 = hn::Or(x1, F(vreinterpretq_f32_u32(vshll_high_n_u16(differ.raw, 16))));
    }
    const F r0 = hn::NegMulAdd(Wide::integer(quotient(x0, y0)), y0, x0);
    const F r1 = hn::NegMulAdd(Wide::integer(quotient(x1, y1)), y1, x1);
    const auto good0 = vcltq_u32(vreinterpretq_u32_f32(r0.raw), vreinterpretq_u32_f32(y0.raw));
    const auto good1 = vcltq_u32(vreinterpretq_u32_f32(r1.raw), vreinterpretq_u32_f32(y1.raw));
    const auto good = vuzp1q_u16(vreinterpretq_u16_u32(good0), vreinterpretq_u16_u32(good1));
    proven = hn::And(proven, hn::MaskFromVec(V(good)));
    if constexpr (kFloor) {  // a sum may have too many digits, so it is converted with rounding
      const F scale = hn::Set(d_float, 0x1p112F);
      return hn::Or(together(hn::Mul(r0, scale), hn::Mul(r1, scale)), b_sign);
    } else {
      const auto low = vshrn_n_u32(vreinterpretq_u32_f32(r0.raw), 13);
      return V(vbslq_u16(sign.raw, a.raw, vshrn_high_n_u32(low, vreinterpretq_u32_f32(r1.raw), 13)));
    }
  }

  static HWY_INLINE V quick(D d, V a, V b, Proven& proven) {
    const V sign = hn::Set(d, u16{0x8000});
    const V y = hn::AndNot(sign, b);
    return finite(a, hn::And(b, sign), y, lower_small(y), upper_small(y), proven,
                  [](F xs, F ys) HWY_ATTR { return hn::Div(xs, ys); });
  }

  static HWY_INLINE V quick(D, V a, const Divisor& divisor, Proven& proven) {
    return finite(a, divisor.sign_bits, divisor.y_bits, divisor.small_y, divisor.small_y, proven,
                  [&](F xs, F) HWY_ATTR {
                    const F estimate = hn::Mul(xs, divisor.small_inverse);
                    return kFloor ? hn::MulAdd(hn::Abs(xs), divisor.small_nudge, estimate) : estimate;
                  });
  }
#else
  using ProvenTag = DF;
  using Proven = hn::Mask<DF>;

  static HWY_INLINE V quick(D, V a, V b, Proven& proven) {
    const DF d;
    const F low = Wide::quick(d, lower(a), lower(b), proven);
    return together(low, Wide::quick(d, upper(a), upper(b), proven));
  }

  static HWY_INLINE V quick(D, V a, const Divisor& divisor, Proven& proven) {
    const DF d;
    const F low = Wide::quick(d, lower(a), divisor.wide, proven);
    return together(low, Wide::quick(d, upper(a), divisor.wide, proven));
  }
#endif

  // The quotient is below 2^40, so two steps of 20 bits are enough.
  static HWY_INLINE F thorough_half(F a, F b) {
    const DF d;
    const F m = Magnitudes<DF>(d, a, b).with([d](F x, F y) HWY_ATTR {
      const F inverse = hn::Div(hn::Set(d, 1.0F), y);
      const F r = reduced(x, hn::Mul(y, hn::Set(d, 0x1p20F)), hn::Mul(inverse, hn::Set(d, 0x1p-20F)));
      return settled(d, reduced(r, y, inverse), y);
    });
    return with_float_sign<kFloor>(d, a, b, m);
  }

  template <std::size_t kVectors>
  static HWY_NOINLINE void thorough(D, const V* a, const V* b, V* out) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      out[i] = together(thorough_half(lower(a[i]), lower(b[i])), thorough_half(upper(a[i]), upper(b[i])));
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
