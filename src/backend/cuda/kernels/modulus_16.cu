// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/modulus_kernels.cuh"

namespace anydml::cuda {

template cudaError_t launch_modulus<u16>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<u16>(bool, const WaveTasks&, cudaStream_t) noexcept;
template cudaError_t launch_modulus<i16>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<i16>(bool, const WaveTasks&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
