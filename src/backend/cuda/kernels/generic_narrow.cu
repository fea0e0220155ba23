// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/generic.cuh"

namespace anydml::cuda {

template cudaError_t launch_generic<u8>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<i8>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<u16>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<i16>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
