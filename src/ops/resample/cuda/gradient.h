// SPDX-License-Identifier: MIT
// The gradients of resampling and of average pooling on a GPU.
#pragma once

#include <memory>

#include "backend/cuda/family.h"
#include "ops/resample/step.h"

namespace anydml::cuda {

// Null, and why not, as Family::prepare.
[[nodiscard]] std::unique_ptr<PreparedStep> prepare_gradient(const GradientStep& step, const char** why);

}  // namespace anydml::cuda
