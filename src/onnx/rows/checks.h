// SPDX-License-Identifier: MIT
// Checks that rows in several files use.
#pragma once

#include <cstdint>

#include "onnx/rows/row.h"

namespace anydml::onnx {

// The checks for CenterCropPad (pooling.cpp).
[[nodiscard]] Compute crop_checks(const Node& node);

// Raises Invalid if a tensor does not have a certain number of dimensions. `what` is its name in the message.
inline void check_rank(const Array& array, int rank, const char* what) {
  if (array.rank() != rank) {
    fail("{} has the shape {}; expected {} dimensions", what, listed(array.shape()), rank);
  }
}
// The same for a tensor that may have more dimensions.
inline void check_min_rank(const Array& array, int rank, const char* what) {
  if (array.rank() < rank) {
    fail("{} has the shape {}; expected {} dimensions or more", what, listed(array.shape()), rank);
  }
}

}  // namespace anydml::onnx
