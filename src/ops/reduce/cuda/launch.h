// SPDX-License-Identifier: MIT
// A reduction's step as kernels see it: a kernel's parameter. Nothing of the host's, so that kernels can be compiled
// while a program runs.
#pragma once

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/reduce/functions.h"

namespace anydml::cuda {

inline constexpr u32 kReduceThreads = 256;    // of a block of threads
inline constexpr u32 kLaneGroups = 8;         // of rows, where each of a group's threads has 8 of the 64 lanes
inline constexpr u32 kLaneVectors = 4;        // of a thread, if there are many outputs
inline constexpr u32 kStagedColumns = 32;     // of a block of threads that stages rows
inline constexpr u32 kPartialsOfThread = 16;  // at most, when blocks are combined
inline constexpr u32 kPartialsAtOnce = kReduceThreads * kPartialsOfThread;

inline constexpr u32 kReduceRank = 8;
// All counts are below 2^32.
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
  FastDivisor kept_sizes[kReduceRank];
  FastDivisor reduced_sizes[kReduceRank];
  std::int64_t kept_input[kReduceRank];  // strides, in bytes
  std::int64_t kept_output[kReduceRank];
  std::int64_t reduced_input[kReduceRank];
};

}  // namespace anydml::cuda
