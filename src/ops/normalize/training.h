// SPDX-License-Identifier: MIT
// Batch normalization for training, and its gradients.
#pragma once

#include "ops/decomposition.h"
#include "ops/op_desc.h"

namespace anydml {

[[nodiscard]] bool is_batch_training(const facts::Operator& op);
[[nodiscard]] Status check_batch_training(const OpDesc& desc);
[[nodiscard]] Result<Decomposition> decompose_batch_training(const OpDesc& desc, const DeviceTraits& device);

}  // namespace anydml
