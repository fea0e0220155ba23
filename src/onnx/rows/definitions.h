// SPDX-License-Identifier: MIT
// ONNX's own definitions of operators in terms of other operators, for nodes that no other row of the table computes.
#pragma once

#include <string>
#include <vector>

#include "onnx/rows/expansion.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {

void expand_attention(Expansion& expansion);
void expand_group_normalization(Expansion& expansion);
void expand_layer_normalization(Expansion& expansion);
void expand_negative_log_likelihood_loss(Expansion& expansion);
void expand_rms_normalization(Expansion& expansion);
void expand_rotary_embedding(Expansion& expansion);
[[nodiscard]] Compute check_rotary_embedding(const Node& node);
void expand_softmax_cross_entropy_loss(Expansion& expansion);

// ---- For the definitions themselves ---------------------------------------------------------------------------------

using Integers = std::vector<std::int64_t>;

// A Constant: a list of one float.
inline std::string constant_list(Expansion& expansion, float number) {
  return expansion.constant(Array::of<float>(Kind::kFloat, {1}, {number}));
}
// The name of a result of the node. Every value needs a name, so an absent result gets one that nothing uses.
inline std::string result_name(Expansion& expansion, std::size_t position) {
  const std::string name = expansion.output(position);
  return name.empty() ? expansion.fresh_name() : name;
}
// Part of the shape of a value, as a list.
inline std::string sizes_between(Expansion& expansion, const std::string& value, std::int64_t start, std::int64_t end) {
  return expansion.add("Shape", {value}, {{"start", start}, {"end", end}});
}
inline std::string cast_to(Expansion& expansion, const std::string& value, std::int64_t kind) {
  return expansion.add("Cast", {value}, {{"to", kind}});
}
inline std::string joined_sizes(Expansion& expansion, std::vector<std::string> parts) {
  return expansion.add("Concat", std::move(parts), {{"axis", 0}});
}

}  // namespace anydml::onnx
