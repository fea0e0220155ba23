// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/modulus_kernels.cuh"

namespace anydml::cuda {

template cudaError_t launch_modulus<f16>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<f16>(bool, const WaveTasks&, cudaStream_t) noexcept;
template cudaError_t launch_modulus<f32>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<f32>(bool, const WaveTasks&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
