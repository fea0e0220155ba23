// SPDX-License-Identifier: MIT
// Decomposes element-wise operators if this is cheaper, because many elements share some intermediate values.
#pragma once

#include "ops/decomposition.h"
#include "ops/elementwise/recipes.h"

namespace anydml {

[[nodiscard]] bool is_composed(const facts::Operator& op);
[[nodiscard]] Status check_composed_entry(const OpDesc& desc);
// The decomposition of a composed operator; empty for all other operators.
[[nodiscard]] Result<Decomposition> decompose(const OpDesc& desc, const DeviceTraits& device, const KnownInputs& known);

// Returns the recipe for an operator that is private to this family and created by decompose; null for all other
// operators.
[[nodiscard]] Recipe find_internal_recipe(const facts::Operator& op);

}  // namespace anydml
