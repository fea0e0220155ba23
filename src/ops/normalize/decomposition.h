// SPDX-License-Identifier: MIT
// The operators of the family that are decomposed: mean and variance, local response and Lp normalization, and the
// training operators.
#pragma once

#include <span>

#include "ops/decomposition.h"
#include "ops/op_desc.h"

namespace anydml {

[[nodiscard]] Status check_composed(const OpDesc& desc);
[[nodiscard]] Result<Decomposition> decompose_composed(const OpDesc& desc, const DeviceTraits& device);

// Adds mean and variance of the first input along these axes as one step, if the device supports it. Returns the value
// that contains the mean; the next value contains the variance. results: FLOAT32, with size 1 along the axes.
[[nodiscard]] bool has_row_moments(const OpDesc& desc, std::uint32_t axes, const DeviceTraits& device);
[[nodiscard]] std::uint32_t add_row_moments(std::uint32_t axes, std::span<const TensorDesc> results,
                                            DecompositionBuilder& list);

// Adds the sums of the gradient, which is the second input. Requires has_row_moments() and that the innermost axis is
// reduced. If no mean is given (kNoValue), the first result is the mean of the first input. The remaining results are
// the sum of the gradient and the sum of the gradient times (input - mean). result: packed FLOAT32.
[[nodiscard]] std::uint32_t add_row_gradients(std::uint32_t axes, std::uint32_t mean, const TensorDesc& result,
                                              DecompositionBuilder& list);

// Whether the operator is internal to the family, as part of a decomposed operator.
[[nodiscard]] bool is_internal(const OpDesc& desc);
void lower_internal(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);

}  // namespace anydml
