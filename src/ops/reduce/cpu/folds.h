// SPDX-License-Identifier: MIT
// Functions that prepare reduction steps. Each kind of fold is implemented in its own file.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/reduce/step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_sum(const ReduceStep& step, const cpu::StepContext& context,
                                                             cpu::Neighbors neighbors);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_product(const ReduceStep& step,
                                                                 const cpu::StepContext& context,
                                                                 cpu::Neighbors neighbors);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_extreme(const ReduceStep& step,
                                                                 const cpu::StepContext& context,
                                                                 cpu::Neighbors neighbors);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_arg_extreme(const ReduceStep& step,
                                                                     const cpu::StepContext& context,
                                                                     cpu::Neighbors neighbors);

}  // namespace anydml
