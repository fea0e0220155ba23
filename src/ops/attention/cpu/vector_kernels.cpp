// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/attention/cpu/kernels.h"
#include "ops/attention/scalar/scores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/attention/cpu/kernels-inl.h"

}  // namespace

const ScoreKernels* score_kernels() { return &kScoreKernels; }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const ScoreKernels* vector_score_kernels(cpu::Target target) {
  return ANYDML_FOR_TARGET(target, nullptr, score_kernels());
}

}  // namespace anydml

#endif
