// SPDX-License-Identifier: MIT
// The function library: all element-wise definitions and our primitives, compiled by data/vulkan/make_functions.py and
// embedded into the plugin.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/library.h"

namespace anydml::vulkan::spirv {

// Throws std::runtime_error if the embedded module is damaged.
[[nodiscard]] const Library& function_library();

// A kernel in GLSL whose imports (shaders/floats.glsl) become the device's primitives.
[[nodiscard]] KernelCode linked_kernel(std::string key, std::span<const std::uint32_t> words, const GpuProperties& gpu);

}  // namespace anydml::vulkan::spirv
