// SPDX-License-Identifier: MIT
// Operators on a few integers, computed directly. Models compute sizes this way, thousands of times per recording of a
// large model, and calls to the C API would dominate the cost.
#pragma once

#include <optional>

#include "onnx/values/dispatch.h"

namespace anydml::onnx {

// Computes an operator with one output, bit for bit as DirectML's does. Returns nothing if it cannot compute the
// operator directly, or if the inputs are not a few integers in memory.
[[nodiscard]] std::optional<Array> computed_from_few(std::string_view op, const Arrays& inputs, const Options& options,
                                                     const Out& out);

}  // namespace anydml::onnx
