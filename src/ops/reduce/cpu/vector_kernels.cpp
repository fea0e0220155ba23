// SPDX-License-Identifier: MIT
// The kernels once for each target that Highway compiles this file for.
#include "ops/reduce/cpu/kernels.h"

// Enabled is what was run, as for element-wise kernels.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/reduce/cpu/vector_kernels.cpp"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#pragma GCC diagnostic pop

#if HWY_TARGET == HWY_NEON || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void widen_vector(const u8* from, f32* to) {
  const hn::ScalableTag<f32> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d_half;
  const hn::Repartition<u8, decltype(d_half)> d_bytes;
  hn::StoreU(hn::PromoteTo(d, hn::BitCast(d_half, hn::LoadU(d_bytes, from))), d, to);
}

HWY_INLINE void widen_halves(const std::byte* from, std::int64_t count, f32* to) {
  const hn::ScalableTag<f32> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* bytes = reinterpret_cast<const u8*>(from);
  std::int64_t i = 0;
  for (; i + step <= count; i += step) {
    widen_vector(bytes + i * 2, to + i);
  }
  if (i < count) {
    alignas(64) u8 some[HWY_MAX_BYTES] = {};
    alignas(64) f32 wide[HWY_MAX_BYTES / sizeof(f32)];
    for (std::int64_t k = 0; k < (count - i) * 2; ++k) {
      some[k] = bytes[i * 2 + k];
    }
    widen_vector(some, wide);
    for (std::int64_t k = 0; i + k < count; ++k) {
      to[i + k] = wide[k];
    }
  }
}

#if HWY_TARGET == HWY_NEON
#define ANYDML_REDUCE_NEON
#endif
#include "ops/reduce/cpu/kernels-inl.h"
#undef ANYDML_REDUCE_NEON

}  // namespace

const void* vector_kernels(FoldId fold, DataType type) { return find_kernels(fold, type); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const void* vector_reduce_kernels([[maybe_unused]] cpu::Target target, [[maybe_unused]] FoldId fold,
                                  [[maybe_unused]] DataType type) {
#if defined(__aarch64__)
  if (target == cpu::Target::neon) {
    return N_NEON::vector_kernels(fold, type);
  }
#elif defined(__x86_64__)
  if (target == cpu::Target::avx512) {
    return N_AVX3::vector_kernels(fold, type);
  }
  if (target == cpu::Target::avx2) {
    return N_AVX2::vector_kernels(fold, type);
  }
#endif
  return nullptr;
}

}  // namespace anydml

#endif
