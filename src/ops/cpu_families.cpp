// SPDX-License-Identifier: MIT
// The kernels of all families for the CPU, put together for what links the CPU backend.
#include "backend/cpu/family.h"

namespace anydml::cpu {

#define ANYDML_FAMILY(name) extern const Family name##_family;
#include "ops/families.def"

std::span<const Family* const> families() {
  static constexpr const Family* kAll[] = {
#define ANYDML_FAMILY(name) &name##_family,
#include "ops/families.def"
  };
  return kAll;
}

}  // namespace anydml::cpu
