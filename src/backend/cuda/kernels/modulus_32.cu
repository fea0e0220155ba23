// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/modulus_kernels.cuh"

namespace anydml::cuda {

template cudaError_t launch_modulus<u32>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<u32>(bool, const WaveTasks&, cudaStream_t) noexcept;
template cudaError_t launch_modulus<i32>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<i32>(bool, const WaveTasks&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
