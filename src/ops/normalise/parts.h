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

// Mean and variance of the first input along these axes as one step, where the device has it: the number of the mean,
// which the variance follows. results: of FLOAT32, with the size 1 along the axes.
[[nodiscard]] bool has_row_moments(const OpDesc& desc, std::uint32_t axes, const DeviceTraits& device);
[[nodiscard]] std::uint32_t add_row_moments(std::uint32_t axes, std::span<const TensorDesc> results, PartList& list);

// An operator that only the family knows, and that a composed one consists of.
[[nodiscard]] bool is_internal(const OpDesc& desc);
void lower_internal(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

}  // namespace anydml
