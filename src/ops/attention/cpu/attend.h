// SPDX-License-Identifier: MIT
// The core of attention on the CPU, made ready.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/attention/step.h"

namespace anydml {

[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_attend(const AttentionStep& step, const cpu::Machine& machine);

}  // namespace anydml
