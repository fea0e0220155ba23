// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <cstring>

#include "ops/reduce/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/reduce/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"

#if HWY_TARGET == HWY_NEON
#define ANYDML_REDUCE_NEON
#endif
#include "ops/reduce/cpu/kernels-inl.h"
#undef ANYDML_REDUCE_NEON

}  // namespace

const void* vector_kernels(FoldId fold, DataType type) { return find_kernels(fold, type); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const void* vector_reduce_kernels(cpu::Target target, FoldId fold, DataType type) {
  return ANYDML_FOR_TARGET(target, nullptr, vector_kernels(fold, type));
}

}  // namespace anydml

#endif
