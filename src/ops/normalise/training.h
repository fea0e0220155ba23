// SPDX-License-Identifier: MIT
// Batch normalization for training, and its gradients.
#pragma once

#include "ops/op_desc.h"
#include "ops/parts.h"

namespace anydml {

[[nodiscard]] bool is_batch_training(const facts::Operator& op);
[[nodiscard]] Status check_batch_training(const OpDesc& desc);
[[nodiscard]] Result<OpParts> parts_of_batch_training(const OpDesc& desc, const DeviceTraits& device);

}  // namespace anydml
