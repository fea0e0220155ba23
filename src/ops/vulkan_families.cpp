// SPDX-License-Identifier: MIT
// The top layer of the plugin, which collects the Vulkan kernels of all families.
#include <iterator>

#include "backend/vulkan/family.h"

namespace anydml::vulkan {

// These symbols are weak, so the address is null for a family without Vulkan kernels.
#define ANYDML_FAMILY(name) extern __attribute__((weak)) const FamilyKernels name##_family;
#include "ops/families.def"

FamilyEntry find_family(std::uint32_t number) noexcept {
  static const FamilyEntry kAll[] = {
#define ANYDML_FAMILY(name) {&name##_family, "the Vulkan backend has no kernels for operators of the family " #name},
#include "ops/families.def"
  };
  return number < std::size(kAll) ? kAll[number] : FamilyEntry{nullptr, "the plan names an unknown family"};
}

}  // namespace anydml::vulkan
