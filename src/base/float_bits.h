// SPDX-License-Identifier: MIT
// IEEE formats as integers: bit casts and conversions, on which the scalar definitions are built. Conversions use
// integer arithmetic or, between FLOAT16 and FLOAT32, a device's instruction (base/primitives.h). Both methods return
// the same bits, except for NaNs, and neither depends on the machine's rounding or flush mode.
#pragma once

#include "base/element.h"
#include "base/float_formats.h"

namespace anydml {

template <class T>
struct FloatFormat;
template <>
struct FloatFormat<f16> : Float16Format {};
template <>
struct FloatFormat<f32> : Float32Format {};
template <>
struct FloatFormat<f64> : Float64Format {};

template <class T>
struct FloatParts : FormatParts<FloatFormat<T>> {};

template <class T>
using float_bits_t = typename FloatFormat<T>::Bits;

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr float_bits_t<T> to_bits(T value) {
  return __builtin_bit_cast(float_bits_t<T>, value);
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T from_bits(float_bits_t<T> bits) {
  return __builtin_bit_cast(T, bits);
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T quiet_nan() {
  return from_bits<T>(FloatParts<T>::kQuietNan);
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_nan(T value) {
  return (to_bits(value) & FloatParts<T>::kMagnitude) > FloatParts<T>::kInfinity;
}

// Converts a number to a narrower format, rounded once to nearest even.
template <class To, class From>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr To round_to(From value) {
  using From_ = FloatParts<From>;
  using To_ = FloatParts<To>;
  constexpr int kDropped = From_::kFractionBits - To_::kFractionBits;
  static_assert(kDropped > 0);
  if constexpr (kConvertsFloat16 && sizeof(To) == 2 && sizeof(From) == 4) {
    if (!__builtin_is_constant_evaluated()) {
      return {float16_of_float32(value)};
    }
  }
  const u64 bits = to_bits(value);
  const u64 magnitude = bits & From_::kMagnitude;
  const u64 sign = (bits >> (sizeof(From) * 8 - 1)) << (sizeof(To) * 8 - 1);
  u64 result = 0;
  if (magnitude > From_::kInfinity) {
    result = To_::kQuietNan;
  } else {
    const int exponent = static_cast<int>(magnitude >> From_::kFractionBits);
    const int target = exponent - From_::kBias + To_::kBias;
    // The significand before its lowest bits are rounded off. For normal results, the bits above it contain the
    // target's exponent.
    u64 scaled = 0;
    int drop = kDropped;
    if (target > 0) {
      scaled = magnitude - (static_cast<u64>(From_::kBias - To_::kBias) << From_::kFractionBits);
    } else {
      scaled = (magnitude & From_::kFraction) | (exponent > 0 ? u64{From_::kHidden} : 0);
      drop += 1 - target - (exponent > 0 ? 0 : 1);
    }
    if (drop <= From_::kFractionBits + 1) {
      const u64 odd = (scaled >> drop) & 1;
      result = (scaled + ((u64{1} << (drop - 1)) - 1) + odd) >> drop;
    }
    if (result > To_::kInfinity) {
      result = To_::kInfinity;
    }
  }
  return from_bits<To>(static_cast<float_bits_t<To>>(sign | result));
}

// Converts a number to a wider format; the result is always exact. A signaling NaN becomes quiet, as in every IEEE 754
// conversion.
template <class To, class From>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr To widen_to(From value) {
  using From_ = FloatParts<From>;
  using To_ = FloatParts<To>;
  constexpr int kAdded = To_::kFractionBits - From_::kFractionBits;
  static_assert(kAdded > 0);
  if constexpr (kConvertsFloat16 && sizeof(From) == 2 && sizeof(To) == 4) {
    if (!__builtin_is_constant_evaluated()) {
      return float32_of_float16(value.bits);
    }
  }
  const u64 bits = to_bits(value);
  const u64 magnitude = bits & From_::kMagnitude;
  const u64 sign = (bits >> (sizeof(From) * 8 - 1)) << (sizeof(To) * 8 - 1);
  constexpr u64 kRebias = static_cast<u64>(To_::kBias - From_::kBias) << To_::kFractionBits;
  u64 result = 0;
  if (magnitude > From_::kInfinity) {
    result = To_::kQuietNan;
  } else if (magnitude == From_::kInfinity) {
    result = To_::kInfinity;
  } else if (magnitude >= From_::kHidden) {
    result = (magnitude << kAdded) + kRebias;
  } else if (magnitude != 0) {
    // A subnormal: shift its leading one to the hidden position and adjust the exponent.
    const int shift = leading_zeros(magnitude) - (63 - From_::kFractionBits);
    result = (magnitude << (kAdded + shift)) + kRebias - (static_cast<u64>(shift) << To_::kFractionBits);
  }
  return from_bits<To>(static_cast<float_bits_t<To>>(sign | result));
}

// The type used to compute with an element: FLOAT32 for FLOAT16, otherwise the type itself.
template <class T>
struct Compute {
  using type = T;
};
template <>
struct Compute<f16> {
  using type = f32;
};
template <class T>
using compute_t = typename Compute<T>::type;

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> widen(T value) {
  if constexpr (sizeof(compute_t<T>) == sizeof(T)) {
    return value;
  } else {
    return widen_to<compute_t<T>>(value);
  }
}

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T narrow(compute_t<T> value) {
  if constexpr (sizeof(compute_t<T>) == sizeof(T)) {
    return value;
  } else {
    return round_to<T>(value);
  }
}

// An unsigned type of at least 32 bits, so that integer arithmetic wraps without undefined behavior. Narrower types
// would be promoted to int, and products of ints can overflow.
template <class T>
using wrapping_t = std::conditional_t<sizeof(T) == 8, u64, u32>;

}  // namespace anydml
