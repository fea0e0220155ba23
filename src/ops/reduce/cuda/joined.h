// SPDX-License-Identifier: MIT
// Writes the source code of kernels that combine a reduction with its joined steps.
#pragma once

#include <span>

#include "backend/cuda/family.h"
#include "backend/cuda/runtime.h"
#include "ops/reduce/cuda/kernel_set.h"
#include "ops/reduce/step.h"

namespace anydml::cuda {

// parameter_bytes: the size of the kernels' parameter.
[[nodiscard]] KernelSource write_joined(const ReduceStep& step, const Neighbors& neighbors, std::size_t parameter_bytes,
                                        std::span<const ReduceKernel> kernels);

}  // namespace anydml::cuda
