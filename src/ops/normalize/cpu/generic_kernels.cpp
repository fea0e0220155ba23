// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalize/cpu/kernels.h"
#include "ops/normalize/cpu/walk.h"
#include "ops/normalize/scalar/softmax.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/normalize/cpu/kernels-inl.h"

}  // namespace

NormalizeRun generic_normalize_run(const NormalizeStep& step, bool across) { return find_run(step, across); }

}  // namespace anydml
