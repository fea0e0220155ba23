// SPDX-License-Identifier: MIT
// Kernel parameters for steps that compute mean and variance, or window sums. All counts are below 2^32.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/family.h"
#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/normalize/step.h"

namespace anydml::cuda {

inline constexpr u32 kMaxWarpsOfRow = 8;         // each warp keeps a block of 4,096 elements of the row in registers
inline constexpr u32 kMomentThreads = 256;       // per block; a row with one block of elements is processed by one warp
inline constexpr u32 kRegisterRowThreads = 128;  // per block for rows in registers
inline constexpr std::int64_t kMinInShared = 1025;  // in elements; one warp keeps a shorter row in registers
inline constexpr std::int64_t kMaxInShared = 8192;  // in elements; too few longer rows would fit into a multiprocessor

// Loops that convert an index to the offsets in two tensors. The last loop varies fastest, and strides are in bytes.
struct DeviceLoops {
  u32 rank;
  FastDivisor sizes[kMaxRank];
  std::int64_t first[kMaxRank];
  std::int64_t second[kMaxRank];
};

// How the scale or the bias of a row is read.
enum class Reading : u32 { one, pairs, any };

struct MomentLaunch {
  const std::byte* input;  // first element of the first row; the same applies to the pointers below
  const std::byte* scale;  // null if absent
  const std::byte* bias;
  std::byte* output;
  u32 rows;
  u32 count;         // elements per row
  u32 warps_of_row;  // 1 or more
  f32 divisor;       // the count as a float
  f32 epsilon;
  bool uses_mean;
  bool uses_variance;
  bool input_is_aligned;
  bool output_is_aligned;
  bool affine_is_aligned;
  bool is_plain;     // rows of the input and output are contiguous, in aligned pairs
  bool reads_pairs;  // the scale and the bias are single numbers or read in pairs
  Reading scale_reading;
  Reading bias_reading;
  DeviceLoops kept;         // for the input and the output
  DeviceLoops kept_affine;  // for the scale and the bias
  DeviceLoops reduced;
  DeviceLoops reduced_affine;
};

// shared_memory: plain rows in groups of four; scales and biases are single numbers or also in groups of four.
// registers: plain rows that are short enough; scales and biases are single numbers or in pairs. memory: all other rows
// whose sums have lanes. chains: rows whose sums have no lanes, one row per thread.
enum class MomentKernel : u32 { shared_memory, registers, memory, chains };

[[nodiscard]] cudaError_t start_moments_of_floats(MomentKernel kernel, const MomentLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_moments_of_halves(MomentKernel kernel, const MomentLaunch& launch, cudaStream_t stream);

struct WindowLaunch {
  const std::byte* input;
  f32* output;
  u32 count;  // number of elements
  u32 rank;
  u32 windowed;  // as in WindowStep
  u32 before;    // clamped to the longest dimension
  u32 after;
  bool input_is_aligned;
  FastDivisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank];  // strides of the input, in bytes
};

// Windows along a single dimension, the middle one. All dimensions before it are merged into one outer dimension, and
// all dimensions after it into one inner dimension. The elements are aligned.
struct MiddleWindows {
  const std::byte* input;
  f32* output;
  u32 threads;
  u32 together;  // elements per thread: 1, or kWindowsTogether that are contiguous and aligned as a group
  u32 before;
  u32 after;
  FastDivisor middle;
  FastDivisor inner;          // threads along the inner dimension
  std::int64_t outer_stride;  // all strides are in bytes
  std::int64_t middle_stride;
  std::int64_t inner_stride;  // between threads
};
inline constexpr u32 kWindowsTogether = 4;

[[nodiscard]] cudaError_t start_middle_windows(const WindowStep& step, const MiddleWindows& launch,
                                               cudaStream_t stream);
[[nodiscard]] cudaError_t start_windows(const WindowStep& step, const WindowLaunch& launch, cudaStream_t stream);

// Each of these functions prepares a step. They return null and set `why` if no kernel can run the step.
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_moments(const Step& flat, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_windows(const Step& flat, const char** why);

}  // namespace anydml::cuda
