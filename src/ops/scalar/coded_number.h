// SPDX-License-Identifier: MIT
// The number that a code stands for: in DEQUANTIZE, and in products whose weights stay in codes.
#pragma once

#include "base/scalar.h"

namespace anydml {

// Computes (code - zero) * scale. The difference is exact, and the product is rounded to FLOAT32.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 number_of_code(i32 code, i32 zero, f32 scale) {
  return static_cast<f32>(code - zero) * scale;
}

}  // namespace anydml
