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

// Sums of the gradient, which is the second input, where the device has_row_moments and the innermost axis is among
// them. Without a mean (kNoValue) it is that of the first input, and the first result. The others are the sum of the
// gradient and that of its products with the input less the mean. result: FLOAT32 and packed.
[[nodiscard]] std::uint32_t add_row_gradients(std::uint32_t axes, std::uint32_t mean, const TensorDesc& result,
                                              PartList& list);

// An operator that only the family knows, and that a composed one consists of.
[[nodiscard]] bool is_internal(const OpDesc& desc);
void lower_internal(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

}  // namespace anydml
