// SPDX-License-Identifier: MIT
// Arm's half-precision instructions. Functions that use them are called only on CPUs that have them. This header is
// only included for the NEON target.
#pragma once

#include <sys/auxv.h>

// clang before 16 declares these intrinsics only if the whole file is compiled for them. FLOAT16 is then computed in
// FLOAT32, with identical results.
#if defined(__clang__) && __clang_major__ < 16
#define ANYDML_HALF_INSTRUCTIONS 0
#else
#define ANYDML_HALF_INSTRUCTIONS 1
#define ANYDML_HALVES __attribute__((target("arch=armv8.2-a+fp16")))
#endif

namespace anydml {

[[nodiscard]] inline bool machine_has_halves() {
  constexpr unsigned long kHalfPrecision = 1UL << 10;  // HWCAP_ASIMDHP
  return (getauxval(AT_HWCAP) & kHalfPrecision) != 0;
}

}  // namespace anydml
