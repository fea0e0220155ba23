// SPDX-License-Identifier: MIT
// Packs the recurrence matrix for the kernels.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/recurrent/step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_recurrent_pack(const RecurrentStep& step,
                                                                        const cpu::StepContext& context);

}  // namespace anydml
