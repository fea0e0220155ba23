// SPDX-License-Identifier: MIT
// The operators that multiply integer matrices, as the family of products sees them.
#pragma once

#include <span>

#include "ops/op_desc.h"
#include "ops/parts.h"
#include "ops/product/step.h"

namespace anydml {

[[nodiscard]] bool is_integer_product(const facts::Operator& op);  // those of DirectML, and the internal ones
[[nodiscard]] TypeSet integer_product_types(const facts::Operator& op, std::size_t position);
[[nodiscard]] Result<OpParts> integer_product_parts(const OpDesc& desc, const DeviceTraits& device,
                                                    const KnownInputs& known);
[[nodiscard]] Joins integer_product_joins(const OpDesc& desc);
void lower_integer_product(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

}  // namespace anydml
