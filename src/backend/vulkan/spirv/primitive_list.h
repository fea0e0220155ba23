// SPDX-License-Identifier: MIT
// The list of primitives that the functions of the SPIR-V library import: functions over bits. Whether an import means
// the device's own operation or ours is decided for each device (spirv/primitives.h). Compiles for SPIR-V and as host
// C++.
#pragma once

#include "base/integers.h"

// ANYDML_IMPORTED_PRIMITIVES(X) calls X(result, name, parameters) for each of them. FLOAT16 is passed in the low half
// of 32 bits. leading_zeros is never called with 0.
//
// The functions of both formats: f is the format, `bits` the type of its bits.
#define ANYDML_IMPORTED_FLOATS(X, f, bits, other, other_bits) \
  X(bits, f##_add, (bits, bits))                              \
  X(bits, f##_subtract, (bits, bits))                         \
  X(bits, f##_multiply, (bits, bits))                         \
  X(bits, f##_divide, (bits, bits))                           \
  X(bits, f##_fused, (bits, bits, bits))                      \
  X(bits, f##_square_root, (bits))                            \
  X(bool, f##_equal, (bits, bits))                            \
  X(bool, f##_less, (bits, bits))                             \
  X(bool, f##_less_or_equal, (bits, bits))                    \
  X(bits, f##_round_down, (bits))                             \
  X(bits, f##_round_up, (bits))                               \
  X(bits, f##_round_towards_zero, (bits))                     \
  X(bits, f##_round_away, (bits))                             \
  X(bits, f##_round_even, (bits))                             \
  X(bits, f##_of_i32, (anydml::i32))                          \
  X(bits, f##_of_u32, (anydml::u32))                          \
  X(bits, f##_of_i64, (anydml::i64))                          \
  X(bits, f##_of_u64, (anydml::u64))                          \
  X(bits, f##_of_##other, (other_bits))                       \
  X(anydml::i32, f##_to_i32, (bits))                          \
  X(anydml::u32, f##_to_u32, (bits))                          \
  X(anydml::i64, f##_to_i64, (bits))                          \
  X(anydml::u64, f##_to_u64, (bits))

#define ANYDML_IMPORTED_PRIMITIVES(X)                           \
  ANYDML_IMPORTED_FLOATS(X, f32, anydml::u32, f64, anydml::u64) \
  ANYDML_IMPORTED_FLOATS(X, f64, anydml::u64, f32, anydml::u32) \
  X(anydml::u32, f32_of_f16, (anydml::u32))                     \
  X(anydml::u32, f16_of_f32, (anydml::u32))                     \
  X(anydml::i32, leading_zeros, (anydml::u64))
