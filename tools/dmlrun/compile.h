// SPDX-License-Identifier: MIT
// Compiles a dispatchable of a model for a device. Failures are thrown.
#pragma once

#include "client.h"
#include "model.h"

namespace anydml::dmlrun {

// The dispatchable must have been read, so that it has nodes.
[[nodiscard]] client::ComPtr<IDMLCompiledOperator> compile(const Dispatchable& dispatchable, client::Device& device);

}  // namespace anydml::dmlrun
