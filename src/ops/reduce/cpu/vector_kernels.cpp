// SPDX-License-Identifier: MIT
// The kernels once for each target that Highway compiles this file for.
#include "ops/reduce/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/reduce/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

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
