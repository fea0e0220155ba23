// SPDX-License-Identifier: MIT
// The upper half of the interface between the scalar definitions and the machine that computes them. The lower half is
// base/primitives.h, which lists the machines and the functions that a device has to provide. Definitions operate on
// floats only with the functions declared here, with operators, comparisons and conversions of f32 and f64, and with
// integer arithmetic.
#pragma once

#include "base/float_bits.h"

namespace anydml {

#if defined(ANYDML_PRIMITIVES_HEADER)

// The functions that a device provides, under the names that definitions use.
#define ANYDML_SUPPLIED(name)                                                                \
  ANYDML_PRIMITIVE f32 name(f32 x) { return f32::of_bits(Float32Primitives::name(x.bits)); } \
  ANYDML_PRIMITIVE f64 name(f64 x) { return f64::of_bits(Float64Primitives::name(x.bits)); }
ANYDML_SUPPLIED(square_root)
ANYDML_SUPPLIED(round_down)
ANYDML_SUPPLIED(round_up)
ANYDML_SUPPLIED(round_towards_zero)
ANYDML_SUPPLIED(round_away)
ANYDML_SUPPLIED(round_even)
#undef ANYDML_SUPPLIED
ANYDML_PRIMITIVE f32 fused(f32 a, f32 b, f32 c) {
  return f32::of_bits(Float32Primitives::fused(a.bits, b.bits, c.bits));
}
ANYDML_PRIMITIVE f64 fused(f64 a, f64 b, f64 c) {
  return f64::of_bits(Float64Primitives::fused(a.bits, b.bits, c.bits));
}

inline constexpr bool kOnGpu = MachinePrimitives::kOnGpu;
inline constexpr bool kSubnormalsAreSlow = MachinePrimitives::kSubnormalsAreSlow;
ANYDML_PRIMITIVE f64 inverse_estimate(f64 x) { return f64::of_bits(Float64Primitives::inverse_estimate(x.bits)); }
ANYDML_PRIMITIVE f64 inverse_root_estimate(f64 x) {
  return f64::of_bits(Float64Primitives::inverse_root_estimate(x.bits));
}
ANYDML_PRIMITIVE f32 near_quotient(f32 a, f32 b) {
  return f32::of_bits(Float32Primitives::near_quotient(a.bits, b.bits));
}
inline constexpr bool kHasNearPowerOfTwo = Float32Primitives::kHasNearPowerOfTwo;
ANYDML_PRIMITIVE f32 near_power_of_two(f32 x) { return f32::of_bits(Float32Primitives::near_power_of_two(x.bits)); }

#else

// ANYDML_ON names the operation for each machine, for operations that have separate functions for FLOAT32 and FLOAT64.
// The CUDA functions round to nearest and keep subnormals, regardless of compiler options.
#if defined(__CUDA_ARCH__)
#define ANYDML_ON(builtin, cuda) cuda
#else
#define ANYDML_ON(builtin, cuda) builtin
#endif

// a * b + c, rounded once.
ANYDML_PRIMITIVE f32 fused(f32 a, f32 b, f32 c) { return ANYDML_ON(__builtin_fmaf, ::__fmaf_rn)(a, b, c); }
ANYDML_PRIMITIVE f64 fused(f64 a, f64 b, f64 c) { return ANYDML_ON(__builtin_fma, ::__fma_rn)(a, b, c); }

// The square root as defined by IEEE 754.
ANYDML_PRIMITIVE f32 square_root(f32 x) { return ANYDML_ON(__builtin_sqrtf, ::__fsqrt_rn)(x); }
ANYDML_PRIMITIVE f64 square_root(f64 x) { return ANYDML_ON(__builtin_sqrt, ::__dsqrt_rn)(x); }

// Rounding to an integer as defined by IEEE 754: down, up, toward zero, to nearest with ties away from zero, and to
// nearest with ties to even. Zeros, and numbers that round to zero, keep their sign; infinities and NaN are unchanged.
// The last function relies on the rounding mode, which is always to nearest here.
ANYDML_PRIMITIVE f32 round_down(f32 x) { return ANYDML_ON(__builtin_floorf, ::floorf)(x); }
ANYDML_PRIMITIVE f64 round_down(f64 x) { return ANYDML_ON(__builtin_floor, ::floor)(x); }
ANYDML_PRIMITIVE f32 round_up(f32 x) { return ANYDML_ON(__builtin_ceilf, ::ceilf)(x); }
ANYDML_PRIMITIVE f64 round_up(f64 x) { return ANYDML_ON(__builtin_ceil, ::ceil)(x); }
ANYDML_PRIMITIVE f32 round_towards_zero(f32 x) { return ANYDML_ON(__builtin_truncf, ::truncf)(x); }
ANYDML_PRIMITIVE f64 round_towards_zero(f64 x) { return ANYDML_ON(__builtin_trunc, ::trunc)(x); }
ANYDML_PRIMITIVE f32 round_away(f32 x) { return ANYDML_ON(__builtin_roundf, ::roundf)(x); }
ANYDML_PRIMITIVE f64 round_away(f64 x) { return ANYDML_ON(__builtin_round, ::round)(x); }
ANYDML_PRIMITIVE f32 round_even(f32 x) { return ANYDML_ON(__builtin_rintf, ::rintf)(x); }
ANYDML_PRIMITIVE f64 round_even(f64 x) { return ANYDML_ON(__builtin_rint, ::rint)(x); }
#undef ANYDML_ON

// A GPU runs other threads while an operation waits for its operands, so the code with the fewest operations is best,
// even if they form a long dependency chain. ANYDML_LIKE_A_GPU makes a CPU compute like a GPU, for tests.
#if defined(__CUDA_ARCH__) || defined(ANYDML_LIKE_A_GPU)
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif

// If subnormals are slow, functions keep powers of tiny numbers from becoming subnormal when they are too small to
// change a result.
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
inline constexpr bool kSubnormalsAreSlow = true;
#else
inline constexpr bool kSubnormalsAreSlow = false;
#endif

// About twenty bits of 1 / x and of 1 / sqrt(x), like the estimates of NVIDIA GPUs for the upper half of a FLOAT64.
ANYDML_PRIMITIVE f64 inverse_estimate(f64 x) {
#if defined(__CUDA_ARCH__)
  f64 y = 0;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#else
  return from_bits<f64>(to_bits(1.0 / x) & 0xffffffff00000000);
#endif
}
ANYDML_PRIMITIVE f64 inverse_root_estimate(f64 x) {
#if defined(__CUDA_ARCH__)
  f64 y = 0;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#else
  return from_bits<f64>(to_bits(1.0 / square_root(x)) & 0xffffffff00000000);
#endif
}

// a / b to within two units in the last place, for numbers that FLOAT16 can represent.
ANYDML_PRIMITIVE f32 near_quotient(f32 a, f32 b) {
#if defined(__CUDA_ARCH__)
  f32 inverse = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  return a * inverse;
#else
  return a / b;
#endif
}

// 2^x for |x| <= 1/2, with a relative error below 2^-22, if the machine has an instruction for it.
#if defined(__CUDA_ARCH__)
inline constexpr bool kHasNearPowerOfTwo = true;
ANYDML_PRIMITIVE f32 near_power_of_two(f32 x) {
  f32 y = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#else
inline constexpr bool kHasNearPowerOfTwo = false;
f32 near_power_of_two(f32 x);  // neither called nor defined
#endif

#endif

}  // namespace anydml
