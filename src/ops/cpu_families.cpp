// SPDX-License-Identifier: MIT
// The CPU kernels of all families, collected for programs that link the CPU backend.
#include "backend/cpu/family.h"

namespace anydml::cpu {

#define ANYDML_FAMILY(name) extern const FamilyKernels name##_family;
#include "ops/families.def"

std::span<const FamilyKernels* const> families() {
  static constexpr const FamilyKernels* kAll[] = {
#define ANYDML_FAMILY(name) &name##_family,
#include "ops/families.def"
  };
  return kAll;
}

}  // namespace anydml::cpu
