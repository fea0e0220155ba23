// SPDX-License-Identifier: MIT
// Runs a compiled object for the C API. A run copies inputs that overlap an output, and operands that the device cannot
// access.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "capi/addresses.h"
#include "capi/compiled.h"
#include "ops/op_desc.h"

namespace anydml {

// An operator's input that is the same in every run.
struct ConstantInput {
  std::size_t input;
  const void* data;  // points to the element at index 0
};

// Copies the constants' data to the device's memory, so that runs do not need their addresses. Also computes values
// that depend only on constants, such as packed weights.
Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, OpDesc desc,
                                                 std::span<const ConstantInput> constants = {},
                                                 const CompileOptions& options = {});

// Returns after the outputs are written.
Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses);

// Enqueues the work on a stream from the device's own API and returns without waiting, unless the run needs temporary
// memory, either to copy an input or to pass values between the steps of the plan.
Status run_on_stream(const anydml_compiled& compiled, BackendStream* stream, const Addresses& addresses);

}  // namespace anydml
