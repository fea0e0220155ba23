// SPDX-License-Identifier: MIT
// The parameter of a kernel: a description of a step, with room for exactly its number of operands. This header
// includes no host code, so that kernels can be compiled at run time.
#pragma once

#include "backend/cuda/kernels/device.cuh"

namespace anydml::cuda {

inline constexpr int kLaunchRank = 8;

template <int kOperands>
struct Launch {
  std::byte* addresses[kOperands];  // address of the first element visited
  std::uint32_t count;
  std::uint32_t rank;
  std::uint32_t vectors;
  std::uint16_t stays;
  bool aligned;
  FastDivisor vectors_of_row;
  FastDivisor sizes[kLaunchRank];
  std::int64_t strides[kLaunchRank][kOperands];
};

// Launch parameters of the entries' kernels: threads per block, and elements or vectors per thread.
inline constexpr u32 kRowThreads = 256;
inline constexpr u32 kRowElements = 4;
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 row_vectors_of_thread(u32 vector_input_bytes) {
  return vector_input_bytes < 16 ? 4 : 2;
}

// The tuning parameters of a vector kernel.
template <int kThreads_, int kVectors_, bool kStreaming_ = true>
struct VectorShape {
  static constexpr int kThreads = kThreads_;
  static constexpr int kVectors = kVectors_;            // in flight per thread and input
  static constexpr bool kStreaming = kStreaming_;       // loads and stores with an evict-first hint
  static constexpr u32 kOfBlock = kThreads * kVectors;  // vectors per block
};

#if defined(__CUDACC__)

// Adds the offsets of the element with this index in the loops [0, loops) to `offsets`.
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
