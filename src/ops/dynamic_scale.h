// SPDX-License-Identifier: MIT
// The parts of a decomposition that compute the scale and the zero point of DYNAMIC_QUANTIZE_LINEAR.
#pragma once

#include "ops/decomposition.h"

namespace anydml {

struct DynamicScale {
  std::uint32_t input;  // the elements as FLOAT32
  std::uint32_t scale;
  std::uint32_t zero_point;
};

// value: FLOAT32 or FLOAT16 with at least one element. type: UINT8 or INT8, the type of the zero point. one: the sizes
// of the scale and the zero point, as many as the value has, all of them 1.
[[nodiscard]] DynamicScale add_dynamic_scale(DecompositionBuilder& list, std::uint32_t value, DataType type,
                                             const TensorDesc& one);

}  // namespace anydml
