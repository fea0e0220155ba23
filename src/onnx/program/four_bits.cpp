// SPDX-License-Identifier: MIT
#include "onnx/program/four_bits.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
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

// The initializer at an input of a node, or null.
const TensorMessage* find(const NodeMessage& node, std::size_t input, const Tensors& tensors) {
  const auto found = input < node.inputs.size() ? tensors.find(node.inputs[input]) : tensors.end();
  return found == tensors.end() ? nullptr : found->second;
}

// The weights and zero points of a node if both can stay in four bits, otherwise nothing.
std::vector<std::string> dequantized_tensors(const NodeMessage& node, const Tensors& tensors) {
  const TensorMessage* const x = find(node, 0, tensors);
  const TensorMessage* const scales = find(node, 1, tensors);
  if (node.inputs.size() > 3 || x == nullptr || scales == nullptr || !has_four_bits(*x) ||
      !kRoundedKinds.contains(static_cast<Kind>(scales->data_type)) ||
      !have_whole_blocks(node, x->dims, scales->dims)) {
    return {};
  }
  if (node.inputs.size() < 3 || node.inputs[2].empty()) {
    return {x->name};
  }
  const TensorMessage* const zeros = find(node, 2, tensors);
  const bool fits =
      zeros != nullptr && zeros->data_type == x->data_type && zeros->dims == scales->dims && !zeros->array;
  return fits ? std::vector{x->name, zeros->name} : std::vector<std::string>();
}

// The same for a node that gathers slices of whole bytes.
std::vector<std::string> gathered_tensors(const NodeMessage& node, const Tensors& tensors) {
  constexpr std::size_t kZeros = 3;
  const auto has_bytes = [](const TensorMessage* tensor) {
    return tensor != nullptr && has_four_bits(*tensor) && tensor->dims.back() % 2 == 0;
  };
  const TensorMessage* const data = find(node, 0, tensors);
  const auto gathered = integer_of(node, "gather_axis", 0);
  const auto quantized = integer_of(node, "quantize_axis", 1);
  if (!has_bytes(data) || !gathered.has_value() || !quantized.has_value()) {
    return {};
  }
  const auto rank = static_cast<std::int64_t>(data->dims.size());
  const std::int64_t from = *gathered < 0 ? *gathered + rank : *gathered;
  if (from == rank - 1 || from == (*quantized < 0 ? *quantized + rank : *quantized)) {
    return {};
  }
  if (node.inputs.size() <= kZeros || node.inputs[kZeros].empty()) {
    return {data->name};
  }
  const TensorMessage* const zeros = find(node, kZeros, tensors);
  return has_bytes(zeros) ? std::vector{data->name, zeros->name} : std::vector<std::string>();
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
  // The tensors of each node that must be kept together.
  std::vector<std::vector<std::string>> kept;
  for (const NodeMessage& node : graph.nodes) {
    std::vector<std::string> names =
        node.op_type == "DequantizeLinear" && is_default_domain(node.domain)       ? dequantized_tensors(node, tensors)
        : node.op_type == "GatherBlockQuantized" && node.domain == "com.microsoft" ? gathered_tensors(node, tensors)
                                                                                   : std::vector<std::string>();
    if (!names.empty()) {
      kept.push_back(std::move(names));
    }
  }
  // A tensor that something else reads is widened, and then the others of its node are too.
  while (true) {
    std::unordered_map<std::string, std::int64_t> counts;
    for (const std::vector<std::string>& names : kept) {
      for (const std::string& name : names) {
        ++counts[name];
      }
    }
    const auto is_shared = [&](const std::string& name) {
      const auto found = uses.find(name);
      return found == uses.end() || found->second != counts.at(name);
    };
    const auto removed = std::erase_if(kept, [&](const std::vector<std::string>& names) {
      return std::any_of(names.begin(), names.end(), is_shared);
    });
    if (removed == 0) {
      std::unordered_set<std::string> result;
      for (const auto& [name, count] : counts) {
        result.insert(name);
      }
      return result;
    }
  }
}

}  // namespace anydml::onnx
