// SPDX-License-Identifier: MIT
// Convolutions of integers on the CPU, as the family of products sees them.
#pragma once

#include "backend/cpu/family.h"
#include "ops/product/integer_step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_integer_convolution(const Step& flat, const cpu::Machine& machine,
                                                                         cpu::Neighbour after);
// The convolution if its filter is not packed (integer_definition.cpp).
[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_integer_definition(const IntegerConvolutionStep& step,
                                                                        cpu::Neighbour after);

}  // namespace anydml
