// SPDX-License-Identifier: MIT
// The kernel parameters of a step that orders rows. Rows have fewer than 2^32 elements.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/sort/step.h"

namespace anydml::cuda {

inline constexpr u32 kSelectThreads = 128;
inline constexpr u32 kMaxCandidates = 512;     // words of a selection, in shared memory
inline constexpr u32 kMaxSelected = 256;       // maximum K of a selection
inline constexpr u32 kHeldBytes = 128;         // bytes of keys in the registers of a selecting thread
inline constexpr u32 kTileBytes = 32 << 10;    // bytes of words that a thread block sorts in shared memory
inline constexpr u32 kTileThreads = 512;       // maximum number of threads in a block that sorts
inline constexpr std::size_t kNarrowWord = 8;  // bytes of a word with a 32-bit key
inline constexpr std::size_t kWideWord = 16;   // bytes of a word with a 64-bit key

enum class SortKind : u32 { unsigned_integer, signed_integer, floating };

// Each row is processed in `parts` parts of `part` elements; the result of a part is its first K words, or the output.
struct SortLaunch {
  const std::byte* input;  // first element of the first row
  std::byte* values;
  std::byte* indices;
  const std::byte* from;  // words in the workspace, `pitch` for each row
  std::byte* to;          // words in the workspace, K for each part; null if values and indices are written
  u32 first_row;
  u32 rows;
  u32 count;  // elements of a row, or words
  u32 k;
  u32 part;
  u32 parts;
  u32 pitch;
  u32 padded;  // words sorted in shared memory for each part, a power of two
  SortKind kind;
  bool largest;
  bool has_wide_indices;
  bool has_vectors;  // the input's rows are contiguous and start at multiples of 16 bytes
  bool input_is_aligned;
  bool values_is_aligned;
  bool indices_is_aligned;
  u32 rank;
  FastDivisor sizes[kMaxRank];
  std::int64_t row_input[kMaxRank];  // strides, in bytes
  std::int64_t row_values[kMaxRank];
  std::int64_t row_indices[kMaxRank];
  std::int64_t axis_input;
  std::int64_t axis_values;
  std::int64_t axis_indices;
};

// The words of a whole sort in the workspace: rows of `padded` words each.
struct WholeSort {
  std::byte* words;
  u64 total;
  u64 padded;
};

// Kernels that process elements, for each element size. They return the CUDA error.
//   select     the first K of each part, K at most kMaxSelected
//   sort       like select, for any K, for parts that fit into shared memory
//   load       words of all elements, rows of `pitch` words each
//   write      values and indices from the first K words of each row
struct SortStarts {
  cudaError_t (*select)(const SortLaunch& launch, cudaStream_t stream);
  cudaError_t (*sort)(const SortLaunch& launch, cudaStream_t stream);
  cudaError_t (*load)(const SortLaunch& launch, cudaStream_t stream);
  cudaError_t (*write)(const SortLaunch& launch, cudaStream_t stream);
};
extern const SortStarts kSortStarts1;
extern const SortStarts kSortStarts2;
extern const SortStarts kSortStarts4;
extern const SortStarts kSortStarts8;

// Kernels that process words, for each word size: the first K words of each part, and all words of each row in order.
[[nodiscard]] cudaError_t start_sort_words(std::size_t word_bytes, const SortLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_whole_sort(std::size_t word_bytes, const WholeSort& sort, cudaStream_t stream);

// Words per thread block.
[[nodiscard]] constexpr u32 tile_words(std::size_t word_bytes) { return kTileBytes / static_cast<u32>(word_bytes); }

}  // namespace anydml::cuda
