// SPDX-License-Identifier: MIT
#include "ops/normalize/cuda/moments.cuh"

namespace anydml::cuda {

cudaError_t start_moments_of_halves(MomentKernel kernel, const MomentLaunch& launch, cudaStream_t stream) {
  return start_moments_of<f16>(kernel, launch, stream);
}

}  // namespace anydml::cuda
