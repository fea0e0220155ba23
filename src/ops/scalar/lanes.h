// SPDX-License-Identifier: MIT
// Vectorizable primitives for definitions. Each primitive is one machine operation without a branch, so that compilers
// can vectorize a loop over a definition. Arithmetic, integer comparisons and conversions need no primitive, and
// primitives.h contains the primitives that differ between machines.
#pragma once

#include "ops/scalar/primitives.h"

namespace anydml {

// `condition ? a : b`, computed on the bits. If the condition compares floats, g++ 12 would invert it and then also
// test for NaN, which takes seven instructions on Arm. FLOAT32 and FLOAT64 have separate overloads, so that the
// arguments may be literals on any machine.
template <class Bits>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Bits select_bits(bool condition, Bits a, Bits b) {
  const Bits mask = static_cast<Bits>(wrapping_t<Bits>{0} - static_cast<wrapping_t<Bits>>(condition));
  return static_cast<Bits>((a & mask) | (b & static_cast<Bits>(~mask)));
}
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T select(bool condition, T a,
                                                    T b) requires(is_float<T> || std::is_integral_v<T>) {
  if constexpr (is_float<T>) {
    return from_bits<T>(select_bits(condition, to_bits(a), to_bits(b)));
  } else {
    return select_bits(condition, a, b);
  }
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 select(bool condition, f32 a, f32 b) {
  return from_bits<f32>(select_bits(condition, to_bits(a), to_bits(b)));
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 select(bool condition, f64 a, f64 b) {
  return from_bits<f64>(select_bits(condition, to_bits(a), to_bits(b)));
}

// Whether x > 0, computed on the bits: clang compiles "x > 0 ? x : 0" to Arm's FMAXNM, which turns a signaling NaN into
// a NaN instead of 0.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_positive(T x) {
  if constexpr (is_float<T>) {
    return static_cast<float_bits_t<T>>(to_bits(x) - 1U) < FloatParts<T>::kInfinity;
  } else {
    return x > T{0};
  }
}

// The larger and the smaller of two numbers. If either number is NaN, the result is NaN. +0 is above -0.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T greater_of(T a, T b) {
  if constexpr (is_float<T>) {
    // For equal numbers, not_a is the AND of their bits, which is -0 only if both are -0. Otherwise it is b, which may
    // be NaN.
    const auto differ = static_cast<float_bits_t<T>>(static_cast<float_bits_t<T>>(a == b) - 1);
    const T not_a = from_bits<T>(static_cast<float_bits_t<T>>(to_bits(b) & (to_bits(a) | differ)));
    return select(a != a, a, select(a > b, a, not_a));
  } else {
    return a > b ? a : b;
  }
}
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T less_of(T a, T b) {
  if constexpr (is_float<T>) {
    const auto equal = static_cast<float_bits_t<T>>(float_bits_t<T>{0} - static_cast<float_bits_t<T>>(a == b));
    const T not_a = from_bits<T>(static_cast<float_bits_t<T>>(to_bits(b) | (to_bits(a) & equal)));
    return select(a != a, a, select(a < b, a, not_a));
  } else {
    return a < b ? a : b;
  }
}

// |x|, and x with the sign of a second number, both computed on the bits.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T magnitude_of(T x) {
  return from_bits<T>(static_cast<float_bits_t<T>>(to_bits(x) & FloatParts<T>::kMagnitude));
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 with_sign_of(f32 x, f32 sign) {
  using F = FloatParts<f32>;
  return from_bits<f32>((to_bits(x) & F::kMagnitude) | (to_bits(sign) & F::kSign));
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 with_sign_of(f64 x, f64 sign) {
  using F = FloatParts<f64>;
  return from_bits<f64>((to_bits(x) & F::kMagnitude) | (to_bits(sign) & F::kSign));
}

// c0 + c1 x + c2 x^2 ... with the fewest operations.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 horner(f64, f64 c) { return c; }
template <class... More>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 horner(f64 x, f64 c, More... more) {
  return fused(horner(x, more...), x, c);
}

// a / b and the square root of x, for operands and results that are far from overflow and from subnormal numbers, with
// b > 0 and x >= 0. NaN passes through, and the root of a negative x is NaN. Results are rounded as IEEE 754 requires
// or, on a GPU with Last::near, to within two units in the last place. (On a GPU, a quotient within 2^-52 of a unit
// from a midpoint might be rounded to the wrong side: about one in 2^52.) CUDA's own functions use a branch to handle
// all other operands and take twice as long. These functions refine an estimate; the last step adds a correction
// computed from the exact remainder.
enum class Last { exact, near };
template <Last last = Last::exact>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 quotient_of(f64 a, f64 b) {
  if constexpr (kOnGpu) {
    const f64 first = inverse_estimate(b);
    const f64 error = fused(-b, first, 1.0);
    const f64 inverse = fused(first, fused(error, error, error), first);
    const f64 near = a * inverse;
    // This form leaves -0 unchanged.
    return last == Last::near ? near : fused(fused(b, near, -a), -inverse, near);
  } else {
    return a / b;
  }
}
template <Last last = Last::exact>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 root_of(f64 x) {
  if constexpr (kOnGpu) {
    // For x = 0, the estimate is computed for a tiny number instead. Negative numbers keep their own bits, since these
    // compare above all other numbers as integers.
    constexpr u32 kTiny = u32{1} << 28;
    const auto high = static_cast<u32>(to_bits(x) >> 32);
    const f64 first = inverse_root_estimate(from_bits<f64>(u64{high < kTiny ? kTiny : high} << 32));
    const f64 error = fused(x * first, -first, 1.0);
    const f64 inverse = fused(error * first, fused(error, 0.375, 0.5), first);
    const f64 near = x * inverse;
    return last == Last::near ? near : fused(fused(near, -near, x), 0.5 * inverse, near);
  } else {
    return square_root(x);
  }
}

}  // namespace anydml
