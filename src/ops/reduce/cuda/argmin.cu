// SPDX-License-Identifier: MIT
// CUDA kernels for the indices of minima.
#include "ops/reduce/cuda/kernels.cuh"

namespace anydml::cuda {

const ReduceKernels& argmin_kernels(DataType type) {
  return visit_type(type,
                    [&]<class T>() -> const ReduceKernels& { return kReduceKernels<fold_t<FoldId::argmin, T>, true>; });
}

}  // namespace anydml::cuda
