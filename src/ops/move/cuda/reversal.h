// SPDX-License-Identifier: MIT
// Prepares reversals for a GPU.
#pragma once

#include <memory>

#include "backend/cuda/family.h"
#include "ops/move/step.h"

namespace anydml::cuda {

[[nodiscard]] std::unique_ptr<PreparedStep> prepare_reversal(const ReversalStep& step);

}  // namespace anydml::cuda
