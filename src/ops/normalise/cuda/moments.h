// SPDX-License-Identifier: MIT
// Steps of mean and variance, and of windows, as kernels see them: a kernel's parameter. All counts are below 2^32.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/family.h"
#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/normalise/step.h"

namespace anydml::cuda {

inline constexpr u32 kMostWarpsOfRow = 8;        // that hold a row in their registers, a block of 4,096 elements each
inline constexpr u32 kMomentThreads = 256;       // of a block of threads; a row of one block of elements is a warp's
inline constexpr u32 kRegisterRowThreads = 128;  // the same where rows are in registers
inline constexpr std::int64_t kLeastInShared = 1025;  // elements; shorter rows are a warp's, in registers
inline constexpr std::int64_t kMostInShared = 8192;   // of longer ones too few fit into a multiprocessor

// Loops that an index runs over, the last fastest, with the strides of two tensors in bytes.
struct DeviceLoops {
  u32 rank;
  FastDivisor sizes[kMaxRank];
  std::int64_t first[kMaxRank];
  std::int64_t second[kMaxRank];
};

// How the scale or the bias of a row is read.
enum class Reading : u32 { one, pairs, any };

struct MomentLaunch {
  const std::byte* input;  // the first element of the first row; likewise the others
  const std::byte* scale;  // null: absent
  const std::byte* bias;
  std::byte* output;
  u32 rows;
  u32 count;         // elements of a row
  u32 warps_of_row;  // 1 or more
  f32 divisor;       // the count
  f32 epsilon;
  bool uses_mean;
  bool uses_variance;
  bool input_is_aligned;
  bool output_is_aligned;
  bool affine_is_aligned;
  bool is_plain;     // rows of the input and of the output are contiguous, and of pairs that are aligned
  bool reads_pairs;  // neither the scale nor the bias is read in any other way
  Reading scale_reading;
  Reading bias_reading;
  DeviceLoops kept;         // of the input and of the output
  DeviceLoops kept_affine;  // of the scale and of the bias
  DeviceLoops reduced;
  DeviceLoops reduced_affine;
};

// shared_memory: rows that are plain in fours, as their scales and biases are; registers: rows that are plain and short
// enough, with scales and biases that are one or in pairs; memory: any others whose sums have lanes; chains: the rest,
// a thread for each row.
enum class MomentKernel : u32 { shared_memory, registers, memory, chains };

[[nodiscard]] cudaError_t start_moments_of_floats(MomentKernel kernel, const MomentLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_moments_of_halves(MomentKernel kernel, const MomentLaunch& launch, cudaStream_t stream);

struct WindowLaunch {
  const std::byte* input;
  f32* output;
  u32 count;  // of elements
  u32 rank;
  u32 windowed;  // as in WindowStep
  u32 before;    // no further than the longest dimension
  u32 after;
  bool input_is_aligned;
  FastDivisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank];  // of the input, in bytes
};

// Windows along one dimension, with all dimensions before it together, and all after it. The elements are aligned.
struct MiddleWindows {
  const std::byte* input;
  f32* output;
  u32 threads;
  u32 together;  // elements of a thread: 1, or kWindowsTogether that lie beside each other and are aligned together
  u32 before;
  u32 after;
  FastDivisor middle;
  FastDivisor inner;          // threads for the dimensions after it
  std::int64_t outer_stride;  // in bytes, as the others
  std::int64_t middle_stride;
  std::int64_t inner_stride;  // from a thread to the next
};
inline constexpr u32 kWindowsTogether = 4;

[[nodiscard]] cudaError_t start_middle_windows(const WindowStep& step, const MiddleWindows& launch,
                                               cudaStream_t stream);
[[nodiscard]] cudaError_t start_windows(const WindowStep& step, const WindowLaunch& launch, cudaStream_t stream);

// The steps, made ready. Null, and why: no kernel can run the step.
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_moments(const Step& flat, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_windows(const Step& flat, const char** why);

}  // namespace anydml::cuda
