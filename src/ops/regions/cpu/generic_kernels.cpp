// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
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
