// SPDX-License-Identifier: MIT
// The kernels once for each target that Highway compiles this file for.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalise/cpu/moments.h"
#include "ops/normalise/cpu/walk.h"
#include "ops/normalise/scalar/moments.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/normalise/cpu/vector_moments.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/normalise/cpu/moments-inl.h"

}  // namespace

MomentRun moment_run(const MomentStep& step, bool across) { return find_moment_run(step, across); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

MomentRun vector_moment_run(cpu::Target target, const MomentStep& step, bool across) {
  return ANYDML_FOR_TARGET(target, nullptr, moment_run(step, across));
}

}  // namespace anydml

#endif
