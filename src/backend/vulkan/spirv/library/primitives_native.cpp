// SPDX-License-Identifier: MIT
// The primitives as the device's own operations, named native_NAME. primitives_assembly.spvasm has those that clang
// cannot express. round_away has none.
#include "base/integers.h"

using namespace anydml;

namespace {

template <class To, class From>
__attribute__((always_inline)) To cast(From bits) {
  return __builtin_bit_cast(To, bits);
}

}  // namespace

#define ANYDML_OPERATOR(result, f, name, bits, real, expression)   \
  extern "C" result native_##f##_##name(bits first, bits second) { \
    const real a = cast<real>(first), b = cast<real>(second);      \
    return expression;                                             \
  }
#define ANYDML_FUNCTION(f, name, bits, real, builtin) \
  extern "C" bits native_##f##_##name(bits x) { return cast<bits>(builtin(cast<real>(x))); }
#define ANYDML_FORMAT(f, bits, real, other, other_bits, other_real)                                                    \
  ANYDML_OPERATOR(bits, f, add, bits, real, cast<bits>(a + b))                                                         \
  ANYDML_OPERATOR(bits, f, subtract, bits, real, cast<bits>(a - b))                                                    \
  ANYDML_OPERATOR(bits, f, multiply, bits, real, cast<bits>(a * b))                                                    \
  ANYDML_OPERATOR(bits, f, divide, bits, real, cast<bits>(a / b))                                                      \
  extern "C" bits native_##f##_fused(bits a, bits b, bits c) {                                                         \
    return cast<bits>(__builtin_elementwise_fma(cast<real>(a), cast<real>(b), cast<real>(c)));                         \
  }                                                                                                                    \
  ANYDML_FUNCTION(f, square_root, bits, real, __builtin_elementwise_sqrt)                                              \
  ANYDML_OPERATOR(bool, f, equal, bits, real, a == b)                                                                  \
  ANYDML_OPERATOR(bool, f, less, bits, real, a < b)                                                                    \
  ANYDML_OPERATOR(bool, f, less_or_equal, bits, real, a <= b)                                                          \
  ANYDML_FUNCTION(f, round_down, bits, real, __builtin_elementwise_floor)                                              \
  ANYDML_FUNCTION(f, round_up, bits, real, __builtin_elementwise_ceil)                                                 \
  ANYDML_FUNCTION(f, round_towards_zero, bits, real, __builtin_elementwise_trunc)                                      \
  ANYDML_FUNCTION(f, round_even, bits, real, __builtin_elementwise_roundeven)                                          \
  extern "C" bits native_##f##_of_i32(i32 x) { return cast<bits>(static_cast<real>(x)); }                              \
  extern "C" bits native_##f##_of_u32(u32 x) { return cast<bits>(static_cast<real>(x)); }                              \
  extern "C" bits native_##f##_of_i64(i64 x) { return cast<bits>(static_cast<real>(x)); }                              \
  extern "C" bits native_##f##_of_u64(u64 x) { return cast<bits>(static_cast<real>(x)); }                              \
  extern "C" bits native_##f##_of_##other(other_bits x) { return cast<bits>(static_cast<real>(cast<other_real>(x))); } \
  extern "C" i32 native_##f##_to_i32(bits x) { return static_cast<i32>(cast<real>(x)); }                               \
  extern "C" u32 native_##f##_to_u32(bits x) { return static_cast<u32>(cast<real>(x)); }                               \
  extern "C" i64 native_##f##_to_i64(bits x) { return static_cast<i64>(cast<real>(x)); }                               \
  extern "C" u64 native_##f##_to_u64(bits x) { return static_cast<u64>(cast<real>(x)); }

ANYDML_FORMAT(f32, u32, float, f64, u64, double)
ANYDML_FORMAT(f64, u64, double, f32, u32, float)
