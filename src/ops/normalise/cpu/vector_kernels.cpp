// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalise/cpu/kernels.h"
#include "ops/normalise/cpu/walk.h"
#include "ops/normalise/scalar/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/normalise/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/normalise/cpu/kernels-inl.h"

}  // namespace

NormaliseRun normalise_run(const NormaliseStep& step, bool across) { return find_run(step, across); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

NormaliseRun vector_normalise_run(cpu::Target target, const NormaliseStep& step, bool across) {
  return ANYDML_FOR_TARGET(target, nullptr, normalise_run(step, across));
}

}  // namespace anydml

#endif
