// SPDX-License-Identifier: MIT
// A reduction's step as kernels see it, and the kernels of a fold.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "ops/reduce/scalar/folds.h"
#include "ops/reduce/step.h"

namespace anydml::cuda {

inline constexpr u32 kReduceThreads = 256;    // of a block of threads
inline constexpr u32 kLaneGroups = 8;         // of rows, where each of a group's threads has 8 of the 64 lanes
inline constexpr u32 kLaneVectors = 4;        // of a thread, where there are many outputs
inline constexpr u32 kStagedColumns = 32;     // of a block of threads that stages rows
inline constexpr u32 kPartialsOfThread = 16;  // at most, when blocks are combined
inline constexpr u32 kPartialsAtOnce = kReduceThreads * kPartialsOfThread;

// A kernel's parameter. All counts are below 2^32.
struct ReduceLaunch {
  const std::byte* input;   // the first output's first element; where blocks are combined, the partial results
  std::byte* output;        // the first output, or the partial results
  const std::byte* lowest;  // the bytes that the input's elements lie in: a vector within may be read as a whole
  const std::byte* end;
  u32 count;  // elements of an output
  u32 units;  // along: blocks of elements, of all outputs; across: their columns, or vectors of columns
  u32 team;   // threads for a unit, a power of two
  u32 team_shift;
  FastDivisor blocks;   // of an output
  FastDivisor columns;  // of the innermost kept loop, or vectors of them
  ReduceFunction function;
  u32 index_bytes;  // of the output, where it is an index
  bool to_partials;
  bool takes_last;
  bool is_plain;          // the elements of an output follow one another in memory
  bool input_is_aligned;  // to elements
  bool output_is_aligned;
  // Of partial results: how many of an output are left, how far apart they are, and how many each thread takes.
  u32 left;
  u32 apart;
  u32 of_thread;
  u32 kept_rank;
  u32 reduced_rank;
  FastDivisor kept_sizes[kMaxRank];
  FastDivisor reduced_sizes[kMaxRank];
  std::int64_t kept_input[kMaxRank];  // strides, in bytes
  std::int64_t kept_output[kMaxRank];
  std::int64_t reduced_input[kMaxRank];
};

using StartKernel = cudaError_t (*)(const ReduceLaunch& launch, u32 blocks, u32 threads, cudaStream_t stream);

// Of one fold and type. docs/architecture.md says which is for what.
struct ReduceKernels {
  u32 element_bytes;
  u32 partial_bytes;
  bool is_ordered;     // the order of combining shows in the result
  bool has_half_sums;  // partial results are exact sums of FLOAT16, of which no tree is made
  StartKernel along_vectors;
  StartKernel along_elements;
  StartKernel across_vectors;
  StartKernel across_elements;
  StartKernel along_wide;  // these three of ordered folds alone, otherwise null
  StartKernel across_lanes;
  StartKernel across_staged;
  StartKernel combine;
};

[[nodiscard]] const ReduceKernels& sum_kernels(FoldId fold, DataType type);
[[nodiscard]] const ReduceKernels& product_kernels(FoldId fold, DataType type);
[[nodiscard]] const ReduceKernels& extreme_kernels(FoldId fold, DataType type);
[[nodiscard]] const ReduceKernels& argmax_kernels(DataType type);
[[nodiscard]] const ReduceKernels& argmin_kernels(DataType type);

}  // namespace anydml::cuda
