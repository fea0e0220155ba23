// SPDX-License-Identifier: MIT
// Functions that rows in several files use.
#pragma once

#include "onnx/values/array.h"

namespace anydml::onnx {

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), each operation in FLOAT32 (functions.cpp).
[[nodiscard]] Array gelu_by_tanh(const Array& x);

}  // namespace anydml::onnx
