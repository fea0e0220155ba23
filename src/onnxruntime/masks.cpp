// SPDX-License-Identifier: MIT
#include "onnxruntime/masks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace anydml::ort {
namespace {

constexpr std::size_t kPastKey = 3;  // inputs of GroupQueryAttention
constexpr std::size_t kTotalLength = 6;
constexpr std::int64_t kMinColumns = 1024;  // texts up to this length have one form

// The only element of a constant of INT64; nothing if the value is something else.
std::optional<std::int64_t> constant_of(const Runtime& runtime, const ValueInfo* value) {
  if (value == nullptr || !runtime.get(kIsConstant, value)) {
    return std::nullopt;
  }
  const Value* const given = runtime.get(kInitializerValue, value);
  if (given == nullptr) {
    return std::nullopt;
  }
  const TensorContents contents(runtime, given);
  if (contents.type() != ANYDML_ONNX_INT64 || contents.bytes() != sizeof(std::int64_t)) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  std::memcpy(&number, runtime.get(kTensorData, given), sizeof number);
  return number;
}

// Whether a node only changes the type or the shape of a number.
bool passes_number(const NodeParts& parts) {
  constexpr std::string_view kOps[] = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  return std::find(std::begin(kOps), std::end(kOps), parts.op) != std::end(kOps);
}

// The nodes of a group and the uses of its values.
class Uses {
 public:
  Uses(const Runtime& runtime, const Graph* graph, const std::vector<std::string>& outputs)
      : runtime_(runtime),
        nodes_(parts_of(runtime, runtime.list(kNodeCount, kNodes, graph))),
        outputs_(outputs.begin(), outputs.end()) {
    for (const NodeParts& node : nodes_) {
      for (std::size_t i = 0; i < node.input_names.size(); ++i) {
        uses_[node.input_names[i]].push_back({&node, i});
      }
      for (const ValueInfo* value : node.implicit_inputs) {
        uses_[name_of(runtime, value)].push_back({&node, node.inputs.size()});
      }
    }
  }

  [[nodiscard]] const std::vector<NodeParts>& nodes() const { return nodes_; }

  // Whether the nodes need only the sum of a mask's columns and their number, the latter only as the length of texts.
  [[nodiscard]] bool adds_and_counts(const std::string& mask) const {
    return all_uses(mask, [this](const NodeParts& node, std::size_t input) {
      if (node.op == "ReduceSum" && input == 0 && node.inputs.size() > 1) {
        const std::optional<std::int64_t> axis = constant_of(runtime_, node.inputs[1]);
        return axis == 1 || axis == -1;
      }
      return node.op == "Shape" && runtime_.get(kAttributeCount, node.node) <= kShapeAttributes &&
             all_uses(node.output_names[0], [this](const NodeParts& gather, std::size_t at) {
               if (gather.op != "Gather" || at != 0) {
                 return false;
               }
               const std::optional<std::int64_t> index = constant_of(runtime_, gather.inputs[1]);
               return index == 0 || (index == 1 && is_length(gather.output_names[0]));
             });
    });
  }

 private:
  struct Use {
    const NodeParts* node;
    std::size_t input;
  };
  static constexpr std::size_t kShapeAttributes = 1;  // `start`, which the runtime adds with its default

  template <class Allowed>
  [[nodiscard]] bool all_uses(const std::string& name, const Allowed& allowed) const {
    const auto found = uses_.find(name);
    return !outputs_.contains(name) &&
           (found == uses_.end() || std::all_of(found->second.begin(), found->second.end(), [&](const Use& use) {
              return use.input < use.node->inputs.size() && allowed(*use.node, use.input);
            }));
  }

  [[nodiscard]] bool is_length(const std::string& name) const {
    return all_uses(name, [this](const NodeParts& node, std::size_t input) {
      return (node.op == "GroupQueryAttention" && input == kTotalLength) ||
             (passes_number(node) && input == 0 && is_length(node.output_names[0]));
    });
  }

  const Runtime& runtime_;
  const std::vector<NodeParts> nodes_;
  const std::unordered_set<std::string> outputs_;
  std::unordered_map<std::string, std::vector<Use>> uses_;
};

}  // namespace

GrowingMasks::GrowingMasks(const Runtime& runtime, const Graph* graph, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  const Uses uses(runtime, graph, outputs);
  std::vector<std::size_t> caches;
  for (const NodeParts& node : uses.nodes()) {
    if (node.op != "GroupQueryAttention") {
      continue;
    }
    const auto found = node.input_names.size() > kPastKey
                           ? std::find(inputs.begin(), inputs.end(), node.input_names[kPastKey])
                           : inputs.end();
    if (found == inputs.end()) {
      return;
    }
    caches.push_back(static_cast<std::size_t>(found - inputs.begin()));
  }
  for (std::size_t i = 0; i < inputs.size() && !caches.empty(); ++i) {
    const bool is_used = std::any_of(uses.nodes().begin(), uses.nodes().end(), [&](const NodeParts& node) {
      return node.op == "Shape" && node.input_names[0] == inputs[i];
    });
    if (is_used && uses.adds_and_counts(inputs[i])) {
      masks_.push_back({i, caches});
    }
  }
}

std::vector<GrowingMasks::Padded> GrowingMasks::pad(std::span<anydml_tensor> inputs,
                                                    const anydml_device* device) const {
  std::vector<Padded> padded;
  padded.reserve(masks_.size());
  for (const Mask& mask : masks_) {
    anydml_tensor& given = inputs[mask.input];
    if (given.rank != 2) {
      continue;
    }
    const std::int64_t rows = given.sizes[0];
    const std::int64_t columns = given.sizes[1];
    // A mask that has fewer columns than there are new tokens is an error, which the operator reports.
    bool is_fit = rows > 0 && columns > 0;
    std::int64_t most =
        std::max(kMinColumns, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(columns))));
    for (std::size_t i = 0; i < inputs.size() && is_fit; ++i) {
      if (std::find(mask.caches.begin(), mask.caches.end(), i) != mask.caches.end()) {
        is_fit = inputs[i].rank == 4;
        most = is_fit ? std::min(most, inputs[i].sizes[2]) : most;
      } else if (inputs[i].rank == 2 || inputs[i].rank == 3) {
        is_fit = inputs[i].sizes[1] <= columns;
      }
    }
    if (!is_fit || most <= columns) {
      continue;
    }
    const std::size_t size = anydml_type_size(given.type);
    const std::size_t narrow = static_cast<std::size_t>(columns) * size;
    const std::size_t wide = static_cast<std::size_t>(most) * size;
    auto& [bytes, sizes] = padded.emplace_back();
    bytes = std::make_unique<std::byte[]>(static_cast<std::size_t>(rows) * wide);
    const auto* const from = static_cast<const std::byte*>(given.data);
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (device == nullptr) {
        std::memcpy(bytes.get() + at * wide, from + at * narrow, narrow);
      } else if (anydml_memory_copy(device, bytes.get() + at * wide, from + at * narrow, narrow) != ANYDML_OK) {
        throw Failure(ErrorCode::kEpFail, anydml_last_error());
      }
    }
    sizes[0] = rows;
    sizes[1] = most;
    given.sizes = sizes;
    given.data = bytes.get();
  }
  return padded;
}

}  // namespace anydml::ort
