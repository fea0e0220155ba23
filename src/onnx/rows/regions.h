// SPDX-License-Identifier: MIT
// Regions of interest; image_rows() contains their rows.
#pragma once

#include "onnx/rows/row.h"

namespace anydml::onnx {

[[nodiscard]] Compute make_max_roi_pool(const Node& node);
[[nodiscard]] Compute make_roi_align(const Node& node);

}  // namespace anydml::onnx
