// SPDX-License-Identifier: MIT
// Four elements, aligned to their total size.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "base/float_bits.h"

namespace anydml::cuda {

inline constexpr u32 kTogether = 4;

#if defined(__CUDACC__)

template <class T>
__device__ inline void load_four(const std::byte* from, f32* values) {
  u32 words[4];
  load_access<kTogether* static_cast<int>(sizeof(T)), false>(from, words);
#pragma unroll
  for (int i = 0; i < static_cast<int>(kTogether); ++i) {
    values[i] = widen(__builtin_bit_cast(T, extract<T>(words, i)));
  }
}
template <class T>
__device__ inline void store_four(std::byte* to, const f32* values) {
  u32 words[4] = {};
#pragma unroll
  for (int i = 0; i < static_cast<int>(kTogether); ++i) {
    insert<T>(words, i, __builtin_bit_cast(bits_t<T>, narrow<T>(values[i])));
  }
  store_access<kTogether* static_cast<int>(sizeof(T)), false>(to, words);
}

#endif

}  // namespace anydml::cuda
