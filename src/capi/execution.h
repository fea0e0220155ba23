// SPDX-License-Identifier: MIT
// How the C API runs what was compiled over memory: which inputs need a copy because they overlap an output, and which
// operands because the device does not reach them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "capi/addresses.h"
#include "capi/compiled.h"
#include "ops/op_desc.h"

namespace anydml {

// An input of an operator that is the same in every run.
struct ConstantInput {
  std::size_t input;
  const void* data;  // the element at index 0
};

// The data of constants is copied into the device's memory, and their addresses are not asked for again. Whatever
// follows from them alone, such as packed weights, is computed here.
Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, OpDesc desc,
                                                 std::span<const ConstantInput> constants = {},
                                                 const CompileOptions& options = {});

// Returns when the outputs are written.
Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses);

// Gives the work to a stream of the device's own kind and returns, unless memory is needed for the time of the run: for
// a copy of an input, or between the steps of the plan.
Status run_on_stream(const anydml_compiled& compiled, void* stream, const Addresses& addresses);

}  // namespace anydml
