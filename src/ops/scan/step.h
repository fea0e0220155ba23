// SPDX-License-Identifier: MIT
// The parameters of a step that scans rows. Each operator is one step. A scan in the direction of decreasing indices
// has negated strides, so kernels need only one direction.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "plan/axis_loops.h"

namespace anydml {

enum class ScanFunction : std::uint32_t { sum, product };

struct ScanStep {
  ScanFunction function;
  DataType type;  // type of the input and the output
  std::uint32_t is_exclusive;
  std::uint32_t unused;
  AxisLoops loops;  // rows extend along the one reduced loop; the kept loops enumerate the rows

  [[nodiscard]] const AxisLoop& along() const { return loops.reduced[0]; }
};

}  // namespace anydml
