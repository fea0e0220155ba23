// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalise/cpu/kernels.h"
#include "ops/normalise/cpu/walk.h"
#include "ops/normalise/scalar/softmax.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/normalise/cpu/kernels-inl.h"

}  // namespace

NormaliseRun generic_normalise_run(const NormaliseStep& step, bool across) { return find_run(step, across); }

}  // namespace anydml
