// SPDX-License-Identifier: MIT
// From a validated element-wise operator to a plan: one step, and before it the copies of inputs that must be staged.
#pragma once

#include "ops/op_desc.h"
#include "plan/plan.h"

namespace anydml {

[[nodiscard]] Plan make_plan(const OpDesc& desc, StagedInputs staged = 0);

// Which inputs share memory with the output in a way that is not exactly in place. Addresses: the inputs, the output.
[[nodiscard]] inline StagedInputs inputs_to_stage(const OpDesc& desc, const std::uintptr_t* addresses) {
  return inputs_to_stage(std::span(desc.tensors, desc.input_count + 1), desc.reaches, addresses);
}

}  // namespace anydml
