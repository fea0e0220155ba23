// SPDX-License-Identifier: MIT
// Prepares the core of attention for the CPU.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/attention/step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_attend(const AttentionStep& step,
                                                                const cpu::StepContext& context);

}  // namespace anydml
