// SPDX-License-Identifier: MIT
// Finds out which of the device's own primitives are exact, when it is opened.
#pragma once

#include "backend/vulkan/device.h"

namespace anydml::vulkan {

// Sets GpuProperties::primitives from a file on disk, or from trials on the device. ANYDML_VULKAN_PRIMITIVES=own uses
// none of the device's own primitives. May throw std::bad_alloc.
[[nodiscard]] BackendStatus find_primitives(BackendDevice& device);

}  // namespace anydml::vulkan
