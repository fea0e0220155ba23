// SPDX-License-Identifier: MIT
// The places of extremes.
#include "ops/reduce/cuda/kernels.cuh"

namespace anydml::cuda {

const ReduceKernels& place_kernels(FoldId fold, DataType type) {
  return visit_place(fold, type, [&]<class Fold>() -> const ReduceKernels& { return kReduceKernels<Fold, true>; });
}

}  // namespace anydml::cuda
