// SPDX-License-Identifier: MIT
// Kernel parameters for a step that scans rows.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/scan/step.h"

namespace anydml::cuda {

inline constexpr u32 kScanChains = 32;  // per block of threads, one for each thread of a warp

struct ScanLaunch {
  const std::byte* input;  // first element of the first row
  std::byte* output;       // null if only the totals of chains are needed
  std::byte* totals;       // total of each chain, and later its carry; null if a chain is a whole row
  u64 count;               // elements per row
  u32 rows;
  u32 chains_of_row;  // blocks per row, or 1
  u32 tiles_of_loop;  // across: groups of chains per innermost kept loop
  u32 kept_rank;
  std::int64_t along_input;  // strides, in bytes
  std::int64_t along_output;
  FastDivisor kept_sizes[kMaxRank];
  std::int64_t kept_input[kMaxRank];
  std::int64_t kept_output[kMaxRank];
  bool is_exclusive;
  bool first_is_zero;     // whether each row's first result is 0
  bool input_is_aligned;  // every element is aligned
  bool output_is_aligned;
  bool input_has_vectors;  // chains, or lines of chains, are in aligned vectors of 16 bytes
  bool output_has_vectors;
};

// Launches the kernel with `groups` blocks of threads. across: adjacent threads process rows whose elements are
// adjacent. Returns the error code of the CUDA call.
[[nodiscard]] cudaError_t start_sums(DataType type, bool across, u32 groups, const ScanLaunch& launch,
                                     cudaStream_t stream);
[[nodiscard]] cudaError_t start_products(DataType type, bool across, u32 groups, const ScanLaunch& launch,
                                         cudaStream_t stream);
// Turns the totals of each row's chains into the carries before these chains.
[[nodiscard]] cudaError_t carry_sums(DataType type, const ScanLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t carry_products(DataType type, const ScanLaunch& launch, cudaStream_t stream);

}  // namespace anydml::cuda
