// SPDX-License-Identifier: MIT
// Operators over a few integers, computed directly. Models compute sizes this way, thousands of times in each recording
// of a large model, and a call of the C API would cost more than everything else.
#pragma once

#include <optional>

#include "onnx/values/dispatch.h"

namespace anydml::onnx {

// The result of an operator with one output, with the bits that DirectML's operator returns; nothing if this file does
// not know the operator, or if the inputs are not a few integers in memory.
[[nodiscard]] std::optional<Array> computed_from_few(std::string_view op, const Arrays& inputs, const Options& options,
                                                     const Out& out);

}  // namespace anydml::onnx
