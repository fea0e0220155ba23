// SPDX-License-Identifier: MIT
// The words from which a definition is best put together, so that a compiler makes vectors of a loop over it: one
// machine operation each, and no branch. Arithmetic, comparisons of integers and conversions need no word.
#pragma once

#include "base/float_bits.h"

namespace anydml {

// `condition ? a : b`, by bits. Where the condition compares floats, g++ 12 would turn it round and then ask for NaN
// too, which takes Arm seven instructions.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T select(bool condition, T a, T b) {
  if constexpr (is_float<T>) {
    using Bits = float_bits_t<T>;
    const Bits mask = static_cast<Bits>(Bits{0} - static_cast<Bits>(condition));
    return from_bits<T>(static_cast<Bits>((to_bits(a) & mask) | (to_bits(b) & static_cast<Bits>(~mask))));
  } else {
    const T mask = static_cast<T>(wrapping_t<T>{0} - static_cast<wrapping_t<T>>(condition));
    return static_cast<T>((a & mask) | (b & static_cast<T>(~mask)));
  }
}

// Whether x > 0. By bits: of "x > 0 ? x : 0" clang makes Arm's FMAXNM, which turns a signalling NaN into a NaN and not
// into 0.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_positive(T x) {
  if constexpr (is_float<T>) {
    return static_cast<float_bits_t<T>>(to_bits(x) - 1U) < FloatParts<T>::kInfinity;
  } else {
    return x > T{0};
  }
}

// The greater and the less of two: a NaN in either wins, and +0 is above -0.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T greater_of(T a, T b) {
  if constexpr (is_float<T>) {
    // For equal numbers both bits, which are those of -0 only if both are -0. b if it is NaN.
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

// |x|, and x with the sign of another, by bits.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T magnitude_of(T x) {
  return from_bits<T>(static_cast<float_bits_t<T>>(to_bits(x) & FloatParts<T>::kMagnitude));
}
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T with_sign_of(T x, T sign) {
  return from_bits<T>(
      static_cast<float_bits_t<T>>((to_bits(x) & FloatParts<T>::kMagnitude) | (to_bits(sign) & FloatParts<T>::kSign)));
}

// a * b + c, rounded once.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T fused(T a, T b, T c) {
#if defined(__CUDA_ARCH__)
  return ::fma(a, b, c);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_fmaf(a, b, c);
  } else {
    return __builtin_fma(a, b, c);
  }
#endif
}

// IEEE 754's square root.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T square_root(T x) {
#if defined(__CUDA_ARCH__)
  return ::sqrt(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_sqrtf(x);
  } else {
    return __builtin_sqrt(x);
  }
#endif
}

// A GPU has other threads to run while an operation waits for another: the fewest operations are best, in the longest
// chain. ANYDML_LIKE_A_GPU makes a CPU compute as a GPU does, for tests.
#if defined(__CUDA_ARCH__) || defined(ANYDML_LIKE_A_GPU)
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif

// c0 + c1 x + c2 x^2 ... in the fewest possible operations.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 horner(f64, f64 c) { return c; }
template <class... More>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 horner(f64 x, f64 c, More... more) {
  return fused(horner(x, more...), x, c);
}

// Some twenty bits of 1 / x and of 1 / sqrt(x), as NVIDIA's GPUs have them for the upper half of a FLOAT64.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 inverse_estimate(f64 x) {
#if defined(__CUDA_ARCH__)
  f64 y = 0;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#else
  return from_bits<f64>(to_bits(1.0 / x) & 0xffffffff00000000);
#endif
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 inverse_root_estimate(f64 x) {
#if defined(__CUDA_ARCH__)
  f64 y = 0;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#else
  return from_bits<f64>(to_bits(1.0 / square_root(x)) & 0xffffffff00000000);
#endif
}

// a / b and the square root of x, of numbers and to numbers that are far from overflow and from subnormal ones, b above
// 0 and x 0 or above; NaN passes, and x below 0 has the root NaN. Rounded as IEEE 754 says, or on a GPU with Last::near
// to within two units of the last place. (On a GPU a quotient within 2^-52 of such a unit from a midpoint might be
// rounded to the other side: about one of 2^52.) CUDA's own guard against other numbers by a branch and take twice as
// long: these refine an estimate, and the last step adds the correction from the remainder, which is exact.
enum class Last { exact, near };
template <Last last = Last::exact>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 quotient_of(f64 a, f64 b) {
  if constexpr (kOnGpu) {
    const f64 first = inverse_estimate(b);
    const f64 error = fused(-b, first, 1.0);
    const f64 inverse = fused(first, fused(error, error, error), first);
    const f64 near = a * inverse;
    // So that -0 is unchanged.
    return last == Last::near ? near : fused(fused(b, near, -a), -inverse, near);
  } else {
    return a / b;
  }
}
template <Last last = Last::exact>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 root_of(f64 x) {
  if constexpr (kOnGpu) {
    // The root of 0 begins with that of a tiny number. As integers, numbers below 0 are above all others.
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

// IEEE 754's roundings to an integer: down, up, towards 0, to the nearest with halves away from 0, and to the nearest
// with halves to even. Zeros, and numbers that round to zero, keep their sign; infinities and NaN are unchanged. The
// machine always rounds to nearest here, on which the last one relies.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T round_down(T x) {
#if defined(__CUDA_ARCH__)
  return ::floor(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_floorf(x);
  } else {
    return __builtin_floor(x);
  }
#endif
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T round_up(T x) {
#if defined(__CUDA_ARCH__)
  return ::ceil(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_ceilf(x);
  } else {
    return __builtin_ceil(x);
  }
#endif
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T round_towards_zero(T x) {
#if defined(__CUDA_ARCH__)
  return ::trunc(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_truncf(x);
  } else {
    return __builtin_trunc(x);
  }
#endif
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T round_away(T x) {
#if defined(__CUDA_ARCH__)
  return ::round(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_roundf(x);
  } else {
    return __builtin_round(x);
  }
#endif
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T round_even(T x) {
#if defined(__CUDA_ARCH__)
  return ::rint(x);
#else
  if constexpr (sizeof(T) == sizeof(f32)) {
    return __builtin_rintf(x);
  } else {
    return __builtin_rint(x);
  }
#endif
}

}  // namespace anydml
