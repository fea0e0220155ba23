// SPDX-License-Identifier: MIT
// The kernels once for each target that Highway compiles this file for.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalise/cpu/kernels.h"
#include "ops/normalise/cpu/walk.h"
#include "ops/normalise/scalar/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/normalise/cpu/vector_kernels.cpp"
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

HWY_INLINE void narrow_vector(const f32* from, u8* to) {
  const hn::ScalableTag<f32> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> d_half;
  const hn::Repartition<u8, decltype(d_half)> d_bytes;
  hn::StoreU(hn::BitCast(d_bytes, hn::DemoteTo(d_half, hn::LoadU(d, from))), d_bytes, to);
}

inline constexpr std::size_t kVectorMost = HWY_MAX_BYTES / sizeof(f32);

HWY_NOINLINE void widen_halves(const std::byte* from, std::int64_t count, f32* to) {
  const auto step = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<f32>()));
  const auto* bytes = reinterpret_cast<const u8*>(from);
  std::int64_t i = 0;
  for (; i + step <= count; i += step) {
    widen_vector(bytes + i * 2, to + i);
  }
  if (i < count) {
    alignas(64) u8 some[kVectorMost * 2] = {};
    alignas(64) f32 wide[kVectorMost];
    std::memcpy(some, bytes + i * 2, static_cast<std::size_t>(count - i) * 2);
    widen_vector(some, wide);
    std::memcpy(to + i, wide, static_cast<std::size_t>(count - i) * sizeof(f32));
  }
}

HWY_NOINLINE void narrow_halves(const f32* from, std::int64_t count, std::byte* to) {
  const auto step = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<f32>()));
  auto* bytes = reinterpret_cast<u8*>(to);
  std::int64_t i = 0;
  for (; i + step <= count; i += step) {
    narrow_vector(from + i, bytes + i * 2);
  }
  if (i < count) {
    alignas(64) f32 some[kVectorMost] = {};
    alignas(64) u8 narrowed[kVectorMost * 2];
    std::memcpy(some, from + i, static_cast<std::size_t>(count - i) * sizeof(f32));
    narrow_vector(some, narrowed);
    std::memcpy(bytes + i * 2, narrowed, static_cast<std::size_t>(count - i) * 2);
  }
}

#include "ops/normalise/cpu/kernels-inl.h"

}  // namespace

NormaliseRun normalise_run(const NormaliseStep& step, bool across) { return find_run(step, across); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

NormaliseRun vector_normalise_run([[maybe_unused]] cpu::Target target, [[maybe_unused]] const NormaliseStep& step,
                                  [[maybe_unused]] bool across) {
#if defined(__aarch64__)
  if (target == cpu::Target::neon) {
    return N_NEON::normalise_run(step, across);
  }
#elif defined(__x86_64__)
  if (target == cpu::Target::avx512) {
    return N_AVX3::normalise_run(step, across);
  }
  if (target == cpu::Target::avx2) {
    return N_AVX2::normalise_run(step, across);
  }
#endif
  return nullptr;
}

}  // namespace anydml

#endif
