// SPDX-License-Identifier: MIT
#include "ops/normalise/cuda/kernels.cuh"

namespace anydml::cuda {

cudaError_t start_log_softmax(DataType type, NormaliseKernel kernel, const NormaliseLaunch& launch,
                              cudaStream_t stream) {
  return type == DataType::FLOAT16 ? start_kernel<f16, NormaliseFunction::log_softmax>(kernel, launch, stream)
                                   : start_kernel<f32, NormaliseFunction::log_softmax>(kernel, launch, stream);
}

}  // namespace anydml::cuda
