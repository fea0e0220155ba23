// SPDX-License-Identifier: MIT
// Functions that prepare integer products on the CPU.
#pragma once

#include "backend/cpu/family.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_integer_product(const Step& flat,
                                                                         const cpu::StepContext& context,
                                                                         cpu::Neighbors neighbors);

}  // namespace anydml
