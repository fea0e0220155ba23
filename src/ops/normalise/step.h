// SPDX-License-Identifier: MIT
// The parameters of a step that normalises rows: one step for an operator, from the input to the output.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "plan/axis_loops.h"

namespace anydml {

enum class NormaliseFunction : std::uint32_t { softmax, log_softmax, hardmax };

struct NormaliseStep {
  NormaliseFunction function;
  DataType type;    // of the input and of the output
  AxisLoops loops;  // rows lie along the reduced loops; the kept ones number them
};

}  // namespace anydml
