// SPDX-License-Identifier: MIT
// Kernel parameters for a reduction step. This header contains no host code, so that kernels can be compiled at run
// time.
#pragma once

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/reduce/functions.h"

namespace anydml::cuda {

inline constexpr u32 kReduceThreads = 256;    // per block
inline constexpr u32 kLaneGroups = 8;         // groups of rows; each of a group's threads has 8 of the 64 lanes
inline constexpr u32 kLaneVectors = 4;        // per thread, if there are many outputs
inline constexpr u32 kStagedColumns = 32;     // per block of threads that stages rows
inline constexpr u32 kPartialsOfThread = 16;  // maximum when blocks are combined
inline constexpr u32 kPartialsAtOnce = kReduceThreads * kPartialsOfThread;

inline constexpr u32 kReduceRank = 8;
// All counts are below 2^32.
struct ReduceLaunch {
  const std::byte* input;   // first element of the first output, or the partial results if blocks are combined
  std::byte* output;        // the first output, or the partial results
  const std::byte* lowest;  // start of the input's bytes; a vector between `lowest` and `end` may be read as a whole
  const std::byte* end;
  u32 count;  // elements per output
  u32 units;  // along: blocks of elements in all outputs; across: columns of these blocks, or vectors of columns
  u32 team;   // threads per unit, a power of two
  u32 team_shift;
  FastDivisor blocks;   // per output
  FastDivisor columns;  // columns of the innermost kept loop, or vectors of them
  ReduceFunction function;
  u32 index_bytes;  // size of the output's elements if they are indices
  bool to_partials;
  bool takes_last;
  bool is_plain;          // the elements of an output are contiguous
  bool input_is_aligned;  // to the element size
  bool output_is_aligned;
  // Partial results: how many are left per output, the distance between them, and how many each thread combines.
  u32 left;
  u32 apart;
  u32 of_thread;
  u32 kept_rank;
  u32 reduced_rank;
  FastDivisor kept_sizes[kReduceRank];
  FastDivisor reduced_sizes[kReduceRank];
  std::int64_t kept_input[kReduceRank];  // strides, in bytes
  std::int64_t kept_output[kReduceRank];
  std::int64_t reduced_input[kReduceRank];
};

}  // namespace anydml::cuda
