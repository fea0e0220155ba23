// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/loops.h"
#include "ops/scan/cpu/kernels.h"
#include "ops/scan/scalar/scan.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/scan/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#define ANYDML_SCAN_VECTORS 1
#include "backend/cpu/halves-inl.h"
#include "ops/scan/cpu/kernels-inl.h"
#undef ANYDML_SCAN_VECTORS

}  // namespace

ScanKernels scan_kernels(const ScanStep& step) { return find_kernels(step); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

ScanKernels find_scan_kernels(const ScanStep& step, cpu::Target target) {
  return ANYDML_FOR_TARGET(target, generic_scan_kernels(step), scan_kernels(step));
}

}  // namespace anydml

#endif
