// SPDX-License-Identifier: MIT
// From a dispatchable of a model to what a device runs. Failures are thrown.
#pragma once

#include "client.h"
#include "model.h"

namespace anydml::dmlrun {

// It was read: it has nodes.
[[nodiscard]] client::ComPtr<IDMLCompiledOperator> compile(const Dispatchable& dispatchable, client::Device& device);

}  // namespace anydml::dmlrun
