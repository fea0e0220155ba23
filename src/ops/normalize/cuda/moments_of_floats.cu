// SPDX-License-Identifier: MIT
#include "ops/normalize/cuda/moments.cuh"

namespace anydml::cuda {

cudaError_t start_moments_of_floats(MomentKernel kernel, const MomentLaunch& launch, cudaStream_t stream) {
  return start_moments_of<f32>(kernel, launch, stream);
}

}  // namespace anydml::cuda
