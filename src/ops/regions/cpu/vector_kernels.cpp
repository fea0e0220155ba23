// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/regions/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/regions/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/regions/cpu/kernels-inl.h"

}  // namespace

RegionKernels target_kernels() { return find_kernels(); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

RegionKernels region_kernels(cpu::Target target) {
  return ANYDML_FOR_TARGET(target, generic_region_kernels(), target_kernels());
}

}  // namespace anydml

#endif
