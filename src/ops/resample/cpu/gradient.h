// SPDX-License-Identifier: MIT
// The gradients of resampling and of average pooling on the CPU.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/resample/step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_gradient(const GradientStep& step,
                                                                  const cpu::StepContext& context);

}  // namespace anydml
