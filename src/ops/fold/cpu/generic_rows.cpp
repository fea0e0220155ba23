// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/loops.h"
#include "base/float_bits.h"
#include "ops/fold/cpu/rows.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/fold/cpu/rows-inl.h"

}  // namespace

FoldRun generic_fold_run(DataType type) { return find_run(type); }

}  // namespace anydml
