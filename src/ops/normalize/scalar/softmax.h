// SPDX-License-Identifier: MIT
// Computes the elements of softmax and related operators, for the kernels of all devices. `maximum` is the maximum of
// the row. If an element is NaN or the maximum is infinite, the differences or the sum are NaN, and so the whole row
// becomes NaN, even if the maximum itself is not NaN. Everything is FLOAT32; FLOAT16 inputs are widened, and FLOAT16
// results are rounded.
//
//   softmax        EXP(x - maximum) / total        total: the sum of EXP(x - maximum), in the order of fold_order.h
//   log_softmax    (x - maximum) - LOG(total)
//   hardmax        1 for the first maximum, 0 for all other elements; the first NaN counts as the maximum
#pragma once

#include "ops/normalize/scalar/divisor.h"
#include "ops/normalize/scalar/sum.h"
#include "ops/scalar/functions/exponential.h"
#include "ops/scalar/functions/logarithm.h"

namespace anydml {

// The initial value when searching for a maximum. No element is below it.
inline constexpr f32 kMinElement = from_bits<f32>(0xff800000);  // -infinity

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 greater_element(f32 a, f32 b) { return select(b > a, b, a); }

// EXP of a difference from the maximum, with the same bits as EXP. The difference is at most 0, or NaN, so it only
// needs to be clamped at one end. Horner's scheme would need fewer operations, but extra moves on Arm. Both variants
// were compared with EXP for every FLOAT32 down to -104.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 exponential_of(f32 difference) {
  using namespace exponential;
  const f32 x = select(difference < -104.0f, -104.0f, difference);
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
  constexpr f64 kShift = 0x1.8p52 + 1023;  // see parts_of
  const f64 shifted = fused(f64{x}, kLog2OfE, kShift);
  const f64 k = shifted - kShift;
  const f64 r = fused(k, -kLn2Low, fused(k, -kLn2High, f64{x}));
  const f64 r2 = r * r;
  const f64 odd = horner(r2, kExp3, kExp5, kExp7, kExp9);
  const f64 even = horner(r2, kExp2, kExp4, kExp6, kExp8, kExp10);
  const Parts e{fused(r2, fused(r, odd, even), r), from_bits<f64>(to_bits(shifted) << 52)};
#else
  const Parts e = proven_parts_of<Near::one>(x);
#endif
  return static_cast<f32>(fused(e.part, e.power, e.power));
}

// Whether an exponential (from 0 to 1) is too small for OrdinaryDivisor with a total of up to 2^40. For exponentials of
// at least 2^-80, no operation of OrdinaryDivisor loses bits to underflow, and 0 stays 0.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_tiny_exponential(f32 exponential) {
  return to_bits(exponential) - 1 < to_bits(0x1p-80f) - 1;
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 logarithm_of(f32 total) { return Log<f32>{}(total); }

// Whether x replaces the maximum found so far.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_beyond(f32 x, f32 found) {
  return x > found || (x != x && found == found);
}

}  // namespace anydml
