// SPDX-License-Identifier: MIT
// Convolutions of integers on the CPU, as the family of products sees them.
#pragma once

#include "backend/cpu/family.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_integer_convolution(const Step& flat, const cpu::Machine& machine,
                                                                         cpu::Neighbour after);

}  // namespace anydml
