// SPDX-License-Identifier: MIT
#include "ops/normalize/cuda/kernels.cuh"

namespace anydml::cuda {

cudaError_t start_log_softmax(DataType type, NormalizeKernel kernel, const NormalizeLaunch& launch,
                              cudaStream_t stream) {
  return type == DataType::FLOAT16 ? start_kernel<f16, NormalizeFunction::log_softmax>(kernel, launch, stream)
                                   : start_kernel<f32, NormalizeFunction::log_softmax>(kernel, launch, stream);
}

}  // namespace anydml::cuda
