// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalize/cpu/gradients.h"
#include "ops/normalize/cpu/moments.h"
#include "ops/normalize/cpu/walk.h"
#include "ops/normalize/scalar/moments.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/normalize/cpu/moments-inl.h"

#include "ops/normalize/cpu/gradients-inl.h"

}  // namespace

MomentRun generic_moment_run(const MomentStep& step, bool across) { return find_moment_run(step, across); }

GradientRun generic_gradient_run(const GradientStep& step) { return find_gradient_run(step); }

}  // namespace anydml
