// SPDX-License-Identifier: MIT
// Functions that prepare integer products on the CPU.
#pragma once

#include "backend/cpu/family.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_integer_product(const Step& flat, const cpu::Machine& machine,
                                                                     cpu::Neighbours neighbours);

}  // namespace anydml
