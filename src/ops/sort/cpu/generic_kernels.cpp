// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <limits>

#include "backend/cpu/loops.h"
#include "ops/sort/cpu/kernels.h"
#include "ops/sort/scalar/keys.h"

namespace anydml {
namespace {

#include "ops/sort/cpu/kernels-inl.h"

}  // namespace

SortKernels generic_sort_kernels(DataType type) { return find_kernels(type); }

}  // namespace anydml
