// SPDX-License-Identifier: MIT
// Looks up FLOAT16 functions of one contiguous input in a table in shared memory. The results are correct by
// construction, since the definition filled the table. Only memory limits the speed, even if the function is expensive.
#pragma once

#include "ops/elementwise/cuda/entry_device.cuh"
#include "ops/elementwise/cuda/half_tables.h"
#include "ops/elementwise/cuda/launch.cuh"
#include "ops/scalar/functions/function.h"

namespace anydml::cuda {

// Loading the table into every multiprocessor takes a few microseconds, so smaller tensors are computed directly.
inline constexpr u32 kWorthTable = 1 << 20;
inline constexpr int kTableThreads = 1024;
inline constexpr u32 kTableBytes = kHalves * sizeof(u16);
inline constexpr int kTableVectors = 2;  // vectors in flight per thread

template <class Scalar>
__global__ void fill_halves(u16* table, const __grid_constant__ Scalar scalar) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  table[i] = to_bits(scalar(from_bits<f16>(static_cast<u16>(i))));
}

// Runs one block per multiprocessor, with a grid-stride loop over all elements. A vector has eight elements.
__global__ void __launch_bounds__(kTableThreads)
    look_halves_up(const u16* table, const std::byte* from, std::byte* to, u32 count);

template <class Scalar>
[[nodiscard]] cudaError_t fill_half_table(u16* table, const ScalarBytes& scalar, cudaStream_t stream) noexcept {
  fill_halves<Scalar><<<kHalves / 256, 256, 0, stream>>>(table, scalar_in<Scalar>(scalar));
  return cudaGetLastError();
}

[[nodiscard]] cudaError_t launch_half_table(const u16* table, const std::byte* from, std::byte* to, u32 count,
                                            const GpuProperties& gpu, cudaStream_t stream) noexcept;

// Whether the definition is a function of one FLOAT16 input.
template <class Scalar>
inline constexpr bool kIsHalfFunction = false;
template <class Of>
inline constexpr bool kIsHalfFunction<Function<f16, Of>> = true;

}  // namespace anydml::cuda
