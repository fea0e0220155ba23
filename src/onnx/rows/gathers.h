// SPDX-License-Identifier: MIT
// Gathers that rows in several files use.
#pragma once

#include "onnx/values/array.h"

namespace anydml::onnx {

// The slices of x along an axis that the indices select (gathers.cpp). An index out of range reads the nearest slice.
[[nodiscard]] Array taken_slices(const Array& x, const Array& indices, int axis);

}  // namespace anydml::onnx
