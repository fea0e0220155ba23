// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "base/float_bits.h"
#include "ops/quantize/cpu/rows.h"
#include "ops/quantize/scalar/codes.h"

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"
#include "ops/quantize/cpu/rows-inl.h"

}  // namespace

QuantizeRun generic_quantize_run() { return run_chunks; }

}  // namespace anydml
