// SPDX-License-Identifier: MIT
// Converts totals of integer products to outputs, as ops/product/scalar/integer.h does.
#ifndef ANYDML_INTEGER_FINISH_GLSL
#define ANYDML_INTEGER_FINISH_GLSL

const uint kFinishInt32 = 0u, kFinishQuantized = 1u, kFinishFloat32 = 2u;  // IntegerFinish

// As in IntegerOperand.
const uint kA = 0u, kB = 1u, kAZero = 2u, kBZero = 3u, kAScale = 4u, kBScale = 5u, kBias = 6u, kOutputScale = 7u,
           kOutputZero = 8u, kOutput = 9u;

uint import_f32_of_i32(const in uint x) { return x; }

uint load_scale(uint operand, int64_t offset) {
  return load_32(operand_address(operand) + uint64_t(offset));
}
int load_zero(uint operand, int64_t offset, uint is_signed) {
  const uint64_t address = operand_address(operand);
  return address == 0ul ? 0 : load_byte(address + uint64_t(offset), is_signed);
}

uint scaled_total(int total, uint factor) { return multiply_floats(import_f32_of_i32(uint(total)), factor); }

// The nearest integer, ties to even, limited to 1024. NaN becomes 0.
int rounded(uint x) {
  const uint magnitude = x & 0x7fffffffu;
  if (magnitude > 0x7f800000u || magnitude < 0x3f000000u) {  // less than a half
    return 0;
  }
  uint whole = 1024u;
  if (magnitude < 0x44800000u) {
    const uint below = 150u - (magnitude >> 23);  // bits of the significand below the unit: 14 to 24
    const uint significand = (magnitude & 0x7fffffu) | 0x800000u;
    const uint half_unit = 1u << (below - 1u);
    const uint rest = significand & (2u * half_unit - 1u);
    whole = significand >> below;
    whole += rest > half_unit || (rest == half_unit && (whole & 1u) != 0u) ? 1u : 0u;
  }
  return x >= 0x80000000u ? -int(whole) : int(whole);
}

uint quantized_total(int total, uint factor, int zero, uint is_signed) {
  const int value = rounded(scaled_total(total, factor)) + zero;
  return uint(is_signed != 0u ? clamp(value, -128, 127) : clamp(value, 0, 255));
}
uint quantized_factor(uint a_scale, uint b_scale, uint output_scale) {
  return divide_floats(multiply_floats(a_scale, b_scale), output_scale);
}

#endif
