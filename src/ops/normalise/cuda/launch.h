// SPDX-License-Identifier: MIT
// A step that normalises rows as kernels see it: a kernel's parameter. All counts are below 2^32.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/normalise/step.h"

namespace anydml::cuda {

inline constexpr std::int64_t kMostElements = 0xffffffff;  // kernels count in 32 bits
inline constexpr const char* kTooManyElements = "the CUDA backend runs steps of up to 4,294,967,295 elements";

inline constexpr u32 kNormaliseThreads = 256;  // of a block of threads
inline constexpr u32 kWarpColumns = 32;        // rows of a block of threads that goes across
inline constexpr u32 kMostInWarp = 1024;       // elements of a row that a warp holds in registers
inline constexpr u32 kMostInRegisters = 8192;  // elements of a plain row that a block of threads holds there
inline constexpr u32 kMostBlocksHeld = 2;      // of 4,096 exponentials, in the shared memory that any kernel has

struct NormaliseLaunch {
  const std::byte* input;  // the first row's first element
  std::byte* output;
  u32 rows;
  u32 count;  // elements of a row
  u32 team;   // threads for a row
  u32 held;   // blocks of exponentials in shared memory
  bool input_is_aligned;
  bool output_is_aligned;
  bool is_simple;  // rows have one loop, and aligned elements
  bool is_plain;   // besides, their elements lie beside each other, in fours that are aligned
  u32 kept_rank;
  u32 reduced_rank;
  FastDivisor kept_sizes[kMaxRank];
  FastDivisor reduced_sizes[kMaxRank];
  std::int64_t kept_input[kMaxRank];  // strides, in bytes
  std::int64_t kept_output[kMaxRank];
  std::int64_t reduced_input[kMaxRank];
  std::int64_t reduced_output[kMaxRank];
};

// The available kernels for a row. warps: one for each row, in registers; blocks: a block of threads for each, with
// shared memory; across: some rows whose elements are adjacent, with the sums' lanes or without.
enum class NormaliseKernel : u32 { warps, blocks, across_lanes, across };

// Starts a kernel of the function. They answer with the error of CUDA's call.
[[nodiscard]] cudaError_t start_softmax(DataType type, NormaliseKernel kernel, const NormaliseLaunch& launch,
                                        cudaStream_t stream);
[[nodiscard]] cudaError_t start_log_softmax(DataType type, NormaliseKernel kernel, const NormaliseLaunch& launch,
                                            cudaStream_t stream);
[[nodiscard]] cudaError_t start_hardmax(DataType type, NormaliseKernel kernel, const NormaliseLaunch& launch,
                                        cudaStream_t stream);

}  // namespace anydml::cuda
