// SPDX-License-Identifier: MIT
// The kernels written in vectors, by target: a CPU's set of instructions.
#pragma once

#include <span>

#include "backend/cpu/target.h"
#include "ops/elementwise/cpu/kernels.h"

namespace anydml {

struct KernelTarget {
  cpu::Target target;
  void (*replace)(KernelTable&);  // replaces kernels of a generic table
};

// The targets that are compiled here, whether or not this machine runs them.
[[nodiscard]] std::span<const KernelTarget> vector_targets();

}  // namespace anydml
