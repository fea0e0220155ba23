// SPDX-License-Identifier: MIT
// CUDA kernels for maxima and minima.
#include "ops/reduce/cuda/kernels.cuh"

namespace anydml::cuda {

const ReduceKernels& extreme_kernels(FoldId fold, DataType type) {
  return visit_extreme(fold, type, [&]<class Fold>() -> const ReduceKernels& { return kReduceKernels<Fold>; });
}

}  // namespace anydml::cuda
