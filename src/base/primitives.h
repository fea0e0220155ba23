// SPDX-License-Identifier: MIT
// The lower half of the interface between the scalar definitions and the machine that computes them: the types FLOAT32
// and FLOAT64, and the primitives that base itself needs. The other half is in ops/scalar/primitives.h. The interface
// is split because base may not depend on ops, but the conversions in base/float_bits.h need primitives.
//
// A primitive has one definition for each kind of machine:
//
//   host      plain C++: float, double, and the compiler's builtins
//   CUDA      the same types, and the GPU's instructions
//   supplied  a device that uses a different compiler and has some operations that are not exact.
//             ANYDML_PRIMITIVES_HEADER names its header, with the quotes: "device_primitives.h"
//
// A supplied header defines three classes in the namespace anydml: Float32Primitives and Float64Primitives, which
// operate on the bits of FLOAT32 and FLOAT64, and MachinePrimitives for everything else. base/integer_floats.h
// implements all of their functions in integer arithmetic, which is exact on every device. A device derives its classes
// from these classes and redefines the functions that it provides itself, either natively or through functions that are
// linked in later for each driver:
//
//   #include "base/integer_floats.h"
//   extern "C" unsigned device_fma32(unsigned a, unsigned b, unsigned c);
//   namespace anydml {
//   struct MachinePrimitives : IntegerMachine {};
//   struct Float32Primitives : IntegerFloat<Float32Format, MachinePrimitives> {
//     static u32 add(u32 a, u32 b) {  // this device adds exactly
//       return __builtin_bit_cast(u32, __builtin_bit_cast(float, a) + __builtin_bit_cast(float, b));
//     }
//     static u32 fused(u32 a, u32 b, u32 c) { return device_fma32(a, b, c); }
//   };
//   struct Float64Primitives : IntegerFloat<Float64Format, MachinePrimitives> {};  // it has no FLOAT64
//   }
//
// f32 and f64 are then classes over these bits (base/supplied_float.h), so that every operator, comparison and
// conversion in a definition calls a supplied function. A definition that uses a float in any other way does not
// compile. To make this possible, definitions follow four rules, which tests/primitives/primitives_test.cpp enforces:
//   - conversions between f32, f64 and integers use static_cast or braces, f64{x}, and are never implicit;
//   - 0.5f is an f32 and 0.5 an f64, but 0 is neither: T{0};
//   - constants are computed from literals or from bits, because a device's functions need not be constexpr;
//   - a concept that tests whether a function is callable uses the function's exact parameter types: without implicit
//     conversions it would otherwise be false.
#pragma once

#include "base/integers.h"

// A template with an unused parameter. Unlike a plain function, a template may be constexpr even on a machine where its
// body is not a constant expression, so the definitions are constexpr on every machine. Arguments convert in the usual
// way.
#define ANYDML_PRIMITIVE \
  template <int = 0>     \
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr

#if defined(ANYDML_PRIMITIVES_HEADER)

#include "base/supplied_float.h"
#include ANYDML_PRIMITIVES_HEADER

namespace anydml {

using f32 = SuppliedFloat<Float32Primitives>;
using f64 = SuppliedFloat<Float64Primitives>;

ANYDML_PRIMITIVE int leading_zeros(u64 value) { return MachinePrimitives::leading_zeros(value); }

inline constexpr bool kConvertsFloat16 = MachinePrimitives::kConvertsFloat16;
ANYDML_PRIMITIVE f32 float32_of_float16(u16 bits) { return f32::of_bits(MachinePrimitives::float32_of_float16(bits)); }
ANYDML_PRIMITIVE u16 float16_of_float32(f32 value) { return MachinePrimitives::float16_of_float32(value.bits); }

}  // namespace anydml

#else

namespace anydml {

using f32 = float;
using f64 = double;

// The number of zeros above the leading one. The value must not be 0.
ANYDML_PRIMITIVE int leading_zeros(u64 value) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(value));
#else
  return __builtin_clzll(value);
#endif
}

// Whether the machine can convert between FLOAT16 and FLOAT32. If not, base/float_bits.h uses integers.
#if defined(__CUDA_ARCH__)
inline constexpr bool kConvertsFloat16 = true;
// Returns the same bits as the integer code, except for the payload of a NaN. The instruction fixes rounding and
// subnormals, so no mode or compiler option changes them.
__device__ inline f32 float32_of_float16(u16 bits) {
  f32 result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
  return result;
}
// The result is a 32-bit register, because CUDA 13.0's ptxas drops one of the sign operations if two 16-bit results are
// rounded and lose their signs. The kernel tests detect this.
__device__ inline u16 float16_of_float32(f32 value) {
  u32 result;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(result) : "f"(value), "f"(0.0f));
#else
  asm("{.reg .b16 half; cvt.rn.f16.f32 half, %1; mov.b32 %0, {half, half};}" : "=r"(result) : "f"(value));
#endif
  return static_cast<u16>(result);
}
#else
inline constexpr bool kConvertsFloat16 = false;
f32 float32_of_float16(u16 bits);  // neither function is called or defined
u16 float16_of_float32(f32 value);
#endif

}  // namespace anydml

#endif
