// SPDX-License-Identifier: MIT
// The device's own fused multiply-add of FLOAT32, for kernels with chains of sums. Some devices have one that is fused
// but turns subnormal factors, addends and results into zeros. It is exact wherever none of these is subnormal, which a
// guard shows for a whole chain: let no factor be subnormal, and let the exponents of the least factor of A and of the
// least factor of B that are not 0 have a sum of -80 or more. Then all products are multiples of 2^-126, and so are all
// sums of a chain that begins with +0: below 2^-102 they are exact, and above it their last place is at least 2^-126.
// A multiple of 2^-126 is not subnormal. A chain that fails the test is computed again with fused_floats.
//
// A kernel defines FUSED_CONSTANT, the number of its specialization constant for spirv::fused_kind.
#ifndef ANYDML_QUICK_FUSED_GLSL
#define ANYDML_QUICK_FUSED_GLSL
#include "backend/vulkan/shaders/floats.glsl"

layout(constant_id = FUSED_CONSTANT) const uint kFusedKind = 0u;
const uint kFusedIsExact = 0u, kFusedFlushes = 1u, kFusedPretends = 2u, kFusedIsWrong = 3u;

uint import_f32_quick_fused(const in uint a, const in uint b, const in uint c) { return a ^ b ^ c; }

uint flushed(uint x) { return (x & kInfinityOfValue) == 0u ? x & kSignOfValue : x; }

bool has_quick_fused() { return kFusedKind != kFusedIsWrong; }

// Exact, unless the guard is needed and fails.
uint quick_fused(uint a, uint b, uint c) {
  if (kFusedKind == kFusedPretends) {  // for tests on devices that have no such operation
    return flushed(fused_floats(flushed(a), flushed(b), flushed(c)));
  }
  return import_f32_quick_fused(a, b, c);
}

bool needs_guard() { return kFusedKind != kFusedIsExact; }

// The guard of one side: the least key of its factors. Zeros have the greatest key.
const uint kNoFactor = 0xffffffffu;
uint factor_key(uint x) { return (x << 1) - 1u; }
uint factor_key(uvec4 x) {
  return min(min(factor_key(x.x), factor_key(x.y)), min(factor_key(x.z), factor_key(x.w)));
}
uint exponent_of_key(uint key) { return key == kNoFactor ? 255u : (key + 1u) >> 24; }
bool is_guard_passed(uint key_of_a, uint key_of_b) {
  const uint a = exponent_of_key(key_of_a);
  const uint b = exponent_of_key(key_of_b);
  return a != 0u && b != 0u && a + b >= 2u * 127u - 80u;
}

#endif
