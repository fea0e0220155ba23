// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/pool/cpu/kernels.h"
#include "ops/pool/scalar/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/pool/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/pool/cpu/accumulators-inl.h"
#include "ops/pool/cpu/direct-inl.h"
#include "ops/pool/cpu/rows-inl.h"

}  // namespace

PoolRun pool_run(const PoolStep& step) { return find_run(step); }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

PoolRun vector_pool_run(cpu::Target target, const PoolStep& step) {
  return ANYDML_FOR_TARGET(target, nullptr, pool_run(step));
}

}  // namespace anydml

#endif
