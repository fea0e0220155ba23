// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/generic.cuh"

namespace anydml::cuda {

template cudaError_t launch_generic<f16>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<f32>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<f64>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
