// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/resample/cpu/kernels.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/resample/cpu/kernels-inl.h"
#include "ops/resample/cpu/sums-inl.h"

}  // namespace

ResampleKernels generic_resample_kernels(DataType type) { return find_kernels(type); }
GradientKernels generic_gradient_kernels() { return find_gradient_kernels(); }
MoveNearest generic_move_nearest(std::size_t element_bytes) { return find_move(element_bytes); }

}  // namespace anydml
