// SPDX-License-Identifier: MIT
// Lavapipe gives each thread a number of iterations for all of its loops (GpuProperties::max_iterations). When they are
// used up, every loop of the thread ends after one iteration, without an error, and the results are wrong. A guarded
// kernel notices this.
#pragma once

#include <cstdint>
#include <span>

#include "backend/vulkan/spirv/builder.h"

namespace anydml::vulkan::spirv {

// The kernel, which must take KernelHeader, with an end that sets a word to 1 if a loop may have ended too early. The
// word's address precedes the addresses of the step's operands. The kernel is trusted.
[[nodiscard]] Words guard_loops(std::span<const std::uint32_t> kernel);

}  // namespace anydml::vulkan::spirv
