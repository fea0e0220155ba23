// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <limits>

#include "backend/cpu/loops.h"
#include "ops/sort/cpu/kernels.h"
#include "ops/sort/scalar/keys.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/sort/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "ops/sort/cpu/kernels-inl.h"

}  // namespace

SortKernels sort_kernels(DataType type) { return find_kernels(type); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

SortKernels vector_sort_kernels(cpu::Target target, DataType type) {
  return ANYDML_FOR_TARGET(target, generic_sort_kernels(type), sort_kernels(type));
}

}  // namespace anydml

#endif
