// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalize/cpu/gradients.h"
#include "ops/normalize/cpu/moments.h"
#include "ops/normalize/cpu/walk.h"
#include "ops/normalize/scalar/moments.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/normalize/cpu/vector_moments.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/normalize/cpu/moments-inl.h"

#include "ops/normalize/cpu/gradients-inl.h"

}  // namespace

MomentRun moment_run(const MomentStep& step, bool across) { return find_moment_run(step, across); }
GradientRun gradient_run(const GradientStep& step) { return find_gradient_run(step); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

MomentRun vector_moment_run(cpu::Target target, const MomentStep& step, bool across) {
  return ANYDML_FOR_TARGET(target, nullptr, moment_run(step, across));
}

GradientRun vector_gradient_run(cpu::Target target, const GradientStep& step) {
  return ANYDML_FOR_TARGET(target, nullptr, gradient_run(step));
}

}  // namespace anydml

#endif
