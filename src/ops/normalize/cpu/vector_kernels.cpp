// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalize/cpu/kernels.h"
#include "ops/normalize/cpu/walk.h"
#include "ops/normalize/scalar/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/normalize/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/normalize/cpu/kernels-inl.h"

}  // namespace

NormalizeRun normalize_run(const NormalizeStep& step, bool across) { return find_run(step, across); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

NormalizeRun vector_normalize_run(cpu::Target target, const NormalizeStep& step, bool across) {
  return ANYDML_FOR_TARGET(target, nullptr, normalize_run(step, across));
}

}  // namespace anydml

#endif
