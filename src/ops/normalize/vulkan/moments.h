// SPDX-License-Identifier: MIT
// Steps that normalize by mean and variance, and sums of windows.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/vulkan/family.h"
#include "base/integers.h"

namespace anydml::vulkan {

inline constexpr u32 kRowThreads = 256;  // of a group (shaders/row_sums.glsl)
// Kernels count in 32 bits, by up to a block of 4,096.
inline constexpr i64 kMaxThreads = (i64{1} << 32) - 4096;
inline constexpr const char* kTooManyThreads =
    "the Vulkan kernels that normalize have up to 4,294,963,200 elements in a row, rows, and threads";

[[nodiscard]] constexpr u32 groups_of(u32 units, u32 of_group) { return (units - 1) / of_group + 1; }

// These functions return null and set `why` if no kernel can run the step.
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_moments(const Step& flat, Kernels& kernels, const char** why);
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_window_sums(const Step& flat, Kernels& kernels, const char** why);

}  // namespace anydml::vulkan
