// SPDX-License-Identifier: MIT
// POW and CONSTANT_POW. For floats, `ordinary` computes a FLOAT64 that nearly always determines the rounding to FLOAT32
// or FLOAT16. `is_hard` detects the other cases, in which `hard` computes twice as many digits.
//
// Special values follow Annex F of the C standard, except that a negative base, including -infinity, yields NaN for
// every exponent that is not an integer.
#pragma once

#include <limits>

#include "ops/scalar/functions/function.h"
#include "ops/scalar/functions/power_constants.h"

namespace anydml {

namespace power {

// The number high + low, where |low| is at most half of high's last place.
struct Pair {
  f64 high;
  f64 low;
};
// a + b, exactly.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair sum_of(f64 a, f64 b) {
  const f64 high = a + b;
  const f64 part = high - a;
  return {high, (a - (high - part)) + (b - part)};
}
// Returns the exact sum if |high| >= |low| or high is 0.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair fast_two_sum(f64 high, f64 low) {
  const f64 sum = high + low;
  return {sum, low - (sum - high)};
}
// The error is about 2^-105 of the larger operand.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair add(Pair a, Pair b) {
  const Pair high = sum_of(a.high, b.high);
  const Pair low = sum_of(a.low, b.low);
  const Pair first = fast_two_sum(high.high, high.low + low.high);
  return fast_two_sum(first.high, first.low + low.low);
}
// The relative error is 2^-103.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair multiply(Pair a, Pair b) {
  const f64 high = a.high * b.high;
  const f64 rest = fused(a.high, b.high, -high) + (a.high * b.low + a.low * b.high);
  return fast_two_sum(high, rest);
}
// Divides by a small integer.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair divide(Pair a, f64 by) {
  const f64 high = a.high / by;
  return fast_two_sum(high, (fused(-high, by, a.high) + a.low) / by);
}
// k ln(2) for a nine-bit integer k.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair times_ln2(f64 k) {
  const f64 middle = k * kLn2Middle;
  const f64 low = fused(k, kLn2Middle, -middle) + k * kLn2Low;
  return add({k * kLn2High, 0.0}, {middle, low});
}

// ln(x) for a positive normal FLOAT64 with at most 32 significant bits: 2 atanh((m - 1) / (m + 1)) plus k ln(2), for x
// = 2^k m.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair log_of(f64 x) {
  const u64 exponent = (to_bits(x) - to_bits(f64{0x1.6a09e667f3bcdp-1})) & 0xfff0000000000000;
  const f64 m = from_bits<f64>(to_bits(x) - exponent);
  const f64 k = static_cast<f64>(static_cast<i64>(exponent) >> 52);
  const f64 quotient = (m - 1.0) / (m + 1.0);
  const Pair z = fast_two_sum(quotient, fused(-quotient, m + 1.0, m - 1.0) / (m + 1.0));
  const Pair square = multiply(z, z);
  Pair sum{0.0, 0.0};
  for (int i = 45; i > 0; i -= 2) {  // z^2 < 0.0295, so the remainder is below 2^-110
    sum = add(divide({1.0, 0.0}, static_cast<f64>(i)), multiply(square, sum));
  }
  const Pair part = multiply(z, sum);
  return add(times_ln2(k), {2.0 * part.high, 2.0 * part.low});
}

// Computes x^y for a positive normal FLOAT64 x with at most 32 significant bits, if the result is from 2^-200 to
// 2^1000. Results that FLOAT64 can represent are exact.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Pair pow_of(f64 x, f64 y) {
  // If x is a power of two, x^y may also be a power of two.
  if ((to_bits(x) & FloatParts<f64>::kFraction) == 0) {
    const f64 exponent = (static_cast<f64>(to_bits(x) >> 52) - 1023.0) * y;
    if (round_even(exponent) == exponent) {
      return {from_bits<f64>(static_cast<u64>(static_cast<i64>(exponent) + 1023) << 52), 0.0};
    }
  }
  // Any other x has an odd part from 3 to 2^32. Its power fits into 53 bits only under three conditions: y is positive,
  // an exact square root exists for each fractional bit of y (which is possible at most four times), and the product of
  // these roots is exact.
  f64 root = x;
  f64 times = y;
  bool exact = y > 0.0;
  for (int i = 0; exact && i < 4 && round_even(times) != times; ++i) {
    const f64 next = square_root(root);
    exact = fused(next, next, -root) == 0.0;
    root = next;
    times *= 2.0;
  }
  exact = exact && round_even(times) == times && times <= 33.0;  // 3^34 has 54 bits
  f64 product = 1.0;
  for (f64 i = 0.0; exact && i < times; i += 1.0) {
    const f64 next = product * root;
    exact = fused(product, root, -next) == 0.0;
    product = next;
  }
  if (exact) {
    return {product, 0.0};
  }
  // exp(y ln(x)): t = n ln(2) + r, and exp(r) is computed from its series.
  const Pair t = multiply(log_of(x), {y, 0.0});
  const f64 n = round_even(t.high * 0x1.71547652b82fep0);
  const Pair r = add(t, times_ln2(-n));
  Pair e{1.0, 0.0};
  for (int i = 26; i > 0; --i) {
    e = add({1.0, 0.0}, divide(multiply(r, e), static_cast<f64>(i)));
  }
  const f64 scale = from_bits<f64>(static_cast<u64>(static_cast<i64>(n) + 1023) << 52);
  return {e.high * scale, e.low * scale};
}

}  // namespace power

// The types of POW's tensors.
template <class T>
inline constexpr bool kRaises = is_float<T> ? sizeof(T) <= 4 : std::is_integral_v<T> && sizeof(T) <= 4;

struct PowOf {
  // The relative error of `ordinary` is below this. ln(x) has a relative error of 2^-48.6, and the product with y adds
  // at most 2^-53. exp multiplies that by at most 104, since beyond that the result is 0 or infinity, so the error
  // becomes 2^-41.8. exp itself has an error of 2^-44.
  static constexpr f64 kError = 0x1p-41;

  // y is a FLOAT32, or an integer that FLOAT64 can represent.
  template <class Y>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x, Y y) const {
    using namespace power;
    constexpr f32 kInfinity = from_bits<f32>(0x7f800000);
    const f32 base = magnitude_of(x);
    // |x| = 2^k (1 + r), as for LOG.
    const bool subnormal = base < 0x1p-126f;
    const u32 bits = to_bits(select(subnormal, base * 0x1p24f, base));
    const u32 exponent = (bits - to_bits(f32{0x1.6a09e6p-1f})) & 0xff800000;
    const f32 r32 = from_bits<f32>(bits - exponent) - 1.0f;
    f32 k32 = fused(static_cast<f32>(static_cast<i32>(exponent)), 0x1p-23f, select(subnormal, -24.0f, 0.0f));
    k32 = select(base > 0.0f, k32, -kInfinity);
    k32 = select(base < kInfinity, k32, base);
    // Cases in which the result is 1 by definition: x^0, 1^y and (-1)^(+-inf).
    u32 is_one = static_cast<u32>(y == Y{0}) | static_cast<u32>(x == 1.0f);
    u32 odd = 0;
    Y exponent_or_nan = y;
    if constexpr (is_float<Y>) {
      is_one |= static_cast<u32>(base == 1.0f) & static_cast<u32>(magnitude_of(y) == kInfinity);
      const bool is_integer = round_even(y) == y;
      const f32 half = 0.5f * y;
      odd = static_cast<u32>(is_integer) & static_cast<u32>(round_even(half) != half);
      const u32 no_number = static_cast<u32>(x < 0.0f) & static_cast<u32>(!is_integer);
      exponent_or_nan = select(no_number != 0, quiet_nan<f32>(), y);
    } else {
      odd = static_cast<u32>(y) & 1;
    }
    const auto y64 = static_cast<f64>(select(is_one != 0, Y{0}, exponent_or_nan));
    k32 = select(is_one != 0, 0.0f, k32);
    const u32 sign = to_bits(x) & (odd << 31);

    const f64 k{k32};
    const f64 r{r32};
    const f64 r2 = r * r;
    const f64 r4 = r2 * r2;
    const f64 r8 = r4 * r4;
    const f64 a0 = fused(fused(r, kLog5, kLog4), r2, fused(r, kLog3, kLog2));
    const f64 a1 = fused(fused(r, kLog9, kLog8), r2, fused(r, kLog7, kLog6));
    const f64 a2 = fused(fused(r, kLog13, kLog12), r2, fused(r, kLog11, kLog10));
    const f64 a3 = fused(fused(r, kLog17, kLog16), r2, fused(r, kLog15, kLog14));
    const f64 p = fused(fused(fused(r4, kLog18, a3), r4, a2), r8, fused(a1, r4, a0));
    f64 t = y64 * fused(k, 0x1.62e42fefa39efp-1, fused(p, r2, r));

    // exp(t). Beyond these limits the result is infinite or 0; NaN passes through.
    t = select(t > 89.0, 89.0, t);
    t = select(t < -104.0, -104.0, t);
    constexpr f64 kShift = 0x1.8p52;
    const f64 shifted = fused(t, 0x1.71547652b82fep0, kShift);
    const f64 q = fused(shifted - kShift, -0x1.62e42fefa39efp-1, t);
    const f64 q2 = q * q;
    const f64 b0 = fused(fused(q, kExp3, kExp2), q2, q + 1.0);
    const f64 b1 = fused(fused(q, kExp7, kExp6), q2, fused(q, kExp5, kExp4));
    const f64 e = fused(fused(fused(q, kExp9, kExp8), q2 * q2, b1), q2 * q2, b0);
    const f64 result = e * from_bits<f64>((to_bits(shifted) << 52) + to_bits(f64{1.0}));
    return from_bits<f64>(to_bits(result) | (static_cast<u64>(sign) << 32));
  }

  // Computes FLOAT16 in FLOAT32, for x that FLOAT16 can represent. Returns NaN if x is 0, infinite or NaN. log2(x) is
  // the sum of two FLOAT32 values, with a relative error of 2^-24.7. The product with y, which contributes a factor of
  // up to 27 where it matters, increases the error to 2^-20.5, and on a GPU the exponential adds 2^-22.
  template <class Y>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 quick(f32 x, Y y) const requires(std::is_same_v<Y, f32>) {
    using namespace power;
    const f32 base = magnitude_of(x);
    const u32 exponent = (to_bits(base) - to_bits(f32{0x1.6a09e6p-1f})) & 0xff800000;
    const f32 r = from_bits<f32>(to_bits(base) - exponent) - 1.0f;  // has twelve bits
    const f32 k = static_cast<f32>(static_cast<i32>(exponent)) * 0x1p-23f;
    const f32 r2 = r * r;  // exact
    const f32 r4 = r2 * r2;
    const f32 a0 = fused(fused(r, kShortLog3, kShortLog2), r2, fused(r, kShortLog1, kShortLog0));
    const f32 a1 = fused(fused(r, kShortLog7, kShortLog6), r2, fused(r, kShortLog5, kShortLog4));
    const f32 p = fused(fused(r4, kShortLog8, a1), r4, a0);
    const f32 part = r * kShortLog2OfE;  // exact
    const f32 maximum = k + part;
    const f32 more = fused(p, r2, fused(r, kShortLog2OfERest, part - (maximum - k)));
    const f32 high = maximum + more;
    const f32 low = more - (high - maximum);
    const f32 product = y * high;
    f32 t = select(product > 17.0f, 17.0f, product);  // infinite or 0 beyond the limits; y may be any FLOAT32
    t = select(t < -27.0f, -27.0f, t);
    const f32 rest = select(t == product, fused(y, low, fused(y, high, -product)), 0.0f);
    constexpr f32 kShift = 0x1.8p23f + 127;
    const f32 shifted = t + kShift;
    const f32 power = from_bits<f32>(to_bits(shifted) << 23);
    const f32 result = short_exp((t - (shifted - kShift)) + rest) * power;
    // A negative base has only integer powers.
    const bool is_integer = round_even(y) == y;
    const f32 half = 0.5f * y;
    const u32 odd = static_cast<u32>(round_even(half) != half);
    const u32 inside = static_cast<u32>(to_bits(base) - 1 < to_bits(from_bits<f32>(0x7f800000)) - 1) &
                       (static_cast<u32>(is_integer) | static_cast<u32>(x > 0.0f));
    return select(inside != 0, from_bits<f32>(to_bits(result) | (to_bits(x) & (odd << 31))), quiet_nan<f32>());
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_unclear(f32 result) const {
    return is_rounding_ambiguous(result, 0x1p-20f);
  }

  // Whether the result of `ordinary` is so close to a midpoint between two values of type T that it does not determine
  // the rounding.
  template <class T>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f64 result) const {
    // Adds a number so large that the sum has the same last place as a T near the result. If both ends of the error
    // interval round to the same sum, the interval contains no midpoint. NaN is not hard.
    constexpr f64 kNormal = from_bits<f64>(u64{1024 - FloatParts<T>::kBias} << 52);
    constexpr u64 kExponent = u64{FloatParts<f64>::kInfinity};
    constexpr u64 kDropped = u64{52 - FloatParts<T>::kFractionBits} << 52;
    const f64 size = magnitude_of(result);
    const f64 large = from_bits<f64>((to_bits(select(size < kNormal, kNormal, size)) & kExponent) + kDropped);
    return fused(size, 1.0 - kError, large) < fused(size, 1.0 + kError, large);
  }

  // For x and y that `ordinary` found hard: the result is finite and not 0, and neither x nor y is 0 or infinite. The
  // relative error is below 2^-100 |ln(result)|, and results that are exact or midpoints have no error.
  template <class Y>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x, Y exponent) const {
    const auto y = static_cast<f64>(exponent);
    const power::Pair pair = power::pow_of(magnitude_of(static_cast<f64>(x)), y);
    // The last bit is set if any nonzero digit follows, so that the result is not mistaken for a midpoint.
    u64 bits = to_bits(pair.high);
    if (pair.low != 0.0 && (bits & 1) == 0) {
      bits = pair.low > 0.0 ? bits + 1 : bits - 1;
    }
    const f64 half = 0.5 * y;
    return with_sign_of(from_bits<f64>(bits), x < 0.0f && round_even(half) != half ? f64{-1.0} : f64{1.0});
  }

 private:
  // 2^x for |x| <= 1/2.
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr f32 short_exp(f32 x) {
    if constexpr (kHasNearPowerOfTwo) {
      return near_power_of_two(x);
    } else {
      using namespace power;
      const f32 x2 = x * x;
      const f32 a = fused(fused(x, kShortExp4, kShortExp3), x2, fused(x, kShortExp2, kShortExp1));
      return fused(x, fused(fused(x, kShortExp6, kShortExp5), x2 * x2, a), 1.0f);
    }
  }
};

// The exponent is used without rounding. For integers with integer exponents, the product wraps, and powers with
// negative exponents are truncated to 0 unless the base is 1 or -1; this includes a base of 0. For integers with float
// exponents, the power is truncated and clamped to the limits of the type; NaN becomes 0.
template <class T, class Exponent>
struct Pow {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x, Exponent y) const
      requires(kRaises<T>&& kRaises<Exponent>) {
    if constexpr (is_float<T>) {
      if constexpr (!is_float<Exponent> && sizeof(Exponent) < 4) {
        return decided<T>(PowOf{}, widen(x), static_cast<f32>(y));
      } else {
        return decided<T>(PowOf{}, widen(x), widen(y));
      }
    } else if constexpr (is_float<Exponent>) {
      return of_integer(x, static_cast<f64>(widen(y)));
    } else {
      return product(x, y);
    }
  }

 private:
  // Constants, because CUDA device code may not call numeric_limits.
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kMax = std::numeric_limits<T>::max();

  ANYDML_HOST_DEVICE static constexpr T product(T x, Exponent y) {
    if constexpr (std::is_signed_v<Exponent>) {
      if (y < 0) {
        const bool unit = x == T{1} || (std::is_signed_v<T> && x == static_cast<T>(-1));
        return static_cast<T>(unit ? ((y & 1) != 0 ? x : T{1}) : T{0});
      }
    }
    u32 result = 1;
    auto square = static_cast<u32>(x);
    for (auto rest = static_cast<u32>(y); rest != 0; rest >>= 1) {
      result = (rest & 1) != 0 ? result * square : result;
      square *= square;
    }
    return static_cast<T>(result);
  }

  ANYDML_HOST_DEVICE static constexpr T of_integer(T x, f64 y) {
    const auto base = static_cast<f64>(x);
    const f64 maximum = magnitude_of(base);
    const f64 half = 0.5 * y;
    const bool integer = round_even(y) == y;
    const bool odd = integer && round_even(half) != half;
    if (y == 0.0 || base == 1.0) {
      return T{1};
    }
    if (is_nan(y) || (base < 0.0 && !integer)) {
      return T{0};
    }
    if (base == 0.0) {
      return y > 0.0 ? T{0} : kMax;
    }
    if (maximum == 1.0) {
      return odd ? x : T{1};
    }
    if (y < 0.0) {
      return T{0};
    }
    const T limit = odd && base < 0.0 ? kMin : kMax;
    // The condition below is true for all powers of at least 2^66 and false for all powers below 2^33, because a base
    // of 2 or more is below the square of its leading power of two.
    const auto leading = static_cast<f64>(to_bits(maximum) >> 52) - 1023.0;
    if (leading * y >= 33.0) {
      return limit;
    }
    const power::Pair pair = power::pow_of(maximum, y);
    f64 whole = round_towards_zero(pair.high);
    whole -= whole == pair.high && pair.low < 0.0 ? f64{1.0} : f64{0.0};
    const f64 value = odd && base < 0.0 ? -whole : whole;
    return value <= static_cast<f64>(kMin) ? kMin : value >= static_cast<f64>(kMax) ? kMax : static_cast<T>(value);
  }
};

template <class T, class Exponent>
inline constexpr bool kIsFunction<Pow<T, Exponent>> = true;
template <class T>
requires is_float<T>
struct FunctionLike<Pow<T, T>> {
  using type = FunctionOfTwo<T, PowOf>;
};

struct ConstantPowOf {
  f32 exponent;

  ANYDML_HOST_DEVICE constexpr explicit ConstantPowOf(const Attributes& attributes)
      : exponent(attributes.values[0].as<f32>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const { return PowOf{}.ordinary(x, exponent); }
  template <class T>
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f64 result) const {
    return PowOf{}.is_hard<T>(result);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x) const { return PowOf{}.hard(x, exponent); }
};
template <class T>
using ConstantPow = Function<T, ConstantPowOf>;

}  // namespace anydml
