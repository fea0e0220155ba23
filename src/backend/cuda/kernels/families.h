// SPDX-License-Identifier: MIT
// The families of kernels, each instantiated for every type in files of its own.
#pragma once

#include "backend/cuda/kernels/device.cuh"

namespace anydml::cuda {

[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_modulus(RowId row) {
  return row == RowId::ELEMENT_WISE_MODULUS_FLOOR || row == RowId::ELEMENT_WISE_MODULUS_TRUNCATE;
}

// The two modulus operators, tuned. tiles: how many, where the shape is transposed.
template <class T>
[[nodiscard]] cudaError_t launch_modulus(bool floor, KernelShape shape, const Launch& launch, std::uint32_t tiles,
                                         cudaStream_t stream) noexcept;

// Tasks of one modulus operator over whole vectors, none of which stays at one element.
struct WaveTasks {
  std::uint32_t count;
  SmallTask tasks[kMaxSmallTasks];
};
template <class T>
[[nodiscard]] cudaError_t launch_modulus_waves(bool floor, const WaveTasks& tasks, cudaStream_t stream) noexcept;

// Every row, by its scalar definition: strided, or by vectors but for modulus.
template <class T>
[[nodiscard]] cudaError_t launch_generic(KernelShape shape, const Launch& launch, const Program& program,
                                         cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
