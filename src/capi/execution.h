// SPDX-License-Identifier: MIT
// How the C API runs a compiled operator over memory: which inputs need a copy because they overlap the output, and
// which operands because the device does not reach them.
#pragma once

#include <array>
#include <memory>

#include "capi/compiled.h"
#include "ops/elementwise/lower.h"
#include "plan/plan.h"

namespace anydml {

using Addresses = std::array<void*, kMaxOperands + 1>;  // inputs, output, temporary

Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, const OpDesc& desc, const Plan& plan);

// Returns when the output is written.
Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses);

// Gives the work to a stream of the device's own kind and returns, unless an input must be copied first.
Status run_on_stream(const anydml_compiled& compiled, void* stream, const Addresses& addresses);

}  // namespace anydml
