// SPDX-License-Identifier: MIT
// The kernels for the mean and variance of rows, compiled once for each target.
#pragma once

#include "ops/normalize/cpu/kernels.h"

namespace anydml {

struct MomentTensors {
  const std::byte* input;
  const std::byte* scale;  // null if absent
  const std::byte* bias;
  std::byte* output;
  std::byte* mean;  // for a step that outputs only the moments
  std::byte* variance;
};

// Runs units [first, end). scratch: three stages, followed by space for the elements of a unit or by a fourth stage,
// each with padding.
using MomentRun = void (*)(const MomentStep& step, const NormalizeCut& cut, std::int64_t first, std::int64_t end,
                           const MomentTensors& tensors, f32* scratch) noexcept;

[[nodiscard]] MomentRun generic_moment_run(const MomentStep& step, bool across);
// Null if this target was not compiled.
[[nodiscard]] MomentRun vector_moment_run(cpu::Target target, const MomentStep& step, bool across);

}  // namespace anydml
