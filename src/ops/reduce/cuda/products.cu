// SPDX-License-Identifier: MIT
// Sums of squares and products.
#include "ops/reduce/cuda/kernels.cuh"

namespace anydml::cuda {

const ReduceKernels& product_kernels(FoldId fold, DataType type) {
  return visit_product(fold, type, [&]<class Fold>() -> const ReduceKernels& { return kReduceKernels<Fold>; });
}

}  // namespace anydml::cuda
