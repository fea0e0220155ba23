// SPDX-License-Identifier: MIT
// The kernels that compute the sums for the gradient of batch normalization, compiled once for each target.
#pragma once

#include "ops/normalize/cpu/kernels.h"

namespace anydml {

struct GradientTensors {
  const std::byte* input;
  const std::byte* gradient;
  std::byte* mean;  // input or output, depending on the step
  std::byte* gradients;
  std::byte* products;
};

// Processes rows [first, end). of_gradient: step.loops with the gradient as the input. scratch: three stages with
// padding.
using GradientRun = void (*)(const GradientStep& step, const AxisLoops& of_gradient, std::int64_t first,
                             std::int64_t end, const GradientTensors& tensors, f32* scratch) noexcept;

[[nodiscard]] GradientRun generic_gradient_run(const GradientStep& step);
// Null if this target was not compiled.
[[nodiscard]] GradientRun vector_gradient_run(cpu::Target target, const GradientStep& step);

}  // namespace anydml
