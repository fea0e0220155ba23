// SPDX-License-Identifier: MIT
// Weights whose elements stay in four bits.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "onnx/model/message.h"

namespace anydml::onnx {

// The names of a graph's int4 and uint4 initializers that only DequantizeLinear and GatherBlockQuantized read, as
// weights and zero points: DequantizeLinear with scales in a form that DEQUANTIZE accepts, GatherBlockQuantized by
// whole bytes. uses: how often each value of the graph is used, also by bodies and as an output. Nodes that are wrong
// are left to their own checks.
[[nodiscard]] std::unordered_set<std::string> kept_in_four_bits(
    const GraphMessage& graph, const std::unordered_map<std::string, std::int64_t>& uses);

}  // namespace anydml::onnx
