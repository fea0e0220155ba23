// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/pool/cpu/kernels.h"
#include "ops/pool/scalar/pool.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/pool/cpu/accumulators-inl.h"
#include "ops/pool/cpu/rows-inl.h"

}  // namespace

PoolRun generic_pool_run(const PoolStep& step) { return find_run(step); }

}  // namespace anydml
