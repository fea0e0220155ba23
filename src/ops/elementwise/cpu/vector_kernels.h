// SPDX-License-Identifier: MIT
// The kernels written in vectors, by target: a CPU's set of instructions.
#pragma once

#include <span>
#include <string_view>

#include "ops/elementwise/cpu/kernels.h"

namespace anydml {

struct KernelTarget {
  const char* name;               // what ANYDML_CPU_TARGET calls it
  void (*replace)(KernelTable&);  // puts its kernels over those of a generic table
};

// Those this machine can run, the best first; the generic kernels, which are none of them, always can.
[[nodiscard]] std::span<const KernelTarget> vector_targets();

}  // namespace anydml
