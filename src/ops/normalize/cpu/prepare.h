// SPDX-License-Identifier: MIT
// Prepares the steps of the family.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/normalize/cpu/kernels.h"

namespace anydml {

// Splits rows of these loops among threads. minimum: the minimum number of elements per piece, about ten microseconds
// of work.
[[nodiscard]] NormalizeCut cut_rows(const AxisLoops& loops, DataType type, std::int64_t threads, std::int64_t minimum);

[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_moments(const Step& flat, const cpu::StepContext& context);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_gradients(const Step& flat, const cpu::StepContext& context);
[[nodiscard]] std::unique_ptr<cpu::PreparedStep> prepare_windows(const Step& flat, const cpu::StepContext& context);

}  // namespace anydml
