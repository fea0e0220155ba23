// SPDX-License-Identifier: MIT
// Every primitive in integers, which are exact on every device. The functions are named integer_NAME.
#define ANYDML_PRIMITIVES_HEADER "backend/vulkan/spirv/library/integer_primitives.h"
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#include "base/float_bits.h"
#pragma clang attribute pop

using namespace anydml;

#define ANYDML_ONE(result, f, Primitives, name, type) \
  extern "C" result integer_##f##_##name(type x) { return Primitives::name(x); }
#define ANYDML_TWO(result, f, Primitives, name, type) \
  extern "C" result integer_##f##_##name(type a, type b) { return Primitives::name(a, b); }
#define ANYDML_FORMAT(f, Primitives, bits, other, other_bits)                                        \
  ANYDML_TWO(bits, f, Primitives, add, bits)                                                         \
  ANYDML_TWO(bits, f, Primitives, subtract, bits)                                                    \
  ANYDML_TWO(bits, f, Primitives, multiply, bits)                                                    \
  ANYDML_TWO(bits, f, Primitives, divide, bits)                                                      \
  extern "C" bits integer_##f##_fused(bits a, bits b, bits c) { return Primitives::fused(a, b, c); } \
  ANYDML_ONE(bits, f, Primitives, square_root, bits)                                                 \
  ANYDML_TWO(bool, f, Primitives, equal, bits)                                                       \
  ANYDML_TWO(bool, f, Primitives, less, bits)                                                        \
  ANYDML_TWO(bool, f, Primitives, less_or_equal, bits)                                               \
  ANYDML_ONE(bits, f, Primitives, round_down, bits)                                                  \
  ANYDML_ONE(bits, f, Primitives, round_up, bits)                                                    \
  ANYDML_ONE(bits, f, Primitives, round_towards_zero, bits)                                          \
  ANYDML_ONE(bits, f, Primitives, round_away, bits)                                                  \
  ANYDML_ONE(bits, f, Primitives, round_even, bits)                                                  \
  ANYDML_ONE(bits, f, Primitives, of_i32, i32)                                                       \
  ANYDML_ONE(bits, f, Primitives, of_u32, u32)                                                       \
  ANYDML_ONE(bits, f, Primitives, of_i64, i64)                                                       \
  ANYDML_ONE(bits, f, Primitives, of_u64, u64)                                                       \
  extern "C" bits integer_##f##_of_##other(other_bits x) { return Primitives::of_float(x); }         \
  ANYDML_ONE(i32, f, Primitives, to_i32, bits)                                                       \
  ANYDML_ONE(u32, f, Primitives, to_u32, bits)                                                       \
  ANYDML_ONE(i64, f, Primitives, to_i64, bits)                                                       \
  ANYDML_ONE(u64, f, Primitives, to_u64, bits)

ANYDML_FORMAT(f32, Float32Primitives, u32, f64, u64)
ANYDML_FORMAT(f64, Float64Primitives, u64, f32, u32)

extern "C" u32 integer_f32_of_f16(u32 bits) { return widen_to<f32>(f16{static_cast<u16>(bits)}).bits; }
extern "C" u32 integer_f16_of_f32(u32 bits) { return round_to<f16>(f32::of_bits(bits)).bits; }
extern "C" i32 integer_leading_zeros(u64 value) { return IntegerMachine::leading_zeros(value); }
