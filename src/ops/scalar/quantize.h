// SPDX-License-Identifier: MIT
// ELEMENT_WISE_QUANTIZE_LINEAR: x / Scale in FLOAT32, rounded to the nearest integer, ties to even, plus the zero point
// without wrapping, saturated to the limits of the output; a NaN quotient counts as 0. ELEMENT_WISE_DEQUANTIZE_LINEAR:
// x - zero point without wrapping, rounded to FLOAT32, times Scale. In both operators, a missing zero point counts as
// 0.
#pragma once

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

// INT32 inputs have a FLOAT32 scale, and float inputs have a scale of their own type.
template <class In>
using scale_of_t = std::conditional_t<is_float<In>, In, f32>;
template <class In, class Out>
inline constexpr bool kQuantizes = (std::is_same_v<In, f32> || std::is_same_v<In, f16> ||
                                    std::is_same_v<In, i32>)&&(std::is_same_v<Out, u8> || std::is_same_v<Out, i8>);

// The quotient as an integer, limited to the range that matters for the output's limits and any zero point. NaN becomes
// 0.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i32 quantized_quotient(f32 x, f32 scale) {
  const f32 quotient = x / scale;
  const f32 bounded = select(quotient > 1024.0F, 1024.0F, select(quotient < -1024.0F, -1024.0F, quotient));
  // Adding and subtracting 1.5 * 2^23 leaves the nearest integer, ties to even.
  const f32 shifted = select(bounded == bounded, bounded, 0.0F) + 12582912.0F;
  return static_cast<i32>(shifted - 12582912.0F);
}
template <class Out>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Out saturated(i32 value) {
  constexpr i32 kMin = std::is_signed_v<Out> ? -128 : 0;
  constexpr i32 kMax = std::is_signed_v<Out> ? 127 : 255;
  return static_cast<Out>(value < kMin ? kMin : value > kMax ? kMax : value);
}

template <class In, class Out>
struct QuantizeLinear {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Out operator()(In x, scale_of_t<In> scale,
                                                            Out zero_point) const requires kQuantizes<In, Out> {
    return compute(static_cast<f32>(widen(x)), widen(scale), zero_point);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Out compute(f32 x, f32 scale, Out zero_point) const {
    return saturated<Out>(quantized_quotient(x, scale) + zero_point);
  }
};

template <class In, class Out>
struct QuantizeLinearFromZero {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Out operator()(In x,
                                                            scale_of_t<In> scale) const requires kQuantizes<In, Out> {
    return compute(static_cast<f32>(widen(x)), widen(scale));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Out compute(f32 x, f32 scale) const {
    return saturated<Out>(quantized_quotient(x, scale));
  }
};

template <class In, class Out>
inline constexpr bool kDequantizes = std::is_integral_v<In> && sizeof(In) <= 4 &&
                                     (std::is_same_v<Out, f32> || std::is_same_v<Out, f16>);

template <class In, class Out>
struct DequantizeLinear {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Out operator()(In x, Out scale,
                                                            In zero_point) const requires kDequantizes<In, Out> {
    return narrow<Out>(compute(x, widen(scale), zero_point));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 compute(In x, f32 scale, In zero_point) const {
    using Wide = std::conditional_t<sizeof(In) == 4, i64, i32>;
    return static_cast<f32>(static_cast<Wide>(x) - static_cast<Wide>(zero_point)) * scale;
  }
};

template <class In, class Out>
struct DequantizeLinearFromZero {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Out operator()(In x, Out scale) const requires kDequantizes<In, Out> {
    return narrow<Out>(compute(x, widen(scale)));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 compute(In x, f32 scale) const { return static_cast<f32>(x) * scale; }
};

}  // namespace anydml
