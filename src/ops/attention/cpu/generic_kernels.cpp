// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>

#include "ops/attention/cpu/kernels.h"
#include "ops/attention/scalar/scores.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/attention/cpu/kernels-inl.h"

}  // namespace

const ScoreKernels* generic_score_kernels() { return &kScoreKernels; }

}  // namespace anydml
