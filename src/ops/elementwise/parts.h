// SPDX-License-Identifier: MIT
// Element-wise operators that are cheaper in parts, because some of their values are the same for many elements.
#pragma once

#include "ops/elementwise/recipes.h"
#include "ops/parts.h"

namespace anydml {

[[nodiscard]] bool is_composed(const facts::Operator& op);
[[nodiscard]] Status check_composed_entry(const OpDesc& desc);
// Of a composed operator; no parts for all others.
[[nodiscard]] Result<OpParts> parts_of(const OpDesc& desc, const DeviceTraits& device, const KnownInputs& known);

// How to compute an operator that parts_of made and that only this family knows; null for all others.
[[nodiscard]] Recipe find_internal_recipe(const facts::Operator& op);

}  // namespace anydml
