// SPDX-License-Identifier: MIT
// Masks that become numbers, which an attention adds to its scores (attention.cpp).
#pragma once

#include <cstdint>

#include "onnx/values/array.h"

namespace anydml::onnx {

// Converts a bool mask to 0 where it is true and -infinity elsewhere. A numeric mask is only converted to the type.
[[nodiscard]] Array as_bias(const Array& mask, Kind kind);
// A mask {queries, keys} that shows each query the keys up to its own position.
[[nodiscard]] Array causal(std::int64_t queries, std::int64_t keys, std::int64_t past);
// Adds leading dimensions of size 1, up to four dimensions. More dimensions stay.
[[nodiscard]] inline Array with_four_axes(const Array& bias) { return bias.rank() < 4 ? bias.with_rank(4) : bias; }

}  // namespace anydml::onnx
