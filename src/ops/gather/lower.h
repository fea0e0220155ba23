// SPDX-License-Identifier: MIT
// Lowers each operator of the family to steps.
#pragma once

#include <span>
#include <string_view>

#include "ops/op_desc.h"

namespace anydml::gathers {

// The number in a field, or 0 if the operator has no such field.
[[nodiscard]] std::uint32_t integer_of(const OpDesc& desc, std::string_view field);

using LowerGather = void (*)(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);
void lower_gather(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);
// One index per element.
void lower_elements(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);
// The last dimension of the indices contains the coordinates of an item.
void lower_tuples(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);
void lower_one_hot(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);
void lower_nonzero(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

}  // namespace anydml::gathers
