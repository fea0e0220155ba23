// SPDX-License-Identifier: MIT
// Arm's half-precision instructions: functions of them are called where the machine was asked for them alone. Included
// for the NEON target only.
#pragma once

#include <sys/auxv.h>

#define ANYDML_HALVES __attribute__((target("arch=armv8.2-a+fp16")))

namespace anydml {

[[nodiscard]] inline bool machine_has_halves() {
  constexpr unsigned long kHalfPrecision = 1UL << 10;  // HWCAP_ASIMDHP
  return (getauxval(AT_HWCAP) & kHalfPrecision) != 0;
}

}  // namespace anydml
