// SPDX-License-Identifier: MIT
// Kernels that belong to no family, for queue work other than running programs. No function here waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace anydml::cuda {

// pattern_bytes: 4 or 16. `to` must be a multiple of 4.
[[nodiscard]] cudaError_t launch_fill(void* to, std::uint64_t bytes, const std::uint32_t* pattern,
                                      std::uint32_t pattern_bytes, cudaStream_t stream) noexcept;
// Copies between two locations that the device can access. They must not overlap.
[[nodiscard]] cudaError_t launch_copy(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) noexcept;
// Writes the device's clock, in nanoseconds, to memory that the device can access.
[[nodiscard]] cudaError_t launch_timestamp(std::uint64_t* ticks, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
