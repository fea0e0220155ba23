// SPDX-License-Identifier: MIT
// The addition used for row sums, which are FLOAT32 and follow the order in fold_order.h.
#pragma once

#include "ops/scalar/fold_order.h"

namespace anydml {

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 added(f32 a, f32 b) { return a + b; }

}  // namespace anydml
