// SPDX-License-Identifier: MIT
// Computes keys for the folded values. A key lists the value's sources and operations as text. Elements are not
// examined.
#include <bit>
#include <cstring>
#include <unordered_map>

#include "graph/passes.h"

namespace anydml {
namespace {

constexpr std::size_t kLongestKey = 4096;  // a longer key would cost more than recomputing the value

class KeyText {
 public:
  KeyText() { text_.reserve(512); }  // most keys are shorter

  template <class T>
  KeyText& operator<<(T number) requires std::is_integral_v<T> || std::is_enum_v<T> {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &number, sizeof(T));
    text_.append(bytes, sizeof(T));
    return *this;
  }
  KeyText& operator<<(std::string_view text) {
    *this << text.size();
    text_.append(text);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  void clear() { text_.clear(); }
  void append(std::string_view written) { text_.append(written); }

 private:
  std::string text_;
};

void add_tensor(KeyText& key, const TensorDesc& tensor) {
  key << tensor.type << tensor.rank;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    key << tensor.sizes[i] << (tensor.sizes[i] > 1 ? tensor.strides[i] : 0);  // a single element uses no stride
  }
}

void add_arguments(KeyText& key, std::span<const schema::Argument> arguments) {
  key << arguments.size();
  for (const schema::Argument& argument : arguments) {
    key << argument.present << argument.numbers.size() << argument.operators.size();
    for (const Scalar& number : argument.numbers) {  // three conversions distinguish any two numbers
      key << std::bit_cast<std::uint64_t>(number.as<double>()) << number.as<std::int64_t>()
          << number.as<std::uint64_t>();
    }
    for (const schema::Described& nested : argument.operators) {
      key << nested.op->name;
      add_arguments(key, nested.arguments);
    }
  }
}

void add_operator(KeyText& key, const OpDesc& op) {
  key << op.family->id << op.op->name << op.input_count;
  for (const OpTensor& tensor : op.tensors) {
    key << tensor.present;
    if (tensor.present) {
      add_tensor(key, tensor.tensor);
    }
  }
  add_arguments(key, op.arguments);
  key << std::string_view(reinterpret_cast<const char*>(op.internal.data()), op.internal.size());
}

}  // namespace

std::vector<std::string> folded_keys(const Graph& graph, std::span<const std::uint32_t> order, const NodeSet& folded,
                                     std::span<const ConstantKey> constants, const DeviceTraits& device) {
  std::vector<std::string> keys(graph.nodes.size());
  KeyText key;
  std::unordered_map<const OpDesc*, std::string> operators;  // their part of a key; equal nodes share an operator
  for (const std::uint32_t i : order) {
    const GraphNode& node = graph.nodes[i];
    if (!folded[i] || !node.inside.empty()) {
      continue;
    }
    key.clear();
    auto& operator_key = operators[node.op.get()];
    if (operator_key.empty()) {
      key << device.half_products;
      add_operator(key, *node.op);
      operator_key = key.text();
    } else {
      key.append(operator_key);
    }
    bool is_known = true;
    for (const GraphSource& source : node.sources) {
      key << source.kind << source.output << source.offset;
      if (source.kind == SourceKind::none) {
        continue;
      }
      const std::string_view from = source.kind == SourceKind::constant ? std::string_view(constants[source.index].text)
                                    : source.kind == SourceKind::node   ? std::string_view(keys[source.index])
                                                                        : std::string_view();
      is_known = is_known && !from.empty();
      key << from;
    }
    if (is_known && key.text().size() <= kLongestKey) {
      keys[i] = key.text();
    }
  }
  // Memory that contains several values is not shared between graphs.
  for (const GraphNode& node : graph.nodes) {
    for (const GraphSource& whole : node.inside) {
      if (whole.kind == SourceKind::node) {
        keys[whole.index].clear();
      }
    }
  }
  return keys;
}

}  // namespace anydml
