// SPDX-License-Identifier: MIT
// Collects the kernels of a fold in a table.
#pragma once

#include "ops/reduce/cuda/across.cuh"
#include "ops/reduce/cuda/combine.cuh"
#include "ops/reduce/cuda/kernel_set.h"

namespace anydml::cuda {

template <auto kKernel>
[[nodiscard]] cudaError_t start(const ReduceLaunch& launch, u32 blocks, u32 threads, cudaStream_t stream) {
  kKernel<<<blocks, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

template <class W>
[[nodiscard]] constexpr ReduceKernels make_kernels() {
  ReduceKernels kernels{};
  kernels.element_bytes = sizeof(typename W::T);
  kernels.partial_bytes = sizeof(typename W::Value);
  kernels.is_ordered = W::kOrdered;
  kernels.has_half_sums = W::kHalfSums;
  kernels.at(ReduceKernel::along_vectors) = start<along_vectors<W>>;
  kernels.at(ReduceKernel::along_elements) = start<along_elements<W>>;
  kernels.at(ReduceKernel::across_vectors) = start<across<W, W::kVector, false>>;
  kernels.at(ReduceKernel::across_elements) = start<across<W, 1, false>>;
  if constexpr (W::kOrdered) {
    kernels.at(ReduceKernel::along_wide) = start<along_wide<W>>;
    kernels.at(ReduceKernel::across_lanes) = start<across<W, 1, true>>;
    kernels.at(ReduceKernel::across_staged) = start<across_staged<W>>;
  }
  kernels.at(ReduceKernel::combine) = start<combine<W>>;
  return kernels;
}

template <class Fold, bool kIsArg = false>
inline constexpr ReduceKernels kReduceKernels = make_kernels<Work<Fold, kIsArg>>();

}  // namespace anydml::cuda
