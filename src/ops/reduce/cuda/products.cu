// SPDX-License-Identifier: MIT
// CUDA kernels for sums of squares and for products.
#include "ops/reduce/cuda/kernels.cuh"

namespace anydml::cuda {

const ReduceKernels& product_kernels(FoldId fold, DataType type) {
  return visit_product(fold, type, [&]<class Fold>() -> const ReduceKernels& { return kReduceKernels<Fold>; });
}

}  // namespace anydml::cuda
