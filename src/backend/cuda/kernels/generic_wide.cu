// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/generic.cuh"

namespace anydml::cuda {

template cudaError_t launch_generic<u32>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<i32>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<u64>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;
template cudaError_t launch_generic<i64>(KernelShape, const Launch&, const Program&, cudaStream_t) noexcept;

}  // namespace anydml::cuda
