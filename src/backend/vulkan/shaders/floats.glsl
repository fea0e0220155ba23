// SPDX-License-Identifier: MIT
// Arithmetic with FLOAT32, or with FLOAT64 if a kernel defines DOUBLE as 1. Numbers are bits. The functions import_* are
// replaced by the device's primitives (backend/vulkan/spirv/functions.h); glslc drops those that a kernel does not call.
#ifndef ANYDML_FLOATS_GLSL
#define ANYDML_FLOATS_GLSL
#extension GL_EXT_shader_explicit_arithmetic_types : require
#ifndef DOUBLE
#define DOUBLE 0
#endif

uint import_f32_of_f16(const in uint x) { return x; }
uint import_f16_of_f32(const in uint x) { return x; }

#if DOUBLE
#define Value uint64_t
Value import_f64_add(const in Value x, const in Value y) { return x ^ y; }
Value import_f64_subtract(const in Value x, const in Value y) { return x ^ y; }
Value import_f64_multiply(const in Value x, const in Value y) { return x ^ y; }
Value import_f64_divide(const in Value x, const in Value y) { return x ^ y; }
Value import_f64_fused(const in Value x, const in Value y, const in Value z) { return x ^ y ^ z; }
Value import_f64_square_root(const in Value x) { return x; }
Value import_f64_round_down(const in Value x) { return x; }
Value import_f64_of_i64(const in uint64_t x) { return x; }
uint64_t import_f64_to_i64(const in Value x) { return x; }
bool import_f64_less(const in Value x, const in Value y) { return x < y; }
bool import_f64_equal(const in Value x, const in Value y) { return x == y; }
#define add_floats import_f64_add
#define subtract_floats import_f64_subtract
#define multiply_floats import_f64_multiply
#define divide_floats import_f64_divide
#define fused_floats import_f64_fused
#define root_of_float import_f64_square_root
#define round_down_float import_f64_round_down
#define float_of_integer(x) import_f64_of_i64(uint64_t(x))
#define integer_of_float(x) int64_t(import_f64_to_i64(x))
#define is_less_float import_f64_less
#define is_equal_float import_f64_equal
const Value kSignOfValue = uint64_t(1) << 63;
const Value kNanOfValue = uint64_t(0x7ff8) << 48;
const Value kInfinityOfValue = uint64_t(0x7ff) << 52;
const Value kOneOfValue = uint64_t(0x3ff) << 52;
#else
#define Value uint
Value import_f32_add(const in Value x, const in Value y) { return x ^ y; }
Value import_f32_subtract(const in Value x, const in Value y) { return x ^ y; }
Value import_f32_multiply(const in Value x, const in Value y) { return x ^ y; }
Value import_f32_divide(const in Value x, const in Value y) { return x ^ y; }
Value import_f32_fused(const in Value x, const in Value y, const in Value z) { return x ^ y ^ z; }
Value import_f32_square_root(const in Value x) { return x; }
Value import_f32_round_down(const in Value x) { return x; }
Value import_f32_of_i64(const in uint64_t x) { return uint(x); }
uint64_t import_f32_to_i64(const in Value x) { return uint64_t(x); }
bool import_f32_less(const in Value x, const in Value y) { return x < y; }
bool import_f32_equal(const in Value x, const in Value y) { return x == y; }
#define add_floats import_f32_add
#define subtract_floats import_f32_subtract
#define multiply_floats import_f32_multiply
#define divide_floats import_f32_divide
#define fused_floats import_f32_fused
#define root_of_float import_f32_square_root
#define round_down_float import_f32_round_down
#define float_of_integer(x) import_f32_of_i64(uint64_t(x))
#define integer_of_float(x) int64_t(import_f32_to_i64(x))
#define is_less_float import_f32_less
#define is_equal_float import_f32_equal
const Value kSignOfValue = 0x80000000u;
const Value kNanOfValue = 0x7fc00000u;
const Value kInfinityOfValue = 0x7f800000u;
const Value kOneOfValue = 0x3f800000u;
#endif

// The number in the bits of an element of 2, 4 or 8 bytes, and the bits of an element for a number, rounded once.
Value value_of(uint64_t bits, uint bytes) {
#if DOUBLE
  return bits;
#else
  return bytes == 2 ? import_f32_of_f16(uint(bits)) : uint(bits);
#endif
}
uint64_t element_of(Value value, uint bytes) {
#if DOUBLE
  return value;
#else
  return uint64_t(bytes == 2 ? import_f16_of_f32(value) : value);
#endif
}

#endif
