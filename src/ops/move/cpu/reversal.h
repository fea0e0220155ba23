// SPDX-License-Identifier: MIT
// Reversals on the CPU.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/move/step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_reversal(const ReversalStep& step, const cpu::Machine& machine);

}  // namespace anydml
