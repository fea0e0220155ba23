// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/modulus_kernels.cuh"

namespace anydml::cuda {

template cudaError_t launch_modulus<u8>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<u8>(bool, const WaveTasks&, cudaStream_t) noexcept;
template cudaError_t launch_modulus<i8>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<i8>(bool, const WaveTasks&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
