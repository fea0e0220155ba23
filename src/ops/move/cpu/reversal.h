// SPDX-License-Identifier: MIT
// Prepares reversals for the CPU.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/move/step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_reversal(const ReversalStep& step,
                                                                  const cpu::StepContext& context);

}  // namespace anydml
