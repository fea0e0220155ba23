// SPDX-License-Identifier: MIT
// Steps that pool, and the step that puts elements back, as kernels see them: a kernel's parameter. There are fewer
// than 2^32 outputs, and inputs of an unpooling.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "ops/pool/step.h"

namespace anydml::cuda {

inline constexpr u32 kPoolThreads = 256;  // of a block of threads

struct PoolLaunch {
  const std::byte* input;
  std::byte* output;
  std::byte* indices;  // null: none are wanted
  u32 outputs;
  bool input_is_aligned;
  bool output_is_aligned;
  bool indices_are_aligned;
  bool indices_are_wide;  // 64 bits
  FastDivisor channels;
  FastDivisor sizes[kPoolAxes];  // of the output
  PoolStep step;                 // with two axes at least
};

// Windows over two axes whose rows are contiguous, without indices: a thread has some outputs of a column.
struct PoolColumns {
  const std::byte* input;
  std::byte* output;
  u32 threads;
  u32 height;  // of the output
  FastDivisor width;
  FastDivisor strips;  // of a plane
  FastDivisor channels;
  u32 counts_padding;
  PoolFunction function;
  i32 input_height;
  i32 input_width;
  i32 padding[2];
  std::int64_t input_row;  // strides, in bytes
  std::int64_t output_row;
  std::int64_t input_channel;
  std::int64_t output_channel;
  std::int64_t input_batch;
  std::int64_t output_batch;
};

inline constexpr u32 kPoolStrip = 8;  // outputs of a thread

// The windows that kernels by columns know.
enum class PoolShape : u32 { two_by_two, three_by_one, three_by_two };  // the window's sides, and both strides

struct UnpoolLaunch {
  const std::byte* input;
  const std::byte* indices;
  std::byte* output;
  u32* last;  // for each output, one more than the number of the input that stays there; 0: none
  u32 inputs;
  u32 outputs;
  u32 input_rank;
  u32 output_rank;
  bool input_is_aligned;
  bool indices_are_aligned;
  bool output_is_aligned;
  FastDivisor input_sizes[kMaxRank];
  FastDivisor output_sizes[kMaxRank];
  std::int64_t input_steps[kMaxRank];
  std::int64_t index_steps[kMaxRank];
  std::int64_t output_steps[kMaxRank];
};

// The gradient of the greatest. A thread has one element of the output gradient, and its number is the index there.
struct PoolGradientLaunch {
  const std::byte* indices;
  const std::byte* gradient;
  std::byte* output;
  u32 outputs;
  bool gradient_is_aligned;
  bool output_is_aligned;
  bool is_far;  // places do not fit 32 bits
  FastDivisor channels;
  FastDivisor sizes[kPoolAxes];    // of the output gradient
  FastDivisor strides[kPoolAxes];  // of the windows
  PoolStep step;                   // with two axes at least
};

// They answer with the error of CUDA's call.
[[nodiscard]] cudaError_t start_pool_sums(const PoolLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_pool_maxima(const PoolLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_pool_columns(DataType type, PoolShape shape, const PoolColumns& launch,
                                             cudaStream_t stream);
[[nodiscard]] cudaError_t start_max_gradient(const PoolGradientLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_unpooling(DataType type, DataType index_type, const UnpoolLaunch& launch,
                                          cudaStream_t stream);

}  // namespace anydml::cuda
