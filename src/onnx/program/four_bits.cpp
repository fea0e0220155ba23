// SPDX-License-Identifier: MIT
#include "onnx/program/four_bits.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace anydml::onnx {
namespace {

using Tensors = std::unordered_map<std::string, const TensorMessage*>;

bool has_four_bits(const TensorMessage& tensor) {
  return kFourBitKinds.contains(static_cast<Kind>(tensor.data_type)) && !tensor.array && !tensor.dims.empty() &&
         std::all_of(tensor.dims.begin(), tensor.dims.end(), [](std::int64_t size) { return size > 0; });
}

// An attribute that is an integer; nothing if it has another type.
std::optional<std::int64_t> integer_of(const NodeMessage& node, std::string_view name, std::int64_t otherwise) {
  const AttributeMessage* const found = node.find(name);
  if (found == nullptr) {
    return otherwise;
  }
  return found->type == AttributeType::kInt && found->ref_attr_name.empty() ? std::optional(found->i) : std::nullopt;
}

// Whether each scale belongs to a whole block of the elements: to blocks along an axis, to each index of the axis, or
// to all elements.
bool have_whole_blocks(const NodeMessage& node, const Sizes& dims, const Sizes& scales) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto block = integer_of(node, "block_size", 0);
  const auto given_axis = integer_of(node, "axis", 1);
  const auto type = integer_of(node, "output_dtype", 0);
  if (!block.has_value() || !given_axis.has_value() || !type.has_value() || *block < 0) {
    return false;
  }
  if (*block == 0 && (*type != 0 || scales.empty() || scales == Sizes{1})) {
    return *type == 0;
  }
  const std::int64_t axis = *given_axis < 0 ? *given_axis + rank : *given_axis;
  if (axis < 0 || axis >= rank) {
    return false;
  }
  const auto at = static_cast<std::size_t>(axis);
  if (*block == 0) {
    return scales.size() == 1 && scales[0] == dims[at];
  }
  Sizes expected = dims;
  expected[at] /= *block;
  return dims[at] % *block == 0 && scales == expected;
}

}  // namespace

std::unordered_set<std::string> kept_in_four_bits(const GraphMessage& graph,
                                                  const std::unordered_map<std::string, std::int64_t>& uses) {
  Tensors tensors;
  for (const TensorMessage& tensor : graph.initializers) {
    tensors.emplace(tensor.name, &tensor);
  }
  for (const ValueMessage& input : graph.inputs) {
    tensors.erase(input.name);  // a run may replace it
  }
  const auto find = [&tensors](const NodeMessage& node, std::size_t input) {
    const auto found = input < node.inputs.size() ? tensors.find(node.inputs[input]) : tensors.end();
    return found == tensors.end() ? nullptr : found->second;
  };
  const auto has_zeros = [](const NodeMessage& node) { return node.inputs.size() == 3 && !node.inputs[2].empty(); };

  std::vector<const NodeMessage*> nodes;
  for (const NodeMessage& node : graph.nodes) {
    if (node.op_type != "DequantizeLinear" || !is_default_domain(node.domain) || node.inputs.size() > 3) {
      continue;
    }
    const TensorMessage* const x = find(node, 0);
    const TensorMessage* const scales = find(node, 1);
    const TensorMessage* const zeros = find(node, 2);
    const bool fits = x != nullptr && scales != nullptr && has_four_bits(*x) &&
                      kRoundedKinds.contains(static_cast<Kind>(scales->data_type)) &&
                      have_whole_blocks(node, x->dims, scales->dims);
    if (!fits || (has_zeros(node) && (zeros == nullptr || zeros->data_type != x->data_type ||
                                      zeros->dims != scales->dims || zeros->array))) {
      continue;
    }
    nodes.push_back(&node);
  }
  // A tensor that something else reads is widened, and then the others of its node are too.
  while (true) {
    std::unordered_map<std::string, std::int64_t> counts;
    for (const NodeMessage* const node : nodes) {
      ++counts[node->inputs[0]];
      if (has_zeros(*node)) {
        ++counts[node->inputs[2]];
      }
    }
    const auto is_shared = [&](const std::string& name) {
      const auto found = uses.find(name);
      return found == uses.end() || found->second != counts.at(name);
    };
    const auto removed = std::erase_if(nodes, [&](const NodeMessage* node) {
      return is_shared(node->inputs[0]) || (has_zeros(*node) && is_shared(node->inputs[2]));
    });
    if (removed == 0) {
      std::unordered_set<std::string> names;
      for (const auto& [name, count] : counts) {
        names.insert(name);
      }
      return names;
    }
  }
}

}  // namespace anydml::onnx
