// SPDX-License-Identifier: MIT
// The families, put together: what links this has every operator that is built.
#include <algorithm>

#include "ops/family.h"

namespace anydml {

#define ANYDML_FAMILY(name) extern const Family name##_family;
#include "ops/families.def"

std::span<const Family* const> families() {
  static constexpr const Family* kAll[] = {
#define ANYDML_FAMILY(name) &name##_family,
#include "ops/families.def"
  };
  return kAll;
}

const Family* find_family(const facts::Operator& op) {
  const auto all = families();
  const auto found = std::ranges::find_if(all, [&op](const Family* family) { return family->has(op); });
  return found == all.end() ? nullptr : *found;
}

}  // namespace anydml
