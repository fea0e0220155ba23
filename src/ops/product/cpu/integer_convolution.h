// SPDX-License-Identifier: MIT
// Functions that prepare integer convolutions on the CPU.
#pragma once

#include "backend/cpu/family.h"
#include "ops/product/integer_step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_integer_convolution(const Step& flat,
                                                                             const cpu::StepContext& context,
                                                                             cpu::Neighbor after);
// Prepares the convolution with an unpacked filter (integer_definition.cpp).
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_integer_definition(const IntegerConvolutionStep& step,
                                                                            cpu::Neighbor after);

}  // namespace anydml
