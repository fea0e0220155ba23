// SPDX-License-Identifier: MIT
// A step that scans rows as kernels see it: a kernel's parameter.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/scan/step.h"

namespace anydml::cuda {

inline constexpr u32 kScanChains = 32;  // of a block of threads: a thread of one warp each

struct ScanLaunch {
  const std::byte* input;  // the first row's first element
  std::byte* output;       // null: the totals of chains are wanted, and no output
  std::byte* totals;       // of each chain, and later its carry; null: a chain is a whole row
  u64 count;               // elements of a row
  u32 rows;
  u32 chains_of_row;  // the blocks of a row, or 1
  u32 tiles_of_loop;  // across: groups of chains in the innermost kept loop
  u32 kept_rank;
  std::int64_t along_input;  // strides, in bytes
  std::int64_t along_output;
  FastDivisor kept_sizes[kMaxRank];
  std::int64_t kept_input[kMaxRank];
  std::int64_t kept_output[kMaxRank];
  bool is_exclusive;
  bool first_is_zero;     // of a row's results
  bool input_is_aligned;  // every element
  bool output_is_aligned;
  bool input_has_vectors;  // chains, or lines of chains, lie in vectors of 16 bytes
  bool output_has_vectors;
};

// Starts the kernel over `groups` blocks of threads. across: neighbouring threads have rows whose elements lie beside
// each other. Answers with the error of CUDA's call.
[[nodiscard]] cudaError_t start_sums(DataType type, bool across, u32 groups, const ScanLaunch& launch,
                                     cudaStream_t stream);
[[nodiscard]] cudaError_t start_products(DataType type, bool across, u32 groups, const ScanLaunch& launch,
                                         cudaStream_t stream);
// Turns the totals of each row's chains into the carries before them.
[[nodiscard]] cudaError_t carry_sums(DataType type, const ScanLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t carry_products(DataType type, const ScanLaunch& launch, cudaStream_t stream);

}  // namespace anydml::cuda
