// SPDX-License-Identifier: MIT
// Limits on the work that is submitted at once. Systems reset a GPU whose submission takes longer than a few seconds,
// and a desktop that shares the GPU stands still in the meantime.
#pragma once

#include <cstdint>

#include "backend/vulkan/catalog.h"

namespace anydml::vulkan {

// The number of scalar operations in a submission. The slowest devices of each kind need about half a second for them,
// even if each operation is computed with integers. BackendDevice::max_operations is this number, unless a test sets
// it.
[[nodiscard]] inline std::uint64_t max_operations(const Candidate& candidate) {
  switch (candidate.type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return std::uint64_t{1} << 36;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return ~std::uint64_t{0} >> 1;  // has no watchdog
    default:
      return std::uint64_t{1} << 32;
  }
}

}  // namespace anydml::vulkan
