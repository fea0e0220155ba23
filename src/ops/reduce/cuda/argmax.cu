// SPDX-License-Identifier: MIT
// CUDA kernels for the indices of maxima.
#include "ops/reduce/cuda/kernels.cuh"

namespace anydml::cuda {

const ReduceKernels& argmax_kernels(DataType type) {
  return visit_type(type,
                    [&]<class T>() -> const ReduceKernels& { return kReduceKernels<fold_t<FoldId::argmax, T>, true>; });
}

}  // namespace anydml::cuda
