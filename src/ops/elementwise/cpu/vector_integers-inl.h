// SPDX-License-Identifier: MIT
// The modulus operators for integers. 16-bit and 32-bit integers are computed in floats of twice their width. One half
// is added to each dividend, so that the quotient is at least 1 / 2b away from an integer; all rounding errors together
// are smaller than that. b = 0 is replaced with 1, which gives a remainder of 0.
#if defined(ANYDML_VECTOR_INTEGERS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_VECTOR_INTEGERS_INL
#undef ANYDML_VECTOR_INTEGERS_INL
#else
#define ANYDML_VECTOR_INTEGERS_INL
#endif

#include <type_traits>

#include "ops/elementwise/cpu/vector_arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

template <class U>
using FloatOfTwice = std::conditional_t<sizeof(U) == 2, f32, f64>;

// The even lanes of v, or its odd lanes moved to the even positions; `upper` fills the odd positions.
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

// The even or odd lanes as floats of twice their width, plus 2^23 or 2^52.
template <bool kOdd, class DU>
HWY_INLINE auto lifted(DU d, hn::Vec<DU> v) {
  using U = hn::TFromD<DU>;
  const hn::Repartition<FloatOfTwice<U>, DU> d_float;
  const auto upper = hn::Set(d, static_cast<U>(sizeof(U) == 2 ? kTwoTo23Bits >> 16 : kTwoTo52Bits >> 32));
  return hn::BitCast(d_float, below<kOdd>(d, v, upper));
}

// x mod y for y > 0, for 16-bit and 32-bit integers.
template <class DU>
HWY_INLINE hn::Vec<DU> remainder(DU d, hn::Vec<DU> x, hn::Vec<DU> y) {
  using U = hn::TFromD<DU>;
  using F = FloatOfTwice<U>;
  const hn::Repartition<F, DU> d_float;
  // Lifting adds 2^23 or 2^52 to the integer, so subtracting one half less leaves x + 1/2.
  constexpr F kLift = sizeof(U) == 2 ? F(0x1p23) : F(0x1p52);
  const auto lift = hn::Set(d_float, kLift);
  const auto lift_less_half = hn::Set(d_float, kLift - F(0.5));
  const auto y_even = hn::Sub(lifted<false>(d, y), lift);
  const auto y_odd = hn::Sub(lifted<true>(d, y), lift);
  // One division yields both reciprocals.
  const auto both = hn::Div(hn::Set(d_float, F(1)), hn::Mul(y_even, y_odd));
  // Rounding (x + 1/2) / y - 1/2 to nearest truncates x / y; adding 1.5 * 2^23 leaves the quotient in the low bits of
  // the sum.
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

// Remainders of 8-bit integers.
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

// For y < 64, q from the table is x / y or one less; from 64 on it is 0, and x / y is at most 3.
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

// Processes bytes at even and odd positions separately, as 16-bit integers. For y < 64, q from the table is x / y or
// one less; from 64 on it is 0, and x / y is at most 3.
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
// Processes one byte of each 32-bit word at a time as FLOAT32, converting in both directions with 2^23. The hardware's
// estimate of 1 / y is accurate to at least 2^-11 and the quotient is below 2^8, so its error is far smaller than the
// half that is added to the dividends.
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
      // These targets cannot multiply bytes, so bytes at even and odd positions are processed separately, as 16-bit
      // integers.
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

// 64-bit integers, computed in f64, for divisors below 2^50. The dividend's upper half is reduced first: its quotient
// is accurate to 53 bits, so the remainder is an integer below 2^51 and exact; the lower half is then added and the sum
// reduced again.
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

// Applies the signs to the unsigned remainder m of |a| divided by |b|. Signs are compared rather than shifted, since
// that is faster on Arm. The arithmetic is unsigned, since unproven lanes may contain anything.
template <bool kFloor, class D, class V = hn::Vec<D>>
HWY_INLINE V with_sign(D d, V a, V b, hn::Vec<hn::RebindToUnsigned<D>> m) {
  const hn::RebindToUnsigned<D> d_unsigned;
  const V zero = hn::Zero(d);
  const auto a_sign = hn::BitCast(d_unsigned, hn::VecFromMask(d, hn::Lt(a, zero)));
  const auto r = hn::Sub(hn::Xor(m, a_sign), a_sign);
  if constexpr (kFloor) {
#if HWY_TARGET == HWY_NEON
    // A single comparison serves both cases: where the signs differ, it tests m > 0; where they agree, the other
    // operand is all ones, which no value exceeds.
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

// Converts to unsigned numbers and back. Shared by integers of every width.
template <class T, bool kFloor>
struct Signs {
  using D = hn::ScalableTag<T>;
  using DU = hn::ScalableTag<std::make_unsigned_t<T>>;
  using V = hn::Vec<D>;

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
};

template <class T, bool kFloor>
requires(std::is_integral_v<T> && sizeof(T) <= 4) struct Arithmetic<T, kFloor> : Signs<T, kFloor> {
  using U = std::make_unsigned_t<T>;
  using typename Signs<T, kFloor>::D;
  using typename Signs<T, kFloor>::DU;
  using typename Signs<T, kFloor>::V;
  using Signs<T, kFloor>::magnitude;
  using Signs<T, kFloor>::signed_again;
  using ProvenTag = D;
  using Proven = hn::Mask<D>;
  static constexpr bool kAlwaysQuick = true;
  static constexpr std::size_t kUnroll = std::is_same_v<T, u8> ? kUnrollSimple : 4;
  static constexpr std::size_t kUnrollOneDivisor = kUnrollSimple;

  // The sign of a single divisor is known. For floor, 2^(bits - 1) is added to the dividends, so that none is negative,
  // and the remainder of that number is subtracted afterwards. A negative divisor is handled in the same way, with -a
  // and 2^(bits - 1) - 1.
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
      // A magnitude of 64 or more fits into the magnitude of a signed byte at most twice.
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
};

template <class T, bool kFloor>
requires(std::is_integral_v<T> && sizeof(T) == 8) struct Arithmetic<T, kFloor> : Signs<T, kFloor> {
  using typename Signs<T, kFloor>::D;
  using typename Signs<T, kFloor>::DU;
  using typename Signs<T, kFloor>::V;
  using Signs<T, kFloor>::magnitude;
  using Signs<T, kFloor>::signed_again;
  using Wide = WideRemainder<DU>;
  using ProvenTag = DU;
  using Proven = hn::Mask<DU>;
  static constexpr bool kAlwaysQuick = false;
  static constexpr std::size_t kUnroll = 4;
  static constexpr std::size_t kUnrollOneDivisor = kUnrollSimple;

  struct Divisor {
    V b;
    hn::Vec<hn::ScalableTag<f64>> y;
    hn::Vec<hn::ScalableTag<f64>> inverse;
    Proven proven;
    HWY_INLINE explicit Divisor(T value) : b(hn::Set(D(), value)) {
      const DU d;
      const auto magnitudes = Signs<T, kFloor>::magnitude(hn::Set(D(), value == 0 ? T{1} : value));
      proven = Wide::small_enough(d, magnitudes);
      y = Wide::divisor(d, magnitudes);
      inverse = hn::Div(hn::Set(hn::ScalableTag<f64>(), 1.0), y);
    }
  };

  static HWY_INLINE V quick(D d, V a, V b, Proven& proven) {
    const DU d_unsigned;
    const auto b_magnitude = magnitude(b);
    // Replaces zero with one: a true mask is minus one.
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

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
