// SPDX-License-Identifier: MIT
// The function library: all element-wise definitions and our primitives, compiled by data/vulkan/make_functions.py and
// embedded into the plugin.
#pragma once

#include "backend/vulkan/spirv/library.h"

namespace anydml::vulkan::spirv {

// Throws std::runtime_error if the embedded module is damaged.
[[nodiscard]] const Library& function_library();

}  // namespace anydml::vulkan::spirv
