// SPDX-License-Identifier: MIT
// Mean and variance of rows, compiled once for each target.
#pragma once

#include "ops/normalise/cpu/kernels.h"

namespace anydml {

struct MomentTensors {
  const std::byte* input;
  const std::byte* scale;  // null: absent
  const std::byte* bias;
  std::byte* output;
  std::byte* mean;  // of a step that gives the moments alone
  std::byte* variance;
};

// The units [first, end). scratch: three stages with padding each, and then room for the elements of a unit, or another
// stage.
using MomentRun = void (*)(const MomentStep& step, const NormaliseCut& cut, std::int64_t first, std::int64_t end,
                           const MomentTensors& tensors, f32* scratch) noexcept;

[[nodiscard]] MomentRun generic_moment_run(const MomentStep& step, bool across);
// Null: no such target was compiled.
[[nodiscard]] MomentRun vector_moment_run(cpu::Target target, const MomentStep& step, bool across);

}  // namespace anydml
