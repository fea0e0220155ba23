// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <cstring>

#include "ops/reduce/cpu/kernels.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/reduce/cpu/kernels-inl.h"

}  // namespace

const void* generic_reduce_kernels(FoldId fold, DataType type) { return find_kernels(fold, type); }

}  // namespace anydml
