// SPDX-License-Identifier: MIT
// The vector kernels for each target. A target is a CPU instruction set.
#pragma once

#include <span>

#include "backend/cpu/target.h"
#include "ops/elementwise/cpu/kernels.h"

namespace anydml {

struct KernelTarget {
  cpu::Target target;
  void (*replace)(KernelTable&);  // replaces kernels of a generic table
};

// The targets that this build contains, whether or not the current CPU supports them.
[[nodiscard]] std::span<const KernelTarget> vector_targets();

}  // namespace anydml
