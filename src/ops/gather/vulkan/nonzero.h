// SPDX-License-Identifier: MIT
// NONZERO_COORDINATES on a device with Vulkan.
#pragma once

#include <memory>

#include "backend/vulkan/family.h"

namespace anydml::vulkan {

[[nodiscard]] std::unique_ptr<PreparedStep> prepare_nonzero(const Step& flat, Kernels& kernels);

}  // namespace anydml::vulkan
