// SPDX-License-Identifier: MIT
// Einsum by reductions, transpositions and matrix products.
#pragma once

#include "onnx/rows/row.h"

namespace anydml::onnx {

[[nodiscard]] Compute make_einsum(const Node& node);

}  // namespace anydml::onnx
