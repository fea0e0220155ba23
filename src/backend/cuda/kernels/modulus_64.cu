// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/modulus_kernels.cuh"

namespace anydml::cuda {

template cudaError_t launch_modulus<u64>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<u64>(bool, const WaveTasks&, cudaStream_t) noexcept;
template cudaError_t launch_modulus<i64>(bool, KernelShape, const Launch&, u32, cudaStream_t) noexcept;
template cudaError_t launch_modulus_waves<i64>(bool, const WaveTasks&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
