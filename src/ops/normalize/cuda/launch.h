// SPDX-License-Identifier: MIT
// Kernel parameters for a step that normalizes rows. All counts are below 2^32.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/normalize/step.h"

namespace anydml::cuda {

inline constexpr std::int64_t kMaxElements = 0xffffffff;  // kernels use 32-bit counters
inline constexpr const char* kTooManyElements = "the CUDA backend runs steps of up to 4,294,967,295 elements";

inline constexpr u32 kNormalizeThreads = 256;  // per block
inline constexpr u32 kWarpColumns = 32;        // rows per block of threads in the across kernels
inline constexpr u32 kMaxInWarp = 1024;        // elements of a row that a warp keeps in registers
inline constexpr u32 kMaxInRegisters = 8192;   // elements of a plain row that a block of threads keeps in registers
inline constexpr u32 kMaxBlocksHeld = 2;  // blocks of 4,096 exponentials that fit into the shared memory of any kernel

struct NormalizeLaunch {
  const std::byte* input;  // first element of the first row
  std::byte* output;
  u32 rows;
  u32 count;  // elements per row
  u32 team;   // threads per row
  u32 held;   // blocks of exponentials in shared memory
  bool input_is_aligned;
  bool output_is_aligned;
  bool is_simple;  // rows have one loop and aligned elements
  bool is_plain;   // simple, with contiguous elements in aligned groups of four
  u32 kept_rank;
  u32 reduced_rank;
  FastDivisor kept_sizes[kMaxRank];
  FastDivisor reduced_sizes[kMaxRank];
  std::int64_t kept_input[kMaxRank];  // strides, in bytes
  std::int64_t kept_output[kMaxRank];
  std::int64_t reduced_input[kMaxRank];
  std::int64_t reduced_output[kMaxRank];
};

// The kernels. warps: one warp per row, in registers; blocks: one block of threads per row, with shared memory;
// across_lanes: several rows with adjacent elements, whose sums have lanes; across: like across_lanes, for sums without
// lanes.
enum class NormalizeKernel : u32 { warps, blocks, across_lanes, across };

// Each of these functions launches a kernel and returns the error code of the CUDA call.
[[nodiscard]] cudaError_t start_softmax(DataType type, NormalizeKernel kernel, const NormalizeLaunch& launch,
                                        cudaStream_t stream);
[[nodiscard]] cudaError_t start_log_softmax(DataType type, NormalizeKernel kernel, const NormalizeLaunch& launch,
                                            cudaStream_t stream);
[[nodiscard]] cudaError_t start_hardmax(DataType type, NormalizeKernel kernel, const NormalizeLaunch& launch,
                                        cudaStream_t stream);

}  // namespace anydml::cuda
