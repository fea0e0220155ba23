// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/product/cpu/kernels.h"

namespace anydml {

// Prepares the step that packs the filter of a convolution.
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_filter(const Step& flat, const ProductKernels* kernels);
// Prepares the convolution. `kernels` is null to use the scalar definition. Returns null if the filter was packed for a
// different target, or if the step would pass on elements that are not consecutive.
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_convolution(const Step& flat, const ProductKernels* kernels,
                                                                     const cpu::StepContext& context,
                                                                     cpu::Neighbor after);

}  // namespace anydml
