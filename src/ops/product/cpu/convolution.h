// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/product/cpu/kernels.h"

namespace anydml {

// The step that packs the filter of a convolution.
[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_filter(const Step& flat, const ProductKernels* kernels);
// The convolution. kernels: null where the definition computes. Null: the step is for another target, or hands
// on elements that do not follow one another.
[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_convolution(const Step& flat, const ProductKernels* kernels,
                                                                 const cpu::Machine& machine, cpu::Neighbour after);

}  // namespace anydml
