// SPDX-License-Identifier: MIT
// The kernels for an unknown machine.
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/regions/cpu/kernels.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/regions/cpu/kernels-inl.h"

}  // namespace

RegionKernels generic_region_kernels() { return find_kernels(); }

}  // namespace anydml
