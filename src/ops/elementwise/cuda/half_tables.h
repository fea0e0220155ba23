// SPDX-License-Identifier: MIT
// The results of a function for all FLOAT16 values, in GPU memory, computed when a large tensor first needs them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ops/elementwise/cuda/kernel_set.h"

namespace anydml::cuda {

inline constexpr std::uint32_t kHalves = 65536;
using FillHalves = cudaError_t (*)(std::uint16_t* table, const ScalarBytes& scalar, cudaStream_t stream) noexcept;

// The table for a definition with its attributes, on the current device; `fill` identifies the definition. Returns null
// if the GPU has no room for the table, or if too many tables already exist.
[[nodiscard]] const std::uint16_t* find_half_table(FillHalves fill, const ScalarBytes& scalar, std::size_t scalar_bytes,
                                                   const GpuProperties& gpu) noexcept;

}  // namespace anydml::cuda
