// SPDX-License-Identifier: MIT
// Kernel parameters for pooling and unpooling steps. There are fewer than 2^32 outputs and, for unpooling, fewer than
// 2^32 inputs.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "ops/pool/step.h"

namespace anydml::cuda {

inline constexpr u32 kPoolThreads = 256;  // per block

struct PoolLaunch {
  const std::byte* input;
  std::byte* output;
  std::byte* indices;  // null if not requested
  u32 outputs;
  bool input_is_aligned;
  bool output_is_aligned;
  bool indices_are_aligned;
  bool indices_are_wide;  // 64-bit instead of 32-bit
  FastDivisor channels;
  FastDivisor sizes[kPoolAxes];  // output sizes
  PoolStep step;                 // has at least two axes
};

// Windows over two axes with contiguous rows, without indices: each thread computes several outputs of a column.
struct PoolColumns {
  const std::byte* input;
  std::byte* output;
  u32 threads;
  u32 height;  // height of the output
  FastDivisor width;
  FastDivisor strips;  // strips per plane
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

inline constexpr u32 kPoolStrip = 8;  // outputs per thread

// The windows that column kernels support, named after their sides and their stride along both axes.
enum class PoolShape : u32 { two_by_two, three_by_one, three_by_two };

struct UnpoolLaunch {
  const std::byte* input;
  const std::byte* indices;
  std::byte* output;
  u32* last;  // for each output, 1 + the index of the last input that is written to it, or 0 if there is none
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

// The gradient of max pooling. Each thread computes one element of the output gradient. Indices refer to these
// elements.
struct PoolGradientLaunch {
  const std::byte* indices;
  const std::byte* gradient;
  std::byte* output;
  u32 outputs;
  bool gradient_is_aligned;
  bool output_is_aligned;
  bool is_far;  // positions do not fit in 32 bits
  FastDivisor channels;
  FastDivisor sizes[kPoolAxes];    // sizes of the output gradient
  FastDivisor strides[kPoolAxes];  // strides of the windows
  PoolStep step;                   // has at least two axes
};

// Each of these functions launches a kernel and returns the error code of the CUDA call.
[[nodiscard]] cudaError_t start_pool_sums(const PoolLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_pool_maxima(const PoolLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_pool_columns(DataType type, PoolShape shape, const PoolColumns& launch,
                                             cudaStream_t stream);
[[nodiscard]] cudaError_t start_max_gradient(const PoolGradientLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_unpooling(DataType type, DataType index_type, const UnpoolLaunch& launch,
                                          cudaStream_t stream);

}  // namespace anydml::cuda
