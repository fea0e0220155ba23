// SPDX-License-Identifier: MIT
// Loads and stores the elements of rows on a GPU, and finds maxima and sums within a warp.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/normalize/cuda/launch.h"
#include "ops/normalize/scalar/moments.h"
#include "ops/normalize/scalar/softmax.h"

namespace anydml::cuda {

inline constexpr u32 kAllOfWarp = 0xffffffff;

// kIsSimple: rows have one loop and aligned elements. Otherwise each access checks the loops and the alignment, and
// these branches keep the compiler from issuing several loads together.
template <class T, bool kIsSimple = false>
struct DeviceRow {
  const NormalizeLaunch& launch;
  const std::byte* from;
  std::byte* to;

  __device__ DeviceRow(const NormalizeLaunch& of, u32 row)
      : launch(of),
        from(of.input + loop_offset(row, of.kept_rank, of.kept_sizes, of.kept_input)),
        to(of.output + loop_offset(row, of.kept_rank, of.kept_sizes, of.kept_output)) {}

  [[nodiscard]] __device__ f32 load(u32 i) const {
    return widen(__builtin_bit_cast(
        T, load_element<T>(from + offset(i, launch.reduced_input), kIsSimple || launch.input_is_aligned)));
  }
  __device__ void store(u32 i, f32 value) const {
    store_element<T>(to + offset(i, launch.reduced_output), __builtin_bit_cast(bits_t<T>, narrow<T>(value)),
                     kIsSimple || launch.output_is_aligned);
  }

 private:
  [[nodiscard]] __device__ std::int64_t offset(u32 i, const std::int64_t* strides) const {
    return kIsSimple ? static_cast<std::int64_t>(i) * strides[0]
                     : loop_offset(i, launch.reduced_rank, launch.reduced_sizes, strides);
  }
};

[[nodiscard]] __device__ inline f32 shuffle(f32 value, u32 distance) {
  return __shfl_xor_sync(kAllOfWarp, value, distance);
}

// EXP of a difference from the maximum. The difference is at most 0, or NaN. Compared as unsigned bit patterns, only
// numbers below -104 and negative NaNs exceed -104, and a GPU's arithmetic does not produce negative NaNs.
[[nodiscard]] __device__ inline f32 exponential_here(f32 difference) {
  constexpr u32 kMin = to_bits(-104.0f);  // its exponential is 0 in FLOAT32
  const exponential::Parts e = exponential::parts_on_gpu(from_bits<f32>(min(to_bits(difference), kMin)));
  return static_cast<f32>(fused(e.part, e.power, e.power));
}

// Like greater_element, except for the sign of 0, which affects no result: a row that contains both zeros has a sum of
// at least 2.
[[nodiscard]] __device__ inline f32 greater_here(f32 a, f32 b) { return ::fmaxf(a, b); }

[[nodiscard]] __device__ inline f32 max_of_warp(f32 value) {
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2) {
    value = greater_here(value, shuffle(value, distance));
  }
  return value;
}

// Performs the last five halvings of the lanes; thread t has lane t. All threads get the same sum, because addition is
// commutative.
[[nodiscard]] __device__ inline f32 fold_warp(f32 value) {
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2) {
    value = added(value, shuffle(value, distance));
  }
  return value;
}

}  // namespace anydml::cuda
