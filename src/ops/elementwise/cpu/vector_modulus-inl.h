// SPDX-License-Identifier: MIT
// Both modulus operators on vectors of elements, once for each target that Highway compiles this file for. The same
// bits as the scalar definition.
//
// Arithmetic<T, kFloor> has, for vectors `a` and `b` of elements:
//   quick(d, a, b, proven)        fast; lanes it cannot answer for are taken out of `proven`
//   quick(d, a, divisor, proven)  the same for one divisor, prepared before the loop
//   thorough<n>(d, a, b, out)     right for every input; n vectors
//
// Floats. With x and y > 0 and any integer q, r = fma(-q, y, x) is x - q * y rounded once. If |x| >= y and 0 <= r < y,
// it was exact, because the true value is a multiple of y's last place, and so it is the remainder whatever q was. If
// |x| < y, then q = 0 gives x itself, and floor's q = -1 gives x + y rounded once, which is what the definition says;
// no other q passes 0 <= r < y. Everything else fails that test: large quotients, zeros, infinities, NaN.
//
// Integers of 16 and 32 bits, through floats of twice their width. Dividends are moved up by one half, so that the
// quotient is at least 1 / 2b away from an integer; every rounding on the way adds up to less than that. b = 0 becomes
// 1, whose remainder is 0.
#if defined(ANYDML_VECTOR_MODULUS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_VECTOR_MODULUS_INL
#undef ANYDML_VECTOR_MODULUS_INL
#else
#define ANYDML_VECTOR_MODULUS_INL
#endif

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ops/elementwise/scalar/modulus_floor.h"
#include "ops/elementwise/scalar/modulus_truncate.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors in lock step: as many as the registers hold. Arithmetic that needs more of them takes four.
inline constexpr std::size_t kUnrollSimple = HWY_TARGET == HWY_AVX2 ? 4 : 8;

template <class T, bool kFloor>
T scalar_modulus(T a, T b) {
  if constexpr (kFloor) {
    return ModulusFloor<T>{}(a, b);
  } else {
    return ModulusTruncate<T>{}(a, b);
  }
}

// Lane by lane: what no vector arithmetic is written for, and what is rare.
template <class T, bool kFloor, class D>
HWY_NOINLINE hn::Vec<D> by_lanes(D d, hn::Vec<D> a, hn::Vec<D> b) {
  constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(T);
  static_assert(sizeof(hn::TFromD<D>) == sizeof(T));
  alignas(HWY_MAX_BYTES) T x[kLanes];
  alignas(HWY_MAX_BYTES) T y[kLanes];
  hn::Store(a, d, reinterpret_cast<hn::TFromD<D>*>(x));
  hn::Store(b, d, reinterpret_cast<hn::TFromD<D>*>(y));
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    x[i] = scalar_modulus<T, kFloor>(x[i], y[i]);
  }
  return hn::Load(d, reinterpret_cast<const hn::TFromD<D>*>(x));
}

// ---------------------------------------------------------------------------------------------------- unsigned
// integers

// 2^52 and 2^84 as f64, 2^23 as f32: an integer in the low bits of such a number adds itself to it.
inline constexpr u32 kTwoTo23Bits = 0x4B00'0000U;
inline constexpr u64 kTwoTo52Bits = 0x4330'0000'0000'0000U;
inline constexpr u64 kTwoTo84Bits = 0x4530'0000'0000'0000U;

template <class U>
using FloatOfTwice = std::conditional_t<sizeof(U) == 2, f32, f64>;

// The even lanes of v, or its odd ones in their places, each below `upper`, which fills the odd places.
template <bool kOdd, class DU, class V = hn::Vec<DU>>
HWY_INLINE V below(DU d, V v, V upper) {
#if HWY_TARGET == HWY_NEON
  static_cast<void>(d);
  if constexpr (sizeof(hn::TFromD<DU>) == 2) {
    return V(kOdd ? vtrn2q_u16(v.raw, upper.raw) : vtrn1q_u16(v.raw, upper.raw));
  } else {
    return V(kOdd ? vtrn2q_u32(v.raw, upper.raw) : vtrn1q_u32(v.raw, upper.raw));
  }
#else
  if constexpr (kOdd) {
    constexpr int kBits = sizeof(hn::TFromD<DU>) * 8;
    const hn::RepartitionToWide<DU> d_wide;
    return hn::OddEven(upper, hn::BitCast(d, hn::ShiftRight<kBits>(hn::BitCast(d_wide, v))));
  } else {
    return hn::OddEven(upper, v);
  }
#endif
}

// The even or the odd lanes as floats of twice their width, plus 2^23 or 2^52.
template <bool kOdd, class DU>
HWY_INLINE auto lifted(DU d, hn::Vec<DU> v) {
  using U = hn::TFromD<DU>;
  const hn::Repartition<FloatOfTwice<U>, DU> d_float;
  const auto upper = hn::Set(d, static_cast<U>(sizeof(U) == 2 ? kTwoTo23Bits >> 16 : kTwoTo52Bits >> 32));
  return hn::BitCast(d_float, below<kOdd>(d, v, upper));
}

// x mod y for y > 0. 16 and 32 bits.
template <class DU>
HWY_INLINE hn::Vec<DU> remainder(DU d, hn::Vec<DU> x, hn::Vec<DU> y) {
  using U = hn::TFromD<DU>;
  using F = FloatOfTwice<U>;
  const hn::Repartition<F, DU> d_float;
  // 2^23 or 2^52; lifting gives it plus the integer, so subtracting a half less leaves x + 1/2.
  constexpr F kLift = sizeof(U) == 2 ? F(0x1p23) : F(0x1p52);
  const auto lift = hn::Set(d_float, kLift);
  const auto lift_less_half = hn::Set(d_float, kLift - F(0.5));
  const auto y_even = hn::Sub(lifted<false>(d, y), lift);
  const auto y_odd = hn::Sub(lifted<true>(d, y), lift);
  // One division serves both.
  const auto both = hn::Div(hn::Set(d_float, F(1)), hn::Mul(y_even, y_odd));
  // Rounding to nearest of (x + 1/2) / y - 1/2 truncates x / y; the sum with 1.5 * 2^23 has the quotient in its low
  // bits.
  const auto half = hn::Set(d_float, F(0.5));
  const auto to_integer = hn::Set(d_float, kLift * F(1.5));
  const auto x_even = hn::NegMulAdd(y_even, half, hn::Sub(lifted<false>(d, x), lift_less_half));
  const auto x_odd = hn::NegMulAdd(y_odd, half, hn::Sub(lifted<true>(d, x), lift_less_half));
  const auto q_even = hn::MulAdd(x_even, hn::Mul(both, y_odd), to_integer);
  const auto q_odd = hn::MulAdd(x_odd, hn::Mul(both, y_even), to_integer);
#if HWY_TARGET == HWY_NEON
  if constexpr (sizeof(U) == 2) {
    const auto q = vtrn1q_u16(vreinterpretq_u16_f32(q_even.raw), vreinterpretq_u16_f32(q_odd.raw));
    return hn::Vec<DU>(vmlsq_u16(x.raw, q, y.raw));
  } else {
    const auto q = vtrn1q_u32(vreinterpretq_u32_f64(q_even.raw), vreinterpretq_u32_f64(q_odd.raw));
    return hn::Vec<DU>(vmlsq_u32(x.raw, q, y.raw));
  }
#else
  const hn::RebindToUnsigned<decltype(d_float)> d_wide;
  const auto q_odd_up = hn::BitCast(d, hn::ShiftLeft<sizeof(U) * 8>(hn::BitCast(d_wide, q_odd)));
  const auto q = hn::OddEven(q_odd_up, hn::BitCast(d, q_even));
  return hn::Sub(x, hn::Mul(q, y));
#endif
}

// 8 bits.
#if HWY_TARGET == HWY_NEON
struct ReciprocalTable {
  u8 entries[64] = {};
  constexpr ReciprocalTable() {
    for (unsigned y = 1; y < 64; ++y) {
      entries[y] = static_cast<u8>(y == 1 ? 255 : 256 / y);
    }
  }
};
inline constexpr ReciprocalTable kReciprocals;

// q from the table is x / y or one less below y = 64, and 0 from there on, where x / y is at most 3.
template <int kSubtractions>
HWY_INLINE uint8x16_t remainder_bytes(uint8x16_t x, uint8x16_t y) {
  const uint8x16_t inverse = vqtbl4q_u8(vld1q_u8_x4(kReciprocals.entries), y);
  const uint16x8_t low = vmull_u8(vget_low_u8(x), vget_low_u8(inverse));
  const uint16x8_t high = vmull_high_u8(x, inverse);
  const uint8x16_t q = vuzp2q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
  uint8x16_t r = vmlsq_u8(x, q, y);
  for (int i = 0; i < kSubtractions; ++i) {
    r = vminq_u8(r, vsubq_u8(r, y));
  }
  return r;
}
#elif HWY_TARGET == HWY_AVX3
struct ReciprocalTable {
  alignas(64) u16 entries[64] = {};
  constexpr ReciprocalTable() {
    for (unsigned y = 1; y < 64; ++y) {
      entries[y] = static_cast<u16>(y == 1 ? 65535 : 65536 / y);
    }
  }
};
inline constexpr ReciprocalTable kReciprocals;

// Bytes at even and odd places in turn, as 16 bits. q from the table is x / y or one less below y = 64, and 0 from
// there on, where x / y is at most 3.
template <class DU>
HWY_INLINE hn::Vec<DU> remainder_bytes(DU d, hn::Vec<DU> x, hn::Vec<DU> y) {
  const hn::Repartition<u16, DU> d_wide;
  const auto lower = hn::Load(d_wide, kReciprocals.entries);
  const auto upper = hn::Load(d_wide, kReciprocals.entries + 32);
  const auto byte = hn::Set(d_wide, u16{0xFF});
  const auto one = [&](auto xs, auto ys) HWY_ATTR {
    const auto below_64 = _mm512_cmplt_epu16_mask(ys.raw, _mm512_set1_epi16(64));
    const auto inverse = _mm512_maskz_permutex2var_epi16(below_64, lower.raw, ys.raw, upper.raw);
    return hn::Sub(xs, hn::Mul(hn::MulHigh(xs, decltype(xs){inverse}), ys));
  };
  const auto x2 = hn::BitCast(d_wide, x);
  const auto y2 = hn::BitCast(d_wide, y);
  const auto even = one(hn::And(x2, byte), hn::And(y2, byte));
  const auto odd = one(hn::ShiftRight<8>(x2), hn::ShiftRight<8>(y2));
  auto r = hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
  for (int i = 0; i < 3; ++i) {
    r = hn::Min(r, hn::Sub(r, y));
  }
  return r;
}
#else
// Four bytes of 32 bits at a time, as FLOAT32, made and taken apart by 2^23. The hardware's estimate of 1 / y is good
// to 2^-11 at least, and the quotient below 2^8: its error is far less than the half that the dividends are moved up
// by.
template <class DU>
HWY_INLINE hn::Vec<DU> remainder_bytes(DU d, hn::Vec<DU> x, hn::Vec<DU> y) {
  const hn::Repartition<f32, DU> d_float;
  const hn::Repartition<u32, DU> d_four;
  const auto byte = hn::Set(d_four, u32{0xFF});
  const auto lift_bits = hn::Set(d_four, kTwoTo23Bits);
  const auto lift = hn::Set(d_float, 0x1p23F);
  const auto lift_less_half = hn::Set(d_float, 0x1p23F - 0.5F);
  const auto to_integer = hn::Set(d_float, 0x1.8p23F);
  const auto half = hn::Set(d_float, 0.5F);
  const auto one = [&](auto xs, auto ys) HWY_ATTR {
    const auto x_half = hn::Sub(hn::BitCast(d_float, hn::Or(xs, lift_bits)), lift_less_half);
    const auto y_float = hn::Sub(hn::BitCast(d_float, hn::Or(ys, lift_bits)), lift);
    const auto inverse = hn::ApproximateReciprocal(y_float);
    const auto q = hn::Sub(hn::MulAdd(hn::NegMulAdd(y_float, half, x_half), inverse, to_integer), to_integer);
    const auto r_lifted = hn::Add(hn::NegMulAdd(q, y_float, x_half), lift_less_half);
    return hn::And(hn::BitCast(d_four, r_lifted), byte);
  };
  const auto x4 = hn::BitCast(d_four, x);
  const auto y4 = hn::BitCast(d_four, y);
  const auto r0 = one(hn::And(x4, byte), hn::And(y4, byte));
  const auto r1 = one(hn::And(hn::ShiftRight<8>(x4), byte), hn::And(hn::ShiftRight<8>(y4), byte));
  const auto r2 = one(hn::And(hn::ShiftRight<16>(x4), byte), hn::And(hn::ShiftRight<16>(y4), byte));
  const auto r3 = one(hn::ShiftRight<24>(x4), hn::ShiftRight<24>(y4));
  return hn::BitCast(d, hn::Or(hn::Or(r0, hn::ShiftLeft<8>(r1)), hn::Or(hn::ShiftLeft<16>(r2), hn::ShiftLeft<24>(r3))));
}
#endif

// One divisor for a whole row. `inverse` is 2^bits / y, rounded down: x * inverse / 2^bits is then x / y or one less.
template <class U>
struct UnsignedDivisor {
  using DU = hn::ScalableTag<U>;
  hn::Vec<DU> y;
  hn::Vec<DU> inverse;

  HWY_INLINE explicit UnsignedDivisor(U divisor) {
    const DU d;
    const U nonzero = divisor == 0 ? U{1} : divisor;
    constexpr u64 kPower = u64{1} << (sizeof(U) * 8);
    y = hn::Set(d, nonzero);
    inverse = hn::Set(d, static_cast<U>(nonzero == 1 ? kPower - 1 : kPower / nonzero));
  }

  HWY_INLINE hn::Vec<DU> remainder(hn::Vec<DU> x) const {
#if HWY_TARGET == HWY_NEON
    const auto quotient = [&]() HWY_ATTR {
      if constexpr (sizeof(U) == 1) {
        const auto low = vmull_u8(vget_low_u8(x.raw), vget_low_u8(inverse.raw));
        return vuzp2q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(vmull_high_u8(x.raw, inverse.raw)));
      } else if constexpr (sizeof(U) == 2) {
        const auto low = vmull_u16(vget_low_u16(x.raw), vget_low_u16(inverse.raw));
        return vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(vmull_high_u16(x.raw, inverse.raw)));
      } else {
        const auto low = vmull_u32(vget_low_u32(x.raw), vget_low_u32(inverse.raw));
        return vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(vmull_high_u32(x.raw, inverse.raw)));
      }
    }();
    const auto r = [&]() HWY_ATTR {
      if constexpr (sizeof(U) == 1) {
        return hn::Vec<DU>(vmlsq_u8(x.raw, quotient, y.raw));
      } else if constexpr (sizeof(U) == 2) {
        return hn::Vec<DU>(vmlsq_u16(x.raw, quotient, y.raw));
      } else {
        return hn::Vec<DU>(vmlsq_u32(x.raw, quotient, y.raw));
      }
    }();
    return hn::Min(r, hn::Sub(r, y));
#else
    const DU d;
    if constexpr (sizeof(U) == 1) {
      // Bytes have no multiplication: those at even and odd places in turn, as 16 bits.
      const hn::Repartition<u16, DU> d_wide;
      const auto y_wide = hn::ShiftRight<8>(hn::BitCast(d_wide, y));
      const auto inverse_wide = hn::ShiftRight<8>(hn::BitCast(d_wide, inverse));
      const auto one = [&](auto xs) HWY_ATTR {
        const auto r = hn::Sub(xs, hn::Mul(hn::ShiftRight<8>(hn::Mul(xs, inverse_wide)), y_wide));
        return hn::Min(r, hn::Sub(r, y_wide));
      };
      const auto x2 = hn::BitCast(d_wide, x);
      const auto even = one(hn::And(x2, hn::Set(d_wide, u16{0xFF})));
      const auto odd = one(hn::ShiftRight<8>(x2));
      return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
    } else {
      const auto quotient = [&]() HWY_ATTR {
        if constexpr (sizeof(U) == 2) {
          return hn::MulHigh(x, inverse);
        } else {
          const hn::Repartition<u64, DU> d_wide;
          const auto even = hn::MulEven(x, inverse);
          const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d_wide, x))), inverse);
          return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
        }
      }();
      const auto r = hn::Sub(x, hn::Mul(quotient, y));
      return hn::Min(r, hn::Sub(r, y));
    }
#endif
  }
};

// 64 bits in f64, for divisors below 2^50. The dividend's upper half is reduced first: its quotient is good to 53 bits,
// so that what remains is an integer of less than 2^51, and exact; with the lower half added it is reduced again.
template <class DU>
struct WideRemainder {
  using DF = hn::RebindToFloat<DU>;

  static HWY_INLINE hn::Vec<DF> divisor(DU d, hn::Vec<DU> y) {
    const DF d_float;
    const auto bits = hn::Or(y, hn::Set(d, kTwoTo52Bits));
    return hn::Sub(hn::BitCast(d_float, bits), hn::Set(d_float, 0x1p52));
  }

  static HWY_INLINE hn::Vec<DU> remainder(DU d, hn::Vec<DU> x, hn::Vec<DF> y, hn::Vec<DF> inverse) {
    const DF d_float;
    const hn::Repartition<u32, DU> d_half;
    const auto high_bits = below<true>(d_half, hn::BitCast(d_half, x), hn::Set(d_half, u32{kTwoTo84Bits >> 32}));
    const auto high = hn::Sub(hn::BitCast(d_float, high_bits), hn::Set(d_float, 0x1p84));
    const auto low_bits = below<false>(d_half, hn::BitCast(d_half, x), hn::Set(d_half, u32{kTwoTo52Bits >> 32}));
    const auto low = hn::Sub(hn::BitCast(d_float, low_bits), hn::Set(d_float, 0x1p52));
    auto r = hn::NegMulAdd(hn::Round(hn::Mul(high, inverse)), y, high);
    r = hn::Add(r, low);
    r = hn::NegMulAdd(hn::Round(hn::Mul(r, inverse)), y, r);
    r = hn::Add(r, hn::IfThenElseZero(hn::Lt(r, hn::Zero(d_float)), y));
    return hn::Xor(hn::BitCast(d, hn::Add(r, hn::Set(d_float, 0x1p52))), hn::Set(d, kTwoTo52Bits));
  }

  static HWY_INLINE hn::Mask<DU> small_enough(DU d, hn::Vec<DU> y) {
    return hn::Eq(hn::ShiftRight<50>(y), hn::Zero(d));
  }
};

// The signs around an unsigned remainder m of |a| by |b|. Signs are compared, not shifted: that is faster on Arm. The
// arithmetic is that of unsigned numbers, since lanes that are not proven may hold anything.
template <bool kFloor, class D, class V = hn::Vec<D>>
HWY_INLINE V with_sign(D d, V a, V b, hn::Vec<hn::RebindToUnsigned<D>> m) {
  const hn::RebindToUnsigned<D> d_unsigned;
  const V zero = hn::Zero(d);
  const auto a_sign = hn::BitCast(d_unsigned, hn::VecFromMask(d, hn::Lt(a, zero)));
  const auto r = hn::Sub(hn::Xor(m, a_sign), a_sign);
  if constexpr (kFloor) {
#if HWY_TARGET == HWY_NEON
    // One comparison: m is above zero where the signs differ, and nothing is above all ones.
    const auto same = hn::BitCast(d_unsigned, hn::VecFromMask(d, hn::Gt(hn::Xor(a, b), hn::Set(d, -1))));
    const auto adjust = hn::VecFromMask(d_unsigned, hn::Gt(m, same));
#else
    const auto inexact = hn::Ne(hn::BitCast(d, m), zero);
    const auto adjust = hn::BitCast(d_unsigned, hn::VecFromMask(d, hn::And(hn::Lt(hn::Xor(a, b), zero), inexact)));
#endif
    return hn::BitCast(d, hn::Add(r, hn::And(hn::BitCast(d_unsigned, b), adjust)));
  } else {
    return hn::BitCast(d, r);
  }
}

template <class T, bool kFloor>
struct Arithmetic {  // integers of up to 32 bits
  static_assert(std::is_integral_v<T> && sizeof(T) <= 4);
  using U = std::make_unsigned_t<T>;
  using D = hn::ScalableTag<T>;
  using DU = hn::ScalableTag<U>;
  using V = hn::Vec<D>;
  using ProvenTag = D;
  using Proven = hn::Mask<D>;
  static constexpr bool kAlwaysQuick = true;
  static constexpr std::size_t kUnroll = std::is_same_v<T, u8> ? kUnrollSimple : 4;
  static constexpr std::size_t kUnrollOneDivisor = kUnrollSimple;

  static HWY_INLINE hn::Vec<DU> magnitude(V v) {
    if constexpr (std::is_signed_v<T>) {
      return hn::BitCast(DU(), hn::Abs(v));
    } else {
      return v;
    }
  }

  static HWY_INLINE V signed_again(D d, V a, V b, hn::Vec<DU> m) {
    if constexpr (std::is_signed_v<T>) {
      return with_sign<kFloor>(d, a, b, m);
    } else {
      return m;
    }
  }

  // Of one divisor the sign is known. For floor, dividends are moved up by 2^(bits - 1), so that none is negative, and
  // the remainder of that is taken off again; for a negative divisor, that is done with -a, moved up by one less.
  struct Divisor {
    V b;
    UnsignedDivisor<U> magnitude;
    hn::Vec<DU> flip;
    hn::Vec<DU> moved;
    hn::Vec<DU> sign;
    HWY_INLINE explicit Divisor(T value)
        : b(hn::Set(D(), value)),
          magnitude(static_cast<U>(std::is_signed_v<T> && value < 0 ? U(0) - U(value) : U(value))) {
      const DU d;
      const bool negative = std::is_signed_v<T> && value < 0;
      const auto up = static_cast<U>((U{1} << (sizeof(T) * 8 - 1)) - (negative ? 1 : 0));
      flip = hn::Set(d, up);
      moved = magnitude.remainder(flip);
      sign = hn::Set(d, static_cast<U>(negative ? ~U{0} : U{0}));
    }
  };

  static HWY_INLINE V quick(D d, V a, V b, Proven&) {
    const DU d_unsigned;
    const auto x = magnitude(a);
    const auto y = hn::Max(magnitude(b), hn::Set(d_unsigned, U{1}));
    if constexpr (sizeof(T) > 1) {
      return signed_again(d, a, b, remainder(d_unsigned, x, y));
    } else {
#if HWY_TARGET == HWY_NEON
      // Magnitudes of 64 and more go into those of signed bytes twice at most.
      return signed_again(d, a, b, hn::Vec<DU>(remainder_bytes < std::is_signed_v<T> ? 2 : 3 > (x.raw, y.raw)));
#else
      return signed_again(d, a, b, remainder_bytes(d_unsigned, x, y));
#endif
    }
  }

  static HWY_INLINE V quick(D d, V a, const Divisor& divisor, Proven&) {
    if constexpr (kFloor && std::is_signed_v<T>) {
      const auto x = hn::Xor(hn::BitCast(DU(), a), divisor.flip);
      const auto r = hn::Sub(divisor.magnitude.remainder(x), divisor.moved);
      const auto m = hn::Min(r, hn::Add(r, divisor.magnitude.y));
      return hn::BitCast(d, hn::Sub(hn::Xor(m, divisor.sign), divisor.sign));
    } else {
      return signed_again(d, a, divisor.b, divisor.magnitude.remainder(magnitude(a)));
    }
  }

  template <std::size_t kVectors>
  static void thorough(D d, const V* a, const V* b, V* out) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      out[i] = by_lanes<T, kFloor>(d, a[i], b[i]);
    }
  }
};

template <class T, bool kFloor>
requires(std::is_integral_v<T> && sizeof(T) == 8) struct Arithmetic<T, kFloor> {
  using D = hn::ScalableTag<T>;
  using DU = hn::ScalableTag<u64>;
  using V = hn::Vec<D>;
  using Wide = WideRemainder<DU>;
  using ProvenTag = DU;
  using Proven = hn::Mask<DU>;
  static constexpr bool kAlwaysQuick = false;
  static constexpr std::size_t kUnroll = 4;
  static constexpr std::size_t kUnrollOneDivisor = kUnrollSimple;

  static HWY_INLINE hn::Vec<DU> magnitude(V v) {
    if constexpr (std::is_signed_v<T>) {
      return hn::BitCast(DU(), hn::Abs(v));
    } else {
      return v;
    }
  }

  static HWY_INLINE V signed_again(D d, V a, V b, hn::Vec<DU> m) {
    if constexpr (std::is_signed_v<T>) {
      return with_sign<kFloor>(d, a, b, m);
    } else {
      return m;
    }
  }

  struct Divisor {
    V b;
    hn::Vec<hn::ScalableTag<f64>> y;
    hn::Vec<hn::ScalableTag<f64>> inverse;
    Proven proven;
    HWY_INLINE explicit Divisor(T value) : b(hn::Set(D(), value)) {
      const DU d;
      const auto magnitudes = Arithmetic::magnitude(hn::Set(D(), value == 0 ? T{1} : value));
      proven = Wide::small_enough(d, magnitudes);
      y = Wide::divisor(d, magnitudes);
      inverse = hn::Div(hn::Set(hn::ScalableTag<f64>(), 1.0), y);
    }
  };

  static HWY_INLINE V quick(D d, V a, V b, Proven& proven) {
    const DU d_unsigned;
    const auto b_magnitude = magnitude(b);
    // Zero becomes one: a mask is minus one.
    const auto y = hn::Sub(b_magnitude, hn::VecFromMask(d_unsigned, hn::Eq(b_magnitude, hn::Zero(d_unsigned))));
    proven = hn::And(proven, Wide::small_enough(d_unsigned, y));
    const auto y_float = Wide::divisor(d_unsigned, y);
    const auto inverse = hn::Div(hn::Set(hn::ScalableTag<f64>(), 1.0), y_float);
    return signed_again(d, a, b, Wide::remainder(d_unsigned, magnitude(a), y_float, inverse));
  }

  static HWY_INLINE V quick(D d, V a, const Divisor& divisor, Proven& proven) {
    proven = hn::And(proven, divisor.proven);
    return signed_again(d, a, divisor.b, Wide::remainder(DU(), magnitude(a), divisor.y, divisor.inverse));
  }

  template <std::size_t kVectors>
  static void thorough(D d, const V* a, const V* b, V* out) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      out[i] = by_lanes<T, kFloor>(d, a[i], b[i]);
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------
// floats

// 0 <= r < y; false where either is NaN.
template <class DF, class V = hn::Vec<DF>>
HWY_INLINE hn::Mask<DF> is_remainder(DF d, V r, V y) {
#if HWY_TARGET == HWY_NEON
  // As bits, in one comparison: negative numbers and NaN lie above every number y that is one.
  const hn::RebindToUnsigned<DF> d_bits;
  return hn::RebindMask(d, hn::Lt(hn::BitCast(d_bits, r), hn::BitCast(d_bits, y)));
#else
  return hn::And(hn::Ge(r, hn::Zero(d)), hn::Lt(r, y));
#endif
}

// A quotient that was rounded up to the next integer leaves -y <= r < 0, which is exact, and then r + y is the
// remainder.
template <class DF, class V = hn::Vec<DF>>
HWY_INLINE V settled(DF d, V r, V y) {
#if HWY_TARGET == HWY_NEON
  // As bits, a negative number is larger than every other.
  const hn::RebindToUnsigned<DF> d_bits;
  if constexpr (sizeof(hn::TFromD<DF>) == 4) {
    return hn::BitCast(d, hn::Min(hn::BitCast(d_bits, r), hn::BitCast(d_bits, hn::Add(r, y))));
  }
#endif
  return hn::Add(r, hn::IfThenElseZero(hn::Lt(r, hn::Zero(d)), y));
}

// What the definition makes of a remainder m of |a| by |b|, in any float type that holds the sum of m and b well
// enough.
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

// |a| mod |b| for any operands: x and y are those where 0 < |b| < infinity and |a| < infinity, and 0 and 1 elsewhere.
template <class DF>
struct Magnitudes {
  using V = hn::Vec<DF>;
  V x;
  V y;
  V special;  // the result where there is nothing to divide
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

// One step of the long division: r is brought into [-y / 2, y / 2], a little more for a quotient that was rounded.
template <class V>
HWY_INLINE V reduced(V r, V y, V inverse) {
  return hn::NegMulAdd(hn::Round(hn::Mul(r, inverse)), y, r);
}

// x mod y of FLOAT32 numbers in FLOAT64: long division with 48 bits of the quotient a step. Each remainder is a
// multiple of the divisor's last place and smaller than it, so it has 24 bits, and all is exact.
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
  // The largest quotient says how many steps all take.
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

// x mod y of FLOAT64 numbers: with x = X * 2^ex and y = Y * 2^ey, 1 <= X, Y < 2, it is (X * 2^(ex - ey) mod Y) * 2^ey.
// The power of two goes in 48 bits at a time, each remainder exact for the reason above. Several vectors in lock step,
// since a step waits for the one before it.
template <std::size_t kVectors, class D, class V = hn::Vec<D>>
HWY_INLINE void long_divisions(D d, const V* x, const V* y, V* out) {
  const hn::RebindToUnsigned<D> d_bits;
  const auto integer_of = [&](auto bits) HWY_ATTR {  // up to 2^51
    const V lifted_integer = hn::BitCast(d, hn::Or(bits, hn::Set(d_bits, kTwoTo52Bits)));
    return hn::Sub(lifted_integer, hn::Set(d, 0x1p52));
  };
  const auto power_of_two = [&](V exponent) HWY_ATTR {  // of an integer within the normal exponents
    return hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(d_bits, hn::Add(exponent, hn::Set(d, 0x1p52 + 1023)))));
  };
  // Significand and biased exponent; a subnormal is made normal first.
  const auto split = [&](V v, V& significand) HWY_ATTR {
    const auto small = hn::Lt(v, hn::Set(d, 0x1p-1022));
    const auto bits = hn::BitCast(d_bits, hn::IfThenElse(small, hn::Mul(v, hn::Set(d, 0x1p54)), v));
    const auto fraction = hn::And(bits, hn::Set(d_bits, u64{FloatParts<f64>::kFraction}));
    significand = hn::BitCast(d, hn::Or(fraction, hn::Set(d_bits, u64{0x3FF} << 52)));
    return hn::Sub(integer_of(hn::ShiftRight<52>(bits)), hn::IfThenElseZero(small, hn::Set(d, 54.0)));
  };
  V r[kVectors], divisor[kVectors], inverse[kVectors], steps[kVectors], y_exponent[kVectors];
  V most = hn::Zero(d);
  for (std::size_t i = 0; i < kVectors; ++i) {
    V x_significand;
    const V x_exponent = split(x[i], x_significand);
    y_exponent[i] = split(y[i], divisor[i]);
    inverse[i] = hn::Div(hn::Set(d, 1.0), divisor[i]);
    const V gap = hn::Max(hn::Sub(x_exponent, y_exponent[i]), hn::Zero(d));
    steps[i] = hn::Floor(hn::Mul(hn::Add(gap, hn::Set(d, 0.5)), hn::Set(d, 1.0 / 48)));
    most = hn::Max(most, steps[i]);
    const V first = hn::Mul(x_significand, power_of_two(hn::NegMulAdd(steps[i], hn::Set(d, 48.0), gap)));
    r[i] = reduced(first, divisor[i], inverse[i]);
    inverse[i] = hn::Mul(inverse[i], hn::Set(d, 0x1p48));
  }
  const f64 last = hn::GetLane(hn::MaxOfLanes(d, most));
  for (f64 step = 0; step < last; ++step) {
    for (std::size_t i = 0; i < kVectors; ++i) {
      const V quotient = hn::Round(hn::Mul(r[i], inverse[i]));
      const V next = hn::NegMulAdd(quotient, divisor[i], hn::Mul(r[i], hn::Set(d, 0x1p48)));
      r[i] = hn::IfThenElse(hn::Gt(steps[i], hn::Set(d, step)), next, r[i]);
    }
  }
  for (std::size_t i = 0; i < kVectors; ++i) {
    // In two halves: the power by itself may not be a number.
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

  // The dividend that y > 0 divides, and the sign of the result.
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
      return hn::Or(hn::AndNot(sign, r), b_sign);  // r may be -0: that counts as proven here
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

  // A quotient from the inverse must not be too small, as that of a multiple of y could be: it is moved up by more than
  // the roundings before.
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

  // Often the quotient was only rounded up to the next integer.
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
  hn::Vec<hn::ScalableTag<f32>> small_y;  // by 2^112, as Arm's kernels have it
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

// FLOAT16 in FLOAT32, two vectors for one. The sum of floor may round twice, once to 24 bits: that is the same as once,
// since 24 >= 2 * 11 + 2.
template <bool kFloor>
struct Arithmetic<f16, kFloor> {
  using Wide = Arithmetic<f32, kFloor>;
  using D = hn::ScalableTag<u16>;
  using V = hn::Vec<D>;
  using DF = hn::ScalableTag<f32>;
  using F = hn::Vec<DF>;
  using Halves = hn::Rebind<hwy::float16_t, DF>;  // as many as there are lanes of FLOAT32
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
  // Conversions are slow here. Shifted into place, the bits of a finite number are those of a FLOAT32 number that is
  // smaller by 2^112, and so are all remainders; quotients are what they are. Infinities and NaN come out finite, and
  // are not proven.
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
    if constexpr (kFloor) {  // a sum may have more digits than fit: converted, which rounds
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

  // The quotient is below 2^40: two steps of 20 bits.
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
