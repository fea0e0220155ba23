// SPDX-License-Identifier: MIT
// MatMulNBits, a row of the table in contrib_quantized.cpp.
#pragma once

#include <vector>

#include "onnx/rows/row.h"

namespace anydml::onnx {

[[nodiscard]] Compute make_coded_product(const NodeMessage& node, const std::vector<Kind>& kinds,
                                         Activations activations, std::vector<Kind>& results);

}  // namespace anydml::onnx
