// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backend/cpu/loops.h"
#include "ops/scan/cpu/kernels.h"
#include "ops/scan/scalar/scan.h"

namespace anydml {
namespace {

#define ANYDML_SCAN_VECTORS 0
#include "backend/cpu/halves-inl.h"
#include "ops/scan/cpu/kernels-inl.h"

}  // namespace

ScanKernels generic_scan_kernels(const ScanStep& step) { return find_kernels(step); }

}  // namespace anydml
