// SPDX-License-Identifier: MIT
// Multiplies integers instead of dequantized floats. This is an option, because it is not what the model specifies.
//
// A model that was quantized with QuantizeLinear and DequantizeLinear multiplies floats, each an integer times a scale.
// The sums of the integers are exact and are multiplied by both scales once, so the result is closer to the exact
// value.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/model/message.h"

namespace anydml::onnx {

// A float that is (x - zero) * scale: the names of these values.
struct QuantizedFloat {
  std::string x, scale, zero;
  std::optional<std::int64_t> axis;  // the axis of the scales, unless there is only one
};

// The integers, scale and zero point of a DequantizeLinear, or nothing if integer products do not accept them. scale
// and zero: the constants with these names; absent if they are not constants.
[[nodiscard]] std::optional<QuantizedFloat> quantized_float(const NodeMessage& node, const std::vector<Kind>& kinds,
                                                            const Array& scale, const Array& zero);
// The nodes that replace a MatMul or a Conv on two such floats. weights, a_scale, b_scale: constants. Empty if the node
// must stay unchanged.
[[nodiscard]] std::vector<NodeMessage> integer_product(const NodeMessage& node, const QuantizedFloat& a,
                                                       const QuantizedFloat& b, const Array& weights,
                                                       const Array& a_scale, const Array& b_scale);

}  // namespace anydml::onnx
