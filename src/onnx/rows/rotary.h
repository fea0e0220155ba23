// SPDX-License-Identifier: MIT
// Rotations by positions, as com.microsoft's RotaryEmbedding and GroupQueryAttention compute them (rotary.cpp).
#pragma once

#include "onnx/values/array.h"

namespace anydml::onnx {

// Cosines or sines of angles for each position, {positions, half of the rotated elements}.
struct RotaryAngles {
  Array cosines, sines;
};

// The angles of positions {batch or 1, rows}, as {batch or 1, rows, 1, half}.
[[nodiscard]] RotaryAngles angles_at(const RotaryAngles& caches, const Array& positions);
// Rotates the first elements of each head of x, {batch, rows, heads, elements}: twice as many as there are angles. Each
// product and each sum is rounded to the type of x.
[[nodiscard]] Array rotated_heads(const Array& x, const RotaryAngles& angles, bool is_interleaved);

}  // namespace anydml::onnx
