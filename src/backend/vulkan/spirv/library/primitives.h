// SPDX-License-Identifier: MIT
// The primitives of a Vulkan device for the scalar definitions (base/primitives.h). All of them are imports, functions
// over bits, so a definition compiles to integer operations and calls. The linker (spirv/linker.h) connects each call
// to the device's own operation or to our integers, depending on the trial of the device (spirv/primitives.h).
#pragma once

#include "backend/vulkan/spirv/primitive_list.h"
#include "base/integer_floats.h"

#define ANYDML_IMPORT(result, name, parameters) extern "C" __attribute__((const)) result import_##name parameters;
ANYDML_IMPORTED_PRIMITIVES(ANYDML_IMPORT)
#undef ANYDML_IMPORT

namespace anydml {

struct MachinePrimitives : IntegerMachine {
  static constexpr bool kConvertsFloat16 = true;
  static u32 float32_of_float16(u16 bits) { return import_f32_of_f16(bits); }
  static u16 float16_of_float32(u32 bits) { return static_cast<u16>(import_f16_of_f32(bits)); }
  static int leading_zeros(u64 value) { return import_leading_zeros(value); }
};

#define ANYDML_FORWARD_1(f, result, name, type) \
  static result name(type x) { return import_##f##_##name(x); }
#define ANYDML_FORWARD_2(f, result, name, type) \
  static result name(type a, type b) { return import_##f##_##name(a, b); }
#define ANYDML_FORWARD(f, bits, other, other_bits)                                  \
  ANYDML_FORWARD_2(f, bits, add, bits)                                              \
  ANYDML_FORWARD_2(f, bits, subtract, bits)                                         \
  ANYDML_FORWARD_2(f, bits, multiply, bits)                                         \
  ANYDML_FORWARD_2(f, bits, divide, bits)                                           \
  static bits fused(bits a, bits b, bits c) { return import_##f##_fused(a, b, c); } \
  static bits near_quotient(bits a, bits b) { return import_##f##_divide(a, b); }   \
  ANYDML_FORWARD_1(f, bits, square_root, bits)                                      \
  ANYDML_FORWARD_2(f, bool, equal, bits)                                            \
  ANYDML_FORWARD_2(f, bool, less, bits)                                             \
  ANYDML_FORWARD_2(f, bool, less_or_equal, bits)                                    \
  ANYDML_FORWARD_1(f, bits, round_down, bits)                                       \
  ANYDML_FORWARD_1(f, bits, round_up, bits)                                         \
  ANYDML_FORWARD_1(f, bits, round_towards_zero, bits)                               \
  ANYDML_FORWARD_1(f, bits, round_away, bits)                                       \
  ANYDML_FORWARD_1(f, bits, round_even, bits)                                       \
  ANYDML_FORWARD_1(f, bits, of_i32, i32)                                            \
  ANYDML_FORWARD_1(f, bits, of_u32, u32)                                            \
  ANYDML_FORWARD_1(f, bits, of_i64, i64)                                            \
  ANYDML_FORWARD_1(f, bits, of_u64, u64)                                            \
  static bits of_float(other_bits x) { return import_##f##_of_##other(x); }         \
  ANYDML_FORWARD_1(f, i32, to_i32, bits)                                            \
  ANYDML_FORWARD_1(f, u32, to_u32, bits)                                            \
  ANYDML_FORWARD_1(f, i64, to_i64, bits)                                            \
  ANYDML_FORWARD_1(f, u64, to_u64, bits)

struct Float32Primitives : IntegerFloat<Float32Format, MachinePrimitives> {
  ANYDML_FORWARD(f32, u32, f64, u64)
};
struct Float64Primitives : IntegerFloat<Float64Format, MachinePrimitives> {
  ANYDML_FORWARD(f64, u64, f32, u32)
};
#undef ANYDML_FORWARD
#undef ANYDML_FORWARD_1
#undef ANYDML_FORWARD_2

}  // namespace anydml
