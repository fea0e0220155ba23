// SPDX-License-Identifier: MIT
// CUDA kernels for sums and for sums of magnitudes.
#include "ops/reduce/cuda/kernels.cuh"

namespace anydml::cuda {

const ReduceKernels& sum_kernels(FoldId fold, DataType type) {
  return visit_sum(fold, type, [&]<class Fold>() -> const ReduceKernels& { return kReduceKernels<Fold>; });
}

}  // namespace anydml::cuda
