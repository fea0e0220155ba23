// SPDX-License-Identifier: MIT
// Compiles a dispatchable from a model for a device. Throws on failure.
#pragma once

#include "client.h"
#include "model.h"

namespace anydml::dmlrun {

// The dispatchable must have been read successfully, so that it has nodes.
[[nodiscard]] client::ComPtr<IDMLCompiledOperator> compile(const Dispatchable& dispatchable, client::Device& device);

}  // namespace anydml::dmlrun
