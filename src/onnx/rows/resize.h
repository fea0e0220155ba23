// SPDX-License-Identifier: MIT
// What Resize knows about an axis, and its mode 'cubic'.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "onnx/values/array.h"

namespace anydml::onnx {

// An axis that is resized. The region, which only tf_crop_and_resize uses, is a part of [0, 1].
struct ResizedAxis {
  int axis = 0;
  std::int64_t size = 0;  // of the result
  double scale = 1;
  double start = 0, end = 1;
};

struct CubicOptions {
  std::string transformation;  // coordinate_transformation_mode
  double coefficient = -0.75;
  bool is_antialiased = false;
  bool excludes_outside = false;
  double extrapolation_value = 0;
};

// Resizes with mode 'cubic', which DirectML does not support. It is computed as a matrix product along each axis. The
// tensor and the result must have elements.
[[nodiscard]] Array resize_cubic(Array x, const CubicOptions& options, const std::vector<ResizedAxis>& axes);

}  // namespace anydml::onnx
