// SPDX-License-Identifier: MIT
// The table of a fold's kernels, for host code.
#pragma once

#include <cuda_runtime_api.h>

#include "ops/reduce/cuda/launch.h"
#include "ops/reduce/scalar/folds.h"

namespace anydml::cuda {

using StartKernel = cudaError_t (*)(const ReduceLaunch& launch, u32 blocks, u32 threads, cudaStream_t stream);

// docs/architecture.md explains the purpose of each kernel.
enum class ReduceKernel : u32 {
  along_vectors,
  along_elements,
  across_vectors,
  across_elements,
  along_wide,  // these three only exist for ordered folds
  across_lanes,
  across_staged,
  combine,
};
inline constexpr u32 kReduceKernelCount = 8;

// The kernels of one fold and type.
struct ReduceKernels {
  u32 element_bytes;
  u32 partial_bytes;
  bool is_ordered;                        // the result depends on the order of combining
  bool has_half_sums;                     // partial results are exact sums of FLOAT16, which need no tree
  StartKernel start[kReduceKernelCount];  // null if the fold has no such kernel

  [[nodiscard]] constexpr StartKernel& at(ReduceKernel kernel) { return start[static_cast<u32>(kernel)]; }
};

[[nodiscard]] const ReduceKernels& sum_kernels(FoldId fold, DataType type);
[[nodiscard]] const ReduceKernels& product_kernels(FoldId fold, DataType type);
[[nodiscard]] const ReduceKernels& extreme_kernels(FoldId fold, DataType type);
[[nodiscard]] const ReduceKernels& argmax_kernels(DataType type);
[[nodiscard]] const ReduceKernels& argmin_kernels(DataType type);

}  // namespace anydml::cuda
