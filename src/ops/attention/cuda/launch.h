// SPDX-License-Identifier: MIT
// Steps of attention as kernels see them: a kernel's parameters.
#pragma once

#include <cuda_runtime_api.h>

#include "base/element.h"
#include "ops/attention/step.h"

namespace anydml::cuda {

inline constexpr u32 kMostRowThreads = 256;  // of a block of threads, which has a row of scores
inline constexpr u32 kAppendThreads = 256;

struct RowsLaunch {
  AttentionStep step;
  const f32* scores;
  const std::byte* bias;  // null: absent; likewise mask and lengths
  const std::byte* mask;
  const std::byte* lengths;
  f32* powers;
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

// rows: their number; threads: of a block of them, a multiple of 64.
[[nodiscard]] cudaError_t start_rows(const RowsLaunch& launch, u32 rows, u32 threads, cudaStream_t stream);
// elements: of the result; not 0.
[[nodiscard]] cudaError_t start_append(const AppendLaunch& launch, u64 elements, cudaStream_t stream);

}  // namespace anydml::cuda
