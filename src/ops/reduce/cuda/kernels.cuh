// SPDX-License-Identifier: MIT
// The kernels of a fold as a table.
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
  ReduceKernels computed{};
  computed.element_bytes = sizeof(typename W::T);
  computed.partial_bytes = sizeof(typename W::Value);
  computed.is_ordered = W::kOrdered;
  computed.has_half_sums = W::kHalfSums;
  computed.at(ReduceKernel::along_vectors) = start<along_vectors<W>>;
  computed.at(ReduceKernel::along_elements) = start<along_elements<W>>;
  computed.at(ReduceKernel::across_vectors) = start<across<W, W::kVector, false>>;
  computed.at(ReduceKernel::across_elements) = start<across<W, 1, false>>;
  if constexpr (W::kOrdered) {
    computed.at(ReduceKernel::along_wide) = start<along_wide<W>>;
    computed.at(ReduceKernel::across_lanes) = start<across<W, 1, true>>;
    computed.at(ReduceKernel::across_staged) = start<across_staged<W>>;
  }
  computed.at(ReduceKernel::combine) = start<combine<W>>;
  return computed;
}

template <class Fold, bool kIsArg = false>
inline constexpr ReduceKernels kReduceKernels = make_kernels<Work<Fold, kIsArg>>();

}  // namespace anydml::cuda
