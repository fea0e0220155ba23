// SPDX-License-Identifier: MIT
// The results of a function for all FLOAT16, in the GPU's memory: made when a large tensor first asks for them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ops/elementwise/cuda/kernel_set.h"

namespace anydml::cuda {

inline constexpr std::uint32_t kHalves = 65536;
using FillHalves = cudaError_t (*)(std::uint16_t* table, const ScalarBytes& scalar, cudaStream_t stream) noexcept;

// The table of a definition with its attributes, on this device, which is current; `fill` says which definition it is.
// The result is null if the GPU has no room for the table, or if too many other tables exist.
[[nodiscard]] const std::uint16_t* find_half_table(FillHalves fill, const ScalarBytes& scalar, std::size_t scalar_bytes,
                                                   const Machine& machine) noexcept;

}  // namespace anydml::cuda
