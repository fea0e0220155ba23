// SPDX-License-Identifier: MIT
// The kernel parameters of attention steps.
#pragma once

#include <cuda_runtime_api.h>

#include "base/element.h"
#include "ops/attention/step.h"

namespace anydml::cuda {

inline constexpr u32 kMaxRowThreads = 256;  // per thread block, which processes one row of scores
inline constexpr u32 kAppendThreads = 256;

struct RowsLaunch {
  AttentionStep step;
  const f32* scores;
  const std::byte* bias;  // bias, mask and lengths are null if absent
  const std::byte* mask;
  const std::byte* lengths;
  f32* exponentials;
  f32* totals;
  bool bias_is_aligned;
  bool mask_is_aligned;
};

struct AppendLaunch {
  AttentionStep step;
  const std::byte* past;
  const std::byte* fresh;
  const std::byte* lengths;
  std::byte* all;
  bool is_aligned;
};

// rows: the number of rows; threads: the thread block size, a multiple of 64.
[[nodiscard]] cudaError_t start_rows(const RowsLaunch& launch, u32 rows, u32 threads, cudaStream_t stream);
// elements: the number of elements in `launch.all`, at least 1.
[[nodiscard]] cudaError_t start_append(const AppendLaunch& launch, u64 elements, cudaStream_t stream);

}  // namespace anydml::cuda
