// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/resample/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/resample/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/resample/cpu/kernels-inl.h"
#include "ops/resample/cpu/sums-inl.h"

}  // namespace

ResampleKernels target_kernels(DataType type) { return find_kernels(type); }
GradientKernels target_gradient() { return find_gradient_kernels(); }
MoveNearest target_move(std::size_t element_bytes) { return find_move(element_bytes); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

ResampleKernels resample_kernels(cpu::Target target, DataType type) {
  return ANYDML_FOR_TARGET(target, generic_resample_kernels(type), target_kernels(type));
}
GradientKernels gradient_kernels(cpu::Target target) {
  return ANYDML_FOR_TARGET(target, generic_gradient_kernels(), target_gradient());
}
MoveNearest move_nearest(cpu::Target target, std::size_t element_bytes) {
  return ANYDML_FOR_TARGET(target, generic_move_nearest(element_bytes), target_move(element_bytes));
}

}  // namespace anydml

#endif
