// SPDX-License-Identifier: MIT
// The gradients of resampling and of average pooling on a GPU.
#pragma once

#include <memory>

#include "backend/cuda/family.h"
#include "ops/resample/step.h"

namespace anydml::cuda {

// Returns null and sets the reason on failure, like Family::prepare.
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_gradient(const GradientStep& step, const char** why);

}  // namespace anydml::cuda
