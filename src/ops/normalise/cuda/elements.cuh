// SPDX-License-Identifier: MIT
// Where the elements of rows are, on the device.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/normalise/cuda/launch.h"
#include "ops/normalise/scalar/softmax.h"

namespace anydml::cuda {

inline constexpr u32 kAllOfWarp = 0xffffffff;

// Loops that an index runs over, the last fastest.
[[nodiscard]] __device__ inline std::int64_t loop_offset(u32 index, u32 rank, const FastDivisor* sizes,
                                                         const std::int64_t* strides) {
  std::int64_t offset = 0;
#pragma unroll 1
  for (u32 loop = rank; loop-- > 1;) {
    const Quotient parts = divide(index, sizes[loop]);
    offset += static_cast<std::int64_t>(parts.remainder) * strides[loop];
    index = parts.quotient;
  }
  return offset + static_cast<std::int64_t>(index) * strides[0];
}

template <class T>
struct DeviceRow {
  const NormaliseLaunch& launch;
  const std::byte* from;
  std::byte* to;

  __device__ DeviceRow(const NormaliseLaunch& of, u32 row)
      : launch(of),
        from(of.input + loop_offset(row, of.kept_rank, of.kept_sizes, of.kept_input)),
        to(of.output + loop_offset(row, of.kept_rank, of.kept_sizes, of.kept_output)) {}

  [[nodiscard]] __device__ f32 load(u32 i) const {
    const std::int64_t offset = loop_offset(i, launch.reduced_rank, launch.reduced_sizes, launch.reduced_input);
    return widen(__builtin_bit_cast(T, load_element<T>(from + offset, launch.input_is_aligned)));
  }
  __device__ void store(u32 i, f32 value) const {
    const std::int64_t offset = loop_offset(i, launch.reduced_rank, launch.reduced_sizes, launch.reduced_output);
    store_element<T>(to + offset, __builtin_bit_cast(bits_t<T>, narrow<T>(value)), launch.output_is_aligned);
  }
};

[[nodiscard]] __device__ inline f32 from_thread(f32 value, u32 distance) {
  return __shfl_xor_sync(kAllOfWarp, value, distance);
}

[[nodiscard]] __device__ inline f32 greatest_of_warp(f32 value) {
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2) {
    value = greater_element(value, from_thread(value, distance));
  }
  return value;
}

// The last five halves of the lanes, of which thread t has lane t. All threads get the sum: which of two numbers comes
// first does not show in their sum.
[[nodiscard]] __device__ inline f32 fold_warp(f32 value) {
#pragma unroll
  for (u32 distance = 16; distance > 0; distance /= 2) {
    value = added(value, from_thread(value, distance));
  }
  return value;
}

}  // namespace anydml::cuda
