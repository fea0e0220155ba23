// SPDX-License-Identifier: MIT
// Runs a compiled object for the C API. Inputs that overlap an output, and operands that the device cannot reach, are
// copied.
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

// Copies the data of constants into the device's memory; runs do not need their addresses again. Values that depend
// only on constants, such as packed weights, are computed here.
Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, OpDesc desc,
                                                 std::span<const ConstantInput> constants = {},
                                                 const CompileOptions& options = {});

// Returns when the outputs are written.
Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses);

// Enqueues the work on a stream of the device's own API and returns, unless the run needs temporary memory: for a copy
// of an input, or between the steps of the plan.
Status run_on_stream(const anydml_compiled& compiled, BackendStream* stream, const Addresses& addresses);

}  // namespace anydml
