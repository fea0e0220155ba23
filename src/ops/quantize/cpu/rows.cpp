// SPDX-License-Identifier: MIT
#include "ops/quantize/cpu/rows.h"

#include <algorithm>
#include <cstring>

#include "base/float_bits.h"
#include "ops/quantize/scalar/codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/quantize/cpu/rows.cpp"
#include "backend/cpu/each_target.h"
#include "backend/cpu/loops.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
#include "backend/cpu/halves-inl.h"
#include "ops/quantize/cpu/rows-inl.h"

}  // namespace

QuantizeRun quantize_run() { return run_chunks; }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

QuantizeRun find_quantize_run(cpu::Target target) {
  return ANYDML_FOR_TARGET(target, generic_quantize_run(), quantize_run());
}

}  // namespace anydml

#endif
