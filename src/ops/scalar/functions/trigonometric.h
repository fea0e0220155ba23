// SPDX-License-Identifier: MIT
// Sine, cosine and tangent.
#pragma once

#include "ops/scalar/functions/function.h"
#include "ops/scalar/functions/trigonometric_constants.h"

namespace anydml {

namespace trigonometric {

// The remainder of an angle after subtracting a number of half turns or quarter turns. It consists of one or two parts:
// `more` is less than the last place of `rest`. The lowest bit of `count` indicates whether that number is odd.
struct Reduced {
  f64 rest;
  f64 more;
  u64 count;
};

// Adding kShift rounds to an integer and leaves it in the lowest bits, because the sum is too large to have a fraction.
// With Odd, a count of n means n + 1/2, and the lowest bit is inverted because cos(n pi + pi / 2 + r) = -sin(n pi + r).
// The half is subtracted before rounding and added back afterwards.
template <bool Odd>
inline constexpr f64 kShift = Odd ? 0x1.8000000000001p52 : 0x1.8p52;
template <bool Odd>
inline constexpr f64 kBefore = Odd ? -0.5 : 0.0;
template <bool Odd>
inline constexpr f64 kAfter = Odd ? 0.5 : 0.0;

// pi / Parts and 2 pi, each split into a leading value and a rest. kPerPi: Parts / pi. kPerTurn: the number of times pi
// / Parts fits into a full turn. kOfTurn: the inverse of kPerTurn.
template <int Parts>
inline constexpr f64 kPi = 0x1.921fb54442d18p1 / Parts;
template <int Parts>
inline constexpr f64 kPiRest = 0x1.1a62633145c07p-53 / Parts;
inline constexpr f64 kTwoPi = 0x1.921fb54442d18p2;
inline constexpr f64 kTwoPiRest = 0x1.1a62633145c07p-52;
template <int Parts>
inline constexpr f64 kPerPi = 0x1.45f306dc9c883p-2 * Parts;
template <int Parts>
inline constexpr f64 kPerTurn = 2.0 * Parts;
template <int Parts>
inline constexpr f64 kOfTurn = 0.5 / Parts;

// Up to this limit the count is so small that pi in two parts is precise enough. The first difference is exact: both
// operands are multiples of the last place of pi, and the remainder has no more bits.
inline constexpr f32 kOrdinary = 0x1p22F;

[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_huge(f32 x) { return magnitude_of(x) > kOrdinary; }

// Reduces an angle by multiples of pi / Parts or, with Odd, by odd multiples of pi / Parts / 2.
template <int Parts, bool Odd>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Reduced reduce(f64 x) {
  f64 shifted = 0.0;
  f64 count = 0.0;
  if constexpr (Odd) {
    shifted = fused(x, kPerPi<Parts>, -0.5) + kShift<Odd>;
    count = shifted - kShift<Odd> + 0.5;
  } else {
    shifted = fused(x, kPerPi<Parts>, kShift<Odd>);
    count = shifted - kShift<Odd>;
  }
  const f64 rest = fused(count, -kPi<Parts>, x);
  return {fused(count, -kPiRest<Parts>, rest), 0.0, to_bits(shifted)};
}

// The rounded sum of two numbers, and its rounding error.
struct Sum {
  f64 sum;
  f64 more;
};
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Sum exact_sum(f64 a, f64 b) {
  const f64 sum = a + b;
  const f64 of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// The fraction of a number of turns after subtracting whole turns.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 of_turn(f64 turns) { return turns - round_even(turns); }

// Like reduce(), but for any x; infinities yield NaN. x / (2 pi) is a sum of seven products. Six products are exact,
// and their remainders after subtracting whole turns are exact too. A first sum of the remainders, which is not exact,
// determines the total number of parts of a turn to subtract. A second summation starts by subtracting that number and
// keeps all rounding errors.
template <int Parts, bool Odd>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Reduced reduce_huge(f64 x) {
  const f64 p1 = of_turn(x * kTurn1);
  const f64 p2 = of_turn(x * kTurn2);
  const f64 p3 = of_turn(x * kTurn3);
  const f64 p4 = of_turn(x * kTurn4);
  const f64 p5 = of_turn(x * kTurn5);
  const f64 p6 = of_turn(x * kTurn6);
  const f64 near = ((p1 + p2) + (p3 + p4)) + (p5 + p6);
  const f64 shifted = fused(near, kPerTurn<Parts>, kBefore<Odd>) + kShift<Odd>;
  const f64 count = shifted - kShift<Odd> + kAfter<Odd>;
  // The first nonzero value of p1 to p6 has few enough bits that the difference is exact.
  const Sum s2 = exact_sum(fused(count, -kOfTurn<Parts>, p1), p2);
  const Sum s3 = exact_sum(s2.sum, p3);
  const Sum s4 = exact_sum(s3.sum, p4);
  const Sum s5 = exact_sum(s4.sum, p5);
  const Sum s6 = exact_sum(s5.sum, p6);
  const f64 more = fused(x, kTurn7, (s2.more + s3.more) + (s4.more + s5.more) + s6.more);
  const f64 turns = s6.sum + more;
  const f64 more_turns = more - (turns - s6.sum);
  const f64 rest = turns * kTwoPi;
  const f64 of_product = fused(turns, kTwoPi, -rest);
  return {rest, fused(more_turns, kTwoPi, fused(turns, kTwoPiRest, of_product)), to_bits(shifted)};
}

// The sine of the remainder, negated if the number of half turns is odd. For -0, p is +0, so the last step returns -0.
// A derivative with few digits is enough for the second part.
template <bool TwoParts>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 sine(Reduced reduced) {
  const u64 sign = reduced.count << 63;
  const f64 r = reduced.rest;
  const f64 turned = from_bits<f64>(to_bits(r) ^ sign);
  const f64 z = r * r;
  const f64 z2 = z * z;
  if constexpr (TwoParts) {
    const f64 a0 = z * kHugeSin1;
    const f64 a1 = fused(z, kHugeSin3, kHugeSin2);
    const f64 a2 = fused(z, kHugeSin5, kHugeSin4);
    const f64 a3 = fused(z, kHugeSin7, kHugeSin6);
    const f64 p = fused(z2, fused(z2, fused(z2, fused(z2, kHugeSin8, a3), a2), a1), a0);
    const f64 cosine = fused(z2, fused(z, -1.0 / 720, 1.0 / 24), fused(z, -0.5, 1.0));
    const f64 add = fused(turned, p, from_bits<f64>(to_bits(reduced.more) ^ sign) * cosine);
    const f64 sum = turned + add;
    return sum_to_odd(sum, add - (sum - turned));
  } else {
    const f64 a0 = z * kSin1;
    const f64 a1 = fused(z, kSin3, kSin2);
    const f64 a2 = fused(z, kSin5, kSin4);
    const f64 a3 = fused(z, kSin7, kSin6);
    const f64 p = fused(z2, fused(z2, fused(z2, a3, a2), a1), a0);
    return fused(turned, p, turned);
  }
}

// The tangent of the remainder, or of the remainder plus pi / 2 if the number of quarter turns is odd: -1 / tan(r). The
// derivative is 1 + tangent^2 in both cases.
template <bool TwoParts>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 tangent(Reduced reduced) {
  const f64 r = reduced.rest;
  const f64 z = r * r;
  const f64 z2 = z * z;
  const f64 above = r * fused(z, fused(z2, kTanAbove3, fused(z, kTanAbove2, kTanAbove1)), 1.0);
  const f64 below = fused(z, fused(z2, fused(z, kTanBelow4, kTanBelow3), fused(z, kTanBelow2, kTanBelow1)), 1.0);
  const bool odd = (reduced.count & 1) != 0;
  const f64 fraction = quotient_of<Last::near>(select(odd, -below, above), select(odd, above, below));
  if constexpr (TwoParts) {
    return fused(reduced.more, fused(fraction, fraction, 1.0), fraction);
  } else {
    return fraction;
  }
}

}  // namespace trigonometric

struct SinOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    return trigonometric::sine<false>(trigonometric::reduce<1, false>(f64{x}));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f32 x) const { return trigonometric::is_huge(x); }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x) const {
    return trigonometric::sine<true>(trigonometric::reduce_huge<1, false>(f64{x}));
  }
};
template <class T>
using Sin = Function<T, SinOf>;

struct CosOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    return trigonometric::sine<false>(trigonometric::reduce<1, true>(f64{x}));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f32 x) const { return trigonometric::is_huge(x); }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x) const {
    return trigonometric::sine<true>(trigonometric::reduce_huge<1, true>(f64{x}));
  }
};
template <class T>
using Cos = Function<T, CosOf>;

struct TanOf {
  static constexpr bool kIsLong = true;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    return trigonometric::tangent<false>(trigonometric::reduce<2, false>(f64{x}));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f32 x) const { return trigonometric::is_huge(x); }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 x) const {
    return trigonometric::tangent<true>(trigonometric::reduce_huge<2, false>(f64{x}));
  }
};
template <class T>
using Tan = Function<T, TanOf>;

}  // namespace anydml
