// SPDX-License-Identifier: MIT
// Reductions whose neighbours are one kernel with them, as source.
#pragma once

#include <span>

#include "backend/cuda/family.h"
#include "backend/cuda/runtime.h"
#include "ops/reduce/cuda/kernel_set.h"
#include "ops/reduce/step.h"

namespace anydml::cuda {

// parameter_bytes: the size of the kernels' parameter.
[[nodiscard]] KernelSource write_joined(const ReduceStep& step, const Neighbours& neighbours,
                                        std::size_t parameter_bytes, std::span<const ReduceKernel> kernels);

}  // namespace anydml::cuda
