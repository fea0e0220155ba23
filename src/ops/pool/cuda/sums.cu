// SPDX-License-Identifier: MIT
#include "ops/pool/cuda/elements.cuh"

namespace anydml::cuda {

cudaError_t start_pool_sums(const PoolLaunch& launch, cudaStream_t stream) {
  return launch.step.type == DataType::FLOAT16   ? start_pool<PoolSum<f16>>(launch, stream)
         : launch.step.type == DataType::FLOAT64 ? start_pool<PoolSum<f64>>(launch, stream)
                                                 : start_pool<PoolSum<f32>>(launch, stream);
}

}  // namespace anydml::cuda
