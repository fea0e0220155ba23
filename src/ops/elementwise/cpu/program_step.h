// SPDX-License-Identifier: MIT
// Prepares programs of several instructions for the CPU.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/cpu/tiled_step.h"

namespace anydml {

// Returns null if the program needs a kernel that does not exist or has too many live values for the buffers.
[[nodiscard]] std::unique_ptr<TiledStep> make_program_step(const ElementwiseStep& step, const Step& flat,
                                                           const KernelTable& kernels, const cpu::StepContext& context);

}  // namespace anydml
