// SPDX-License-Identifier: MIT
// QUANTIZE and DEQUANTIZE for one element. A code is the integer that represents a number: INT8, UINT8, INT4 or UINT4.
#pragma once

#include "base/element.h"
#include "ops/scalar/coded_number.h"
#include "ops/scalar/quantize.h"

namespace anydml {

// The range of integers of a code type. `flip` is the sign bit of a signed type: the value of a code is (bits XOR flip)
// - flip.
struct CodeRange {
  i32 minimum;
  i32 maximum;
  i32 flip;
};

[[nodiscard]] ANYDML_HOST_DEVICE constexpr CodeRange code_range(DataType type) {
  switch (type) {
    case DataType::INT4:
      return {-8, 7, 8};
    case DataType::UINT4:
      return {0, 15, 0};
    case DataType::INT8:
      return {-128, 127, 128};
    default:
      return {0, 255, 0};
  }
}

// The zero point if there is no tensor of zero points. For unsigned codes, DirectML uses the middle of their range.
[[nodiscard]] constexpr i32 default_zero_point(DataType type) {
  return type == DataType::UINT4 ? 8 : type == DataType::UINT8 ? 128 : 0;
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr i32 code_of_bits(u32 bits, i32 flip) {
  return (static_cast<i32>(bits) ^ flip) - flip;
}

// Loads a code. Elements are counted from base; two four-bit elements share a byte, with the first in its low half.
[[nodiscard]] ANYDML_HOST_DEVICE inline i32 load_code(const std::byte* base, i64 element, bool four_bits, i32 flip) {
  const auto byte = static_cast<u32>(base[four_bits ? element >> 1 : element]);
  return code_of_bits(four_bits ? byte >> (4 * (element & 1)) & 15U : byte, flip);
}

// x / scale in FLOAT32, rounded to the nearest integer, ties to even, plus the zero point, saturated to the limits. A
// NaN quotient counts as 0.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i32 quantized_code(f32 x, f32 scale, i32 zero, CodeRange range) {
  const i32 code = quantized_quotient(x, scale) + zero;
  return code < range.minimum ? range.minimum : code > range.maximum ? range.maximum : code;
}

}  // namespace anydml
