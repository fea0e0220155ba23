// SPDX-License-Identifier: MIT
// Arcsine, arccosine and arctangent, including the arctangent of two arguments.
#pragma once

#include "ops/scalar/functions/function.h"
#include "ops/scalar/functions/inverse_trigonometric_constants.h"

namespace anydml {

namespace inverse_trigonometric {

inline constexpr f64 kHalfPi = 0x1.921fb54442d18p0;
inline constexpr f64 kHalfPiRest = 0x1.1a62633145c07p-54;
inline constexpr f64 kPi = 0x1.921fb54442d18p1;
inline constexpr f64 kPiRest = 0x1.1a62633145c07p-53;

// atan(t) / t - 1, for |t| <= 0.59 and z = t * t; a0 is its first term.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 arcus_tangent(f64 z, f64 a0) {
  const f64 z2 = z * z;
  const f64 a1 = fused(z, kAtan3, kAtan2);
  const f64 a2 = fused(z, kAtan5, kAtan4);
  const f64 a3 = fused(z, kAtan7, kAtan6);
  const f64 a4 = fused(z, kAtan9, kAtan8);
  const f64 a5 = fused(z, kAtan11, kAtan10);
  const f64 a6 = fused(z, kAtan13, kAtan12);
  return fused(z2, fused(z2, fused(z2, fused(z2, fused(z2, fused(z2, a6, a5), a4), a3), a2), a1), a0);
}

// asin(s) / s - 1, for s <= 1/2 and z = s * s.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 arcus_sine(f64 z) {
  if constexpr (kOnGpu) {
    return z *
           horner(z, kAsin1, kAsin2, kAsin3, kAsin4, kAsin5, kAsin6, kAsin7, kAsin8, kAsin9, kAsin10, kAsin11, kAsin12);
  }
  const f64 z2 = z * z;
  const f64 a0 = z * kAsin1;
  const f64 a1 = fused(z, kAsin3, kAsin2);
  const f64 a2 = fused(z, kAsin5, kAsin4);
  const f64 a3 = fused(z, kAsin7, kAsin6);
  const f64 a4 = fused(z, kAsin9, kAsin8);
  const f64 a5 = fused(z, kAsin11, kAsin10);
  return fused(z2, fused(z2, fused(z2, fused(z2, fused(z2, fused(z2, kAsin12, a5), a4), a3), a2), a1), a0);
}

// The argument of the polynomial for asin and acos. Beyond 1/2, asin(x) = pi / 2 - 2 asin(s), where s is the square
// root of (1 - x) / 2. In that range s is less than x.
struct Near {
  bool far;
  f64 z;   // s^2, or x^2
  f64 of;  // s, or on a GPU 2 s; |x| if `far` is false
};
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Near near_on_gpu(f32 x) {
  const f32 magnitude = magnitude_of(x);
  const bool far = magnitude > 0.5f;
  const f64 of{select(far, fused(magnitude, -2.0f, 2.0f), magnitude)};  // exact
  return {far, of * select(far, 0.25, of), select(far, root_of<Last::near>(of), of)};
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Near near_of(f64 x) {
  const f64 near_z = x * x;
  const f64 far_z = fused(magnitude_of(x), -0.5, 0.5);
  const bool far = far_z < near_z;
  const f64 z = select(far, far_z, near_z);
  return {far, z, square_root(z)};
}

}  // namespace inverse_trigonometric

// atan(x) = atan(c) + atan((x - c) / (1 + c x)), where c is 0 for small x and kAtanAt otherwise.
struct AtanOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 x) const {
    if constexpr (kOnGpu) {
      const f32 magnitude = magnitude_of(x);
      return with_sign_of(of(f64{select(magnitude > 0x1p127f, 0x1p127f, magnitude)}, magnitude > 0.587f), f64{x});
    } else {
      const f64 magnitude = magnitude_of(f64{x});
      const f64 finite = select(magnitude > 0x1p127, 0x1p127, magnitude);
      return with_sign_of(of(finite, finite > 0.587), f64{x});
    }
  }

 private:
  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr f64 of(f64 x, bool far) {
    using namespace inverse_trigonometric;
    const f64 at = select(far, kAtanAt, 0.0);
    const f64 there = select(far, kAtanThere, 0.0);
    const f64 t = quotient_of<Last::near>(x - at, fused(at, x, 1.0));
    const f64 z = t * t;
    return there + fused(t, arcus_tangent(z, z * kAtan1), t);
  }
};
template <class T>
using Atan = Function<T, AtanOf>;

struct AsinOf {
  static constexpr bool kIsLong = true;
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    using namespace inverse_trigonometric;
    const f64 x{value};
    if constexpr (kOnGpu) {
      const Near near = near_on_gpu(value);
      const f64 s = select(near.far, -near.of, near.of);
      const f64 sum = fused(s, arcus_sine(near.z), s);
      return with_sign_of(fused(select(near.far, 1.0, 0.0), kHalfPi, sum), x);
    } else {
      const Near near = near_of(x);
      const f64 s = select(near.far, -2.0 * near.of, magnitude_of(x));
      const f64 sum = s + fused(s, arcus_sine(near.z), select(near.far, kHalfPiRest, 0.0));
      return with_sign_of(select(near.far, kHalfPi, 0.0) + sum, x);
    }
  }
};
template <class T>
using Asin = Function<T, AsinOf>;

// acos(x) = pi / 2 - asin(x); beyond 1/2 it is 2 asin(s), and below -1/2 it is pi - 2 asin(s).
struct AcosOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 value) const {
    using namespace inverse_trigonometric;
    const f64 x{value};
    // Two results would be mistaken for midpoints between two FLOAT32 values, but the true values are slightly above
    // the midpoints. To avoid this, a GPU sets the last bit, and a CPU adds half a unit in the last place of pi / 2.
    if constexpr (kOnGpu) {
      const Near near = near_on_gpu(value);
      const f64 s = with_sign_of(near.of, near.far ? x : -x);
      const f64 quarters = select(near.far, select(value < 0.0f, 2.0, 0.0), 1.0);
      return from_bits<f64>(to_bits(fused(quarters, kHalfPi, fused(s, arcus_sine(near.z), s))) | 1);
    } else {
      const Near near = near_of(x);
      const f64 side = with_sign_of(1.0, x);
      const f64 s = select(near.far, 2.0 * side * near.of, -x);
      const f64 quarters = 1.0 - select(near.far, side, 0.0);
      constexpr f64 kRest = 0x1.1a62633145c07p-54 + 0x1p-53;  // kHalfPiRest plus that half unit
      const f64 sum = s + fused(s, arcus_sine(near.z), quarters * kRest);
      return fused(quarters, kHalfPi, sum);
    }
  }
};
template <class T>
using Acos = Function<T, AcosOf>;

// The angle of the point (x, y), like C's atan2: atan(|y| / |x|) is computed as above and subtracted from pi if x < 0.
// The result has the sign of y. Infinities are replaced with numbers so large that they outweigh everything else, and x
// = 0 is replaced with a number so small that it matters only if y = 0.
//
// The error of `ordinary` is below four units in its last place: three roundings and one deliberate unit for a quotient
// of less than 0.53, plus the errors of its sums. If the result is within twice that distance of a midpoint between two
// FLOAT32 values, `hard` decides. Tiny quotients never need `hard`: a quotient of two FLOAT32 values that is not a
// midpoint is at least eight units away from the nearest midpoint. A quotient can be a midpoint only if the result is
// subnormal. The true value is then slightly less than the quotient, which the deliberate unit accounts for.
struct AtanYxOf {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 ordinary(f32 y, f32 x) const {
    using namespace inverse_trigonometric;
    const Operands of(y, x);
    const f64 t = quotient_of(fused(-of.at, of.x, of.y), fused(of.at, of.y, of.x));
    const f64 z = t * t;
    const f64 angle = select(of.far, kAtanThere, 0.0) + fused(t, arcus_tangent(z, fused(z, kAtan1, -0x1p-53)), t);
    return with_sign_of(select(of.left, kPi - angle, angle), f64{y});
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_hard(f32, f32, f64 result) const {
    constexpr u64 kNear = 8;
    constexpr u64 kHalf = u64{1} << 28;
    return ((to_bits(result) - (kHalf - kNear)) & (2 * kHalf - 1)) <= 2 * kNear;
  }
  // Computes FLOAT16 in FLOAT32: the arctangent of the smaller argument divided by the larger argument. The error is
  // below four units in the last place: up to two come from the quotient on a GPU, and the rest from the sums and from
  // a polynomial with an error of 2^-25.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 quick(f32 y, f32 x) const {
    using namespace inverse_trigonometric;
    const f32 above = magnitude_of(y);
    const f32 beside = magnitude_of(x);
    const bool steep = above > beside;
    const f32 t = near_quotient(select(steep, beside, above), select(steep, above, beside));
    const f32 z = t * t;
    const f32 z2 = z * z;
    const f32 a0 = fused(fused(z, kShortAtan4, kShortAtan3), z2, fused(z, kShortAtan2, kShortAtan1));
    const f32 a1 = fused(fused(z, kShortAtan8, kShortAtan7), z2, fused(z, kShortAtan6, kShortAtan5));
    f32 angle = fused(t * z, fused(a1, z2 * z2, a0), t);
    constexpr f32 kShortHalfPi = 0x1.921fb6p0f;
    constexpr f32 kShortPi = 0x1.921fb6p1f;
    angle = select(steep, kShortHalfPi - angle, angle);
    return with_sign_of(select(x < 0.0f, kShortPi - angle, angle), y);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_unclear(f32 result) const {
    return is_rounding_ambiguous(result, 0x1.4p-21f);
  }

  // Uses pairs of FLOAT64 values, with a relative error below 2^-97: the polynomial has an error of 2^-103, and pairs
  // are rounded to 2^-102 or better in each step.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 hard(f32 y, f32 x) const {
    using namespace inverse_trigonometric;
    const Operands of(y, x);
    const Pair above = sum(of.y, -of.at * of.x);  // the products are exact
    const Pair below = sum(of.x, of.at * of.y);
    const f64 near = above.first / below.first;
    const f64 left_over = fused(-near, below.first, above.first);
    const Pair t = ordered_sum(near, (left_over + fused(-near, below.second, above.second)) / below.first);
    const Pair z = product(t, t);
    constexpr LongAtan kTerms = kLongAtan;
    Pair p = {kTerms.of[25][0], kTerms.of[25][1]};
    for (int i = 24; i >= 0; --i) {
      p = ordered_sum(term_of(kTerms, i), product(z, p));
    }
    Pair angle = ordered_sum(t, product(t, product(z, p)));
    const f64 there = select(of.far, kAtanThere, 0.0);
    const f64 there_rest = select(of.far, kAtanThereRest, 0.0);
    // t is less than the number to which it is added, unless that number is 0.
    angle = select_pair(of.far, ordered_sum({there, there_rest}, angle), angle);
    angle = select_pair(of.left, ordered_sum({kPi, kPiRest}, {-angle.first, -angle.second}), angle);
    return with_sign_of(sum_to_odd(angle.first, angle.second), f64{y});
  }

 private:
  struct Operands {
    ANYDML_HOST_DEVICE constexpr Operands(f32 from_y, f32 from_x)
        : y(without_infinity(magnitude_of(f64{from_y}))),
          x(without_infinity(magnitude_of(f64{from_x}))),
          left((to_bits(f64{from_x}) >> 63) != 0) {
      x = select(x == 0.0, 0x1p-600, x);
      far = y > 0.587 * x;
      at = select(far, inverse_trigonometric::kAtanAt, 0.0);
    }
    ANYDML_HOST_DEVICE static constexpr f64 without_infinity(f64 value) {
      return select(value > 0x1p128, 0x1p600, value);
    }
    f64 y;
    f64 x;
    bool left;
    bool far = false;
    f64 at = 0.0;
  };

  // A number represented as the sum of two FLOAT64 values, where the second is less than the last place of the first.
  struct Pair {
    f64 first;
    f64 second;
  };
  ANYDML_HOST_DEVICE static constexpr Pair select_pair(bool condition, Pair a, Pair b) {
    return {select(condition, a.first, b.first), select(condition, a.second, b.second)};
  }
  ANYDML_HOST_DEVICE static constexpr Pair sum(f64 a, f64 b) {
    const f64 first = a + b;
    const f64 of_b = first - a;
    return {first, (a - (first - of_b)) + (b - of_b)};
  }
#if defined(ANYDML_PRIMITIVES_HEADER)
  // A device's compiler may not be able to read a table at a varying index (clang's, for SPIR-V), so every term is
  // compared.
  static constexpr Pair term_of(const inverse_trigonometric::LongAtan& terms, int i) {
    u64 first = 0;
    u64 second = 0;
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      ((first = i == static_cast<int>(k) ? to_bits(terms.of[k][0]) : first), ...);
      ((second = i == static_cast<int>(k) ? to_bits(terms.of[k][1]) : second), ...);
    }
    (std::make_index_sequence<25>());
    return {from_bits<f64>(first), from_bits<f64>(second)};
  }
#else
  ANYDML_HOST_DEVICE static constexpr Pair term_of(const inverse_trigonometric::LongAtan& terms, int i) {
    return {terms.of[i][0], terms.of[i][1]};
  }
#endif
  ANYDML_HOST_DEVICE static constexpr Pair ordered_sum(f64 a, f64 b) {  // |a| >= |b|
    const f64 first = a + b;
    return {first, b - (first - a)};
  }
  ANYDML_HOST_DEVICE static constexpr Pair ordered_sum(Pair a, Pair b) {
    const Pair firsts = ordered_sum(a.first, b.first);
    return ordered_sum(firsts.first, firsts.second + (a.second + b.second));
  }
  ANYDML_HOST_DEVICE static constexpr Pair product(Pair a, Pair b) {
    const f64 first = a.first * b.first;
    const f64 rounded = fused(a.first, b.first, -first);
    return ordered_sum(first, fused(a.first, b.second, fused(a.second, b.first, rounded)));
  }
};
template <class T>
using AtanYx = FunctionOfTwo<T, AtanYxOf>;

}  // namespace anydml
