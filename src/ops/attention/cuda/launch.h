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

inline constexpr u32 kKeysAtOnce = 128;     // per thread block that multiplies keys
inline constexpr u32 kColumnsAtOnce = 128;  // per thread block that multiplies values, at most
inline constexpr u32 kFewPairs = 4;         // pairs of queries and heads that a thread block processes together
inline constexpr u32 kManyPairs = 16;

// The thread blocks of one block of keys.
struct SeenGrid {
  u32 pairs;        // kFewPairs or kManyPairs
  u32 pair_groups;  // thread blocks for the pairs
  u32 tiles;        // thread blocks for the keys, or for the columns of values
  u32 heads;        // heads of keys and values in all batches
  u32 threads;      // of a thread block that multiplies values
};

struct ScoresLaunch {
  AttentionStep step;
  SeenGrid grid;
  const std::byte* queries;
  const std::byte* keys;
  const std::byte* mask;  // mask and lengths are null if absent
  const std::byte* lengths;
  f32* scores;
  bool is_aligned;
};

struct WeighLaunch {
  AttentionStep step;
  SeenGrid grid;
  const f32* exponentials;
  const f32* totals;
  const std::byte* values;
  const std::byte* mask;
  const std::byte* lengths;
  std::byte* output;
  f32* sums;   // of each row and block of keys; null if the blocks are not split
  i64 blocks;  // of all keys
  bool values_are_aligned;
  bool output_is_aligned;
};

struct AppendLaunch {
  AttentionStep step;
  const std::byte* past;
  const std::byte* fresh;
  const std::byte* lengths;
  std::byte* all;
  u64 past_elements;  // at most; 0 if the past is in `all` already
  u64 new_elements;   // at most
  bool is_aligned;
};

// rows: the number of rows; threads: the thread block size, a multiple of 64.
[[nodiscard]] cudaError_t start_rows(const RowsLaunch& launch, u32 rows, u32 threads, cudaStream_t stream);
[[nodiscard]] cudaError_t start_append(const AppendLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_scores(const ScoresLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_weigh(const WeighLaunch& launch, cudaStream_t stream);

}  // namespace anydml::cuda
