// SPDX-License-Identifier: MIT
// Integer products on the CPU, as the family of products sees them.
#pragma once

#include "backend/cpu/family.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_integer_product(const Step& flat, const cpu::Machine& machine,
                                                                     cpu::Neighbours neighbours);

}  // namespace anydml
