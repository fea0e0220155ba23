// SPDX-License-Identifier: MIT
// A step as a kernel sees it: a kernel's parameter, no larger than its operands need.
#pragma once

#include <algorithm>

#include "backend/cuda/kernels/device.cuh"
#include "ops/elementwise/cuda/kernel_set.h"

namespace anydml::cuda {

template <int kOperands>
struct Launch {
  std::byte* addresses[kOperands];  // of the first element visited
  std::uint32_t count;
  std::uint32_t rank;
  std::uint32_t vectors;
  std::uint16_t stays;
  bool aligned;
  FastDivisor vectors_of_row;
  FastDivisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank][kOperands];
};
static_assert(kMaxOperands <= 16);

template <int kOperands>
[[nodiscard]] Launch<kOperands> make_launch(const KernelLaunch& from) {
  const Geometry& geometry = from.geometry;
  Launch<kOperands> launch;
  launch.count = geometry.count;
  launch.rank = geometry.rank;
  launch.vectors = geometry.vectors;
  launch.stays = static_cast<std::uint16_t>(geometry.stays);
  launch.aligned = from.aligned;
  launch.vectors_of_row = geometry.vectors_of_row;
  std::copy_n(from.addresses, kOperands, launch.addresses);
  std::copy_n(geometry.sizes, kMaxRank, launch.sizes);
  for (std::size_t loop = 0; loop < kMaxRank; ++loop) {
    std::copy_n(geometry.strides[loop], kOperands, launch.strides[loop]);
  }
  return launch;
}

[[nodiscard]] constexpr u32 parts_of(u32 whole, u32 part) { return whole / part + (whole % part != 0 ? 1 : 0); }

// How a kernel by vectors is tuned.
template <int kThreads_, int kVectors_, bool kStreaming_ = true>
struct VectorShape {
  static constexpr int kThreads = kThreads_;
  static constexpr int kVectors = kVectors_;            // in flight for each thread, of each input
  static constexpr bool kStreaming = kStreaming_;       // loads and stores that say they are not used again
  static constexpr u32 kOfBlock = kThreads * kVectors;  // vectors
};

#if defined(__CUDACC__)

// Adds to the offsets where an index over the loops [0, loops) leads.
template <int kOperands>
__device__ inline void add_offsets(const Launch<kOperands>& launch, std::uint32_t loops, std::uint32_t index,
                                   std::int64_t (&offsets)[kOperands]) {
#pragma unroll 1
  for (std::uint32_t loop = loops; loop-- > 0;) {
    std::uint32_t at = index;
    if (loop != 0) {
      const Quotient parts = divide(index, launch.sizes[loop]);
      at = parts.remainder;
      index = parts.quotient;
    }
#pragma unroll
    for (int operand = 0; operand < kOperands; ++operand) {
      offsets[operand] += static_cast<std::int64_t>(at) * launch.strides[loop][operand];
    }
  }
}

#endif

}  // namespace anydml::cuda
