// SPDX-License-Identifier: MIT
// One output of a product of 8-bit matrices. Differences from the zero points are multiplied and added modulo 2^32, so
// the order does not matter. Scales are applied to the sum, which is rounded to FLOAT32 and multiplied by one factor.
#pragma once

#include "ops/scalar/quantize.h"

namespace anydml {

// a(k) and b(k): the differences from the zero points, as 32-bit integers.
template <class A, class B>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i32 sum_of_integer_products(i64 depth, A a, B b) {
  u32 total = 0;
  for (i64 k = 0; k < depth; ++k) {
    total += static_cast<u32>(a(k)) * static_cast<u32>(b(k));
  }
  return static_cast<i32>(total);
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 float_factor(f32 a_scale, f32 b_scale) { return a_scale * b_scale; }
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 quantized_factor(f32 a_scale, f32 b_scale, f32 output_scale) {
  const f32 product = a_scale * b_scale;
  return product / output_scale;
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 scaled_total(i32 total, f32 factor) {
  return static_cast<f32>(total) * factor;
}
// The scaled total, rounded to the nearest integer with ties to even, plus the zero point, saturated. NaN counts as 0.
template <class Out>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Out quantized_total(i32 total, f32 factor, i32 zero_point) {
  return saturated<Out>(quantized_quotient(scaled_total(total, factor), 1.0F) + zero_point);
}

}  // namespace anydml
