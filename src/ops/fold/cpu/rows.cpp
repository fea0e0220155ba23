// SPDX-License-Identifier: MIT
#include "ops/fold/cpu/rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/float_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/fold/cpu/rows.cpp"
#include "backend/cpu/each_target.h"
#include "backend/cpu/loops.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/fold/cpu/rows-inl.h"

}  // namespace

FoldRun fold_run(DataType type) { return find_run(type); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

FoldRun find_fold_run(DataType type, cpu::Target target) {
  return ANYDML_FOR_TARGET(target, generic_fold_run(type), fold_run(type));
}

}  // namespace anydml

#endif
