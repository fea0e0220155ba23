// SPDX-License-Identifier: MIT
// Programs of several instructions on the CPU.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/cpu/tiled_step.h"

namespace anydml {

// Null: the program needs a kernel that does not exist, or more live values than there are buffers for.
[[nodiscard]] std::unique_ptr<TiledStep> make_program_step(const ElementwiseStep& step, const Step& flat,
                                                           const KernelTable& kernels, const cpu::StepContext& context);

}  // namespace anydml
