// SPDX-License-Identifier: MIT
// Recurrent networks.
#pragma once

#include <vector>

#include "onnx/rows/row.h"

namespace anydml::onnx {

// DynamicQuantizeLSTM of com.microsoft, with integers.
[[nodiscard]] Compute make_quantized_lstm(const NodeMessage& message, const std::vector<Kind>& kinds,
                                          std::vector<Kind>& results);

}  // namespace anydml::onnx
