// SPDX-License-Identifier: MIT
// The parameters of a step that generates random numbers. Its operands are the state, the output, and the next state,
// which may be absent.
#pragma once

#include "ops/random/scalar/philox.h"
#include "plan/loop_nest.h"

namespace anydml {

struct RandomStep {
  LoopNest nest;      // loops over the output's index, as a tensor of bytes, and over the output
  std::int64_t from;  // strides of the states, in bytes
  std::int64_t to;
};

}  // namespace anydml
