// SPDX-License-Identifier: MIT
#include "support/hidden_operator.h"

#include "ops/operators.h"

namespace anydml {

extern const Family elementwise_family;

// Replaces the library's function.
const Family* find_family(const facts::Operator& op) {
  return op.name != test::kHiddenOperator && elementwise_family.has(op) ? &elementwise_family : nullptr;
}

}  // namespace anydml
