// SPDX-License-Identifier: MIT
// The list of all families. Linking this file links every implemented operator.
#include <algorithm>
#include <iterator>

#include "ops/operators.h"

namespace anydml {

#define ANYDML_FAMILY(name) extern const Family name##_family;
#include "ops/families.def"

const Family* find_family(const facts::Operator& op) {
  static constexpr const Family* kAll[] = {
#define ANYDML_FAMILY(name) &name##_family,
#include "ops/families.def"
  };
  const auto* const found = std::ranges::find_if(kAll, [&op](const Family* family) { return family->has(op); });
  return found == std::end(kAll) ? nullptr : *found;
}

}  // namespace anydml
