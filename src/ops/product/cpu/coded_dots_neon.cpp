// SPDX-License-Identifier: MIT
// The loop over words of codes for NEON: with SDOT where the machine has it, otherwise with products of pairs of bytes.
#include "ops/product/cpu/coded_dots.h"

// Before version 16, clang declares SDOT's intrinsic only if the whole file is compiled for a machine that supports it.
#if defined(__aarch64__) && !(defined(__clang__) && __clang_major__ < 16)

#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstring>

#include "ops/product/cpu/prefetch.h"

#define ANYDML_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define ANYDML_ALL _Pragma("clang loop unroll(full)")
#else
#define ANYDML_ALL _Pragma("GCC unroll 32")
#endif

namespace anydml {
namespace {

using Vector = int32x4_t;
using Floats = float32x4_t;
constexpr std::size_t kColumns = 4;
constexpr std::size_t kVectorsOfRows[] = {4, 4, 4, 4, 2, 2};

ANYDML_INLINE Vector load(const u32* from) { return vreinterpretq_s32_u32(vld1q_u32(from)); }
ANYDML_INLINE Vector low_half(Vector x) { return vandq_s32(x, vdupq_n_s32(0x0f0f0f0f)); }
ANYDML_INLINE Vector high_half(Vector x) { return vreinterpretq_s32_u8(vshrq_n_u8(vreinterpretq_u8_s32(x), 4)); }
ANYDML_INLINE Vector in_all_lanes(int x) { return vdupq_n_s32(x); }
using FourCodes = Vector;
ANYDML_INLINE FourCodes four_codes(const i8* codes) {
  int four;
  std::memcpy(&four, codes, sizeof(four));
  return in_all_lanes(four);
}
ANYDML_INLINE Vector subtract_product(Vector sum, Vector x, Vector y) { return vmlsq_s32(sum, x, y); }
ANYDML_INLINE Floats no_floats() { return vdupq_n_f32(0); }
ANYDML_INLINE Floats load_scales(const CodedForm& form, const std::byte* scales, std::int64_t at) {
  return form.half_scales == 0
             ? vld1q_f32(reinterpret_cast<const f32*>(scales + at * 4))
             : vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(reinterpret_cast<const std::uint16_t*>(scales + at * 2))));
}
ANYDML_INLINE Vector load_zeros(const std::byte* zeros) {
  std::uint32_t four;
  std::memcpy(&four, zeros, sizeof(four));
  const uint16x8_t wide = vmovl_u8(vcreate_u8(four));
  return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(wide)));
}
ANYDML_INLINE Floats times(Floats x, f32 y) { return vmulq_n_f32(x, y); }
ANYDML_INLINE Floats add_block(Floats total, Vector sum, Floats factor) {
  return vfmaq_f32(total, vcvtq_f32_s32(sum), factor);
}
ANYDML_INLINE void store(f32* to, Floats x) { vst1q_f32(to, x); }

using Eight = int32x4x2_t;
ANYDML_INLINE Eight no_integers() { return {{vdupq_n_s32(0), vdupq_n_s32(0)}}; }
ANYDML_INLINE int32x4_t magnitudes(const f32* numbers) {
  return vandq_s32(vreinterpretq_s32_f32(vld1q_f32(numbers)), vdupq_n_s32(0x7fffffff));
}
ANYDML_INLINE Eight larger(Eight x, const f32* numbers) {
  return {{vmaxq_s32(x.val[0], magnitudes(numbers)), vmaxq_s32(x.val[1], magnitudes(numbers + 4))}};
}
ANYDML_INLINE int32x4_t four_codes_of(const f32* numbers, f32 factor) {
  const float32x4_t shift = vdupq_n_f32(kRoundingShift);
  return vcvtq_s32_f32(vsubq_f32(vaddq_f32(vmulq_n_f32(vld1q_f32(numbers), factor), shift), shift));
}
ANYDML_INLINE Eight codes_of(const f32* numbers, f32 factor) {
  return {{four_codes_of(numbers, factor), four_codes_of(numbers + 4, factor)}};
}
ANYDML_INLINE Eight add(Eight x, Eight y) { return {{vaddq_s32(x.val[0], y.val[0]), vaddq_s32(x.val[1], y.val[1])}}; }
ANYDML_INLINE u32 largest_of(Eight x) { return static_cast<u32>(vmaxvq_s32(vmaxq_s32(x.val[0], x.val[1]))); }
ANYDML_INLINE i32 sum_of(Eight x) { return vaddvq_s32(vaddq_s32(x.val[0], x.val[1])); }
ANYDML_INLINE void store_codes(i8* to, Eight codes) {
  const int16x8_t pairs = vcombine_s16(vmovn_s32(codes.val[0]), vmovn_s32(codes.val[1]));
  const int16x8_t parted = vcombine_s16(vget_low_s16(vuzp1q_s16(pairs, pairs)), vget_low_s16(vuzp2q_s16(pairs, pairs)));
  vst1_s8(to, vmovn_s16(parted));
}
#include "ops/product/cpu/activation_codes-inl.h"

namespace of_pairs {
// The sums of two products fit into 16 bits: 2 * 15 * 127.
ANYDML_INLINE Vector add_dots(Vector sum, Vector weights, FourCodes codes) {
  const int8x16_t w = vreinterpretq_s8_s32(weights);
  const int8x16_t x = vreinterpretq_s8_s32(codes);
  const int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x));
  const int16x8_t high = vmull_high_s8(w, x);
  return vpadalq_s16(sum, vpaddq_s16(low, high));
}
#include "ops/product/cpu/coded_dots-inl.h"
constexpr CodedDotKernels kKernels = {.name = "SMULL",
                                      .make_codes = make_codes,
                                      .rows = {multiply_codes<1>, multiply_codes<2>, multiply_codes<3>,
                                               multiply_codes<4>, multiply_codes<5>, multiply_codes<6>}};
}  // namespace of_pairs

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod")
#endif
namespace of_fours {
ANYDML_INLINE Vector add_dots(Vector sum, Vector weights, FourCodes codes) {
  return vdotq_s32(sum, vreinterpretq_s8_s32(weights), vreinterpretq_s8_s32(codes));
}
#include "ops/product/cpu/coded_dots-inl.h"
constexpr CodedDotKernels kKernels = {.name = "SDOT",
                                      .make_codes = make_codes,
                                      .rows = {multiply_codes<1>, multiply_codes<2>, multiply_codes<3>,
                                               multiply_codes<4>, multiply_codes<5>, multiply_codes<6>}};
}  // namespace of_fours
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

const CodedDotKernels* neon_coded_dots() {
  constexpr unsigned long kDotProducts = 1UL << 20;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & kDotProducts) != 0 ? &of_fours::kKernels : &of_pairs::kKernels;
}

}  // namespace anydml

#else

namespace anydml {

const CodedDotKernels* neon_coded_dots() { return nullptr; }

}  // namespace anydml

#endif
