// SPDX-License-Identifier: MIT
// Operators that are by element, and cheaper in parts: some of what they compute is the same for many elements.
#pragma once

#include "ops/elementwise/recipes.h"
#include "ops/parts.h"

namespace anydml {

[[nodiscard]] bool is_composed(const facts::Operator& op);
[[nodiscard]] Status check_composed_entry(const OpDesc& desc);
// Of one that is composed; none for all others.
[[nodiscard]] Result<OpParts> parts_of(const OpDesc& desc, const DeviceTraits& device, const KnownInputs& known);

// How an operator that only this family knows, and that parts_of made, is computed; null for all others.
[[nodiscard]] Recipe find_internal_recipe(const facts::Operator& op);

}  // namespace anydml
