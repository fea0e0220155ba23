// SPDX-License-Identifier: MIT
// The operators of the family that other operators make up: mean and variance, local response and Lp normalisation, and
// those of training.
#pragma once

#include <span>

#include "ops/op_desc.h"
#include "ops/parts.h"

namespace anydml {

[[nodiscard]] Status check_composed(const OpDesc& desc);
[[nodiscard]] Result<OpParts> parts_of_composed(const OpDesc& desc, const DeviceTraits& device);

// An operator that only the family knows, and that a composed one consists of.
[[nodiscard]] bool is_internal(const OpDesc& desc);
void lower_internal(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

}  // namespace anydml
