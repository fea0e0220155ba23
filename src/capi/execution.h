// SPDX-License-Identifier: MIT
// How the C API runs what was compiled over memory: which inputs need a copy because they overlap an output, and which
// operands because the device does not reach them.
#pragma once

#include <memory>

#include "capi/addresses.h"
#include "capi/compiled.h"
#include "ops/op_desc.h"

namespace anydml {

Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, OpDesc desc);

// Copies the data of an operator's input into the device's memory. From then on its address is not asked for.
Status keep_constant(anydml_compiled& compiled, std::size_t input, const void* data);

// Returns when the outputs are written.
Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses);

// Gives the work to a stream of the device's own kind and returns, unless memory is needed for the time of the run: for
// a copy of an input, or between the steps of the plan.
Status run_on_stream(const anydml_compiled& compiled, void* stream, const Addresses& addresses);

}  // namespace anydml
