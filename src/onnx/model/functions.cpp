// SPDX-License-Identifier: MIT
#include "onnx/model/functions.h"

#include <algorithm>
#include <unordered_map>

#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

std::string_view plain_domain(std::string_view domain) { return is_default_domain(domain) ? "" : domain; }

std::uint64_t bytes_of_texts(const std::vector<std::string>& texts) {
  std::uint64_t bytes = texts.size() * sizeof(std::string);
  for (const std::string& text : texts) {
    bytes += text.size();
  }
  return bytes;
}

// Sums and products of sizes stay at this number if they exceed it.
constexpr std::uint64_t kMostCounted = std::uint64_t{1} << 62;

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) { return a > kMostCounted - b ? kMostCounted : a + b; }

std::uint64_t product_of(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > kMostCounted / b ? kMostCounted : a * b;
}

struct ExpandedSize {
  std::uint64_t nodes = 0;
  std::uint64_t bytes = 0;
};

// What a list of nodes contains, including the nodes of graphs in them.
class NodesContent {
 public:
  NodesContent(const std::vector<NodeMessage>& nodes, const FunctionTable& table) { add(nodes, table, 1); }

  // The functions that are called, in the order of their first calls.
  [[nodiscard]] const std::vector<std::size_t>& called() const { return called_; }
  void add_bytes(std::uint64_t bytes) { own_.bytes += bytes; }
  [[nodiscard]] ExpandedSize expanded(const std::vector<std::optional<ExpandedSize>>& sizes) const {
    ExpandedSize size = own_;
    for (const std::size_t function : called_) {
      const std::uint64_t times = times_.at(function);
      size.nodes = sum_of(size.nodes, product_of(times, sizes[function]->nodes));
      size.bytes = sum_of(size.bytes, product_of(times, sizes[function]->bytes));
    }
    return size;
  }

 private:
  void add(const std::vector<NodeMessage>& nodes, const FunctionTable& table, int nesting) {
    if (nesting > kMaxGraphNesting) {
      fail("the graphs of the model are nested more than {} levels deep", kMaxGraphNesting);
    }
    for (const NodeMessage& node : nodes) {
      own_.bytes += own_bytes(node);
      if (const auto function = table.called_by(node)) {
        if (times_[*function]++ == 0) {
          called_.push_back(*function);
        }
      } else {
        ++own_.nodes;
      }
      for (const AttributeMessage& attribute : node.attributes) {
        visit_graphs(attribute, [&](const GraphMessage& graph) {
          own_.bytes += own_bytes(graph);
          add(graph.nodes, table, nesting + 1);
        });
      }
    }
  }

  ExpandedSize own_;  // without the functions that are called
  std::vector<std::size_t> called_;
  std::unordered_map<std::size_t, std::uint64_t> times_;
};

// Computes the sizes of functions with an explicit stack instead of recursion.
class FunctionSizes {
 public:
  FunctionSizes(const ModelMessage& model, const FunctionTable& table)
      : model_(model), sizes_(model.functions.size()), positions_(model.functions.size()) {
    contents_.reserve(model.functions.size());
    for (const FunctionMessage& function : model.functions) {
      contents_.emplace_back(function.nodes, table);
      // A call creates an entry for each of these names.
      contents_.back().add_bytes(bytes_of_texts(function.inputs) + bytes_of_texts(function.outputs));
    }
  }

  void measure(std::size_t first);
  [[nodiscard]] const std::vector<std::optional<ExpandedSize>>& sizes() const { return sizes_; }

 private:
  struct Step {
    std::size_t function;
    std::size_t next;  // the next one among the functions that it calls
  };
  [[noreturn]] void fail_recursion(std::size_t function) const;

  const ModelMessage& model_;
  std::vector<NodesContent> contents_;
  std::vector<std::optional<ExpandedSize>> sizes_;
  std::vector<std::optional<std::size_t>> positions_;  // in the way
  std::vector<Step> way_;                              // each function in it calls the next one
};

void FunctionSizes::measure(std::size_t first) {
  if (sizes_[first]) {
    return;
  }
  way_ = {{.function = first, .next = 0}};
  positions_[first] = 0;
  while (!way_.empty()) {
    const std::size_t function = way_.back().function;
    const auto& called = contents_[function].called();
    std::size_t& next = way_.back().next;
    while (next < called.size() && sizes_[called[next]]) {
      ++next;
    }
    if (next == called.size()) {
      sizes_[function] = contents_[function].expanded(sizes_);
      check_inlined_size(sizes_[function]->nodes, sizes_[function]->bytes,
                         "function " + onnx::quoted(function_text(model_.functions[function])));
      way_.pop_back();
      positions_[function].reset();
    } else if (positions_[called[next]]) {
      fail_recursion(called[next]);
    } else {
      const std::size_t inner = called[next];
      positions_[inner] = way_.size();
      way_.push_back({.function = inner, .next = 0});
    }
  }
}

void FunctionSizes::fail_recursion(std::size_t function) const {
  const std::string name = function_text(model_.functions[function]);
  std::string calls;
  for (std::size_t i = *positions_[function]; i < way_.size(); ++i) {
    calls += function_text(model_.functions[way_[i].function]) + " calls ";
  }
  fail("function {} calls itself ({}{}); expected functions without recursion", onnx::quoted(name), calls, name);
}

std::string short_number(std::uint64_t number) {
  constexpr std::uint64_t kLong = 1'000'000'000'000'000'000;
  return number < kLong ? std::to_string(number) : "more than 10^18";
}

}  // namespace

FunctionTable::FunctionTable(const ModelMessage& model) {
  for (std::size_t i = 0; i < model.functions.size(); ++i) {
    const FunctionMessage& function = model.functions[i];
    if (!positions_.emplace(Key(plain_domain(function.domain), function.name, function.overload), i).second) {
      fail("two functions have the name {}; expected unique names", onnx::quoted(function_text(function)));
    }
  }
}

std::optional<std::size_t> FunctionTable::called_by(const NodeMessage& node) const {
  const auto found = positions_.find({plain_domain(node.domain), node.op_type, node.overload});
  return found == positions_.end() ? std::nullopt : std::optional(found->second);
}

std::string function_text(const FunctionMessage& function) {
  const std::string overload = function.overload.empty() ? "" : ":" + printable(function.overload);
  return printable(function.domain) + "." + printable(function.name) + overload;
}

std::uint64_t own_bytes(const AttributeMessage& attribute) {
  return sizeof attribute + attribute.name.size() + attribute.ref_attr_name.size() + attribute.s.size() +
         attribute.floats.size() * sizeof(float) + attribute.ints.size() * sizeof(std::int64_t) +
         bytes_of_texts(attribute.strings) + attribute.graphs.size() * sizeof attribute.g;
}

std::uint64_t own_bytes(const NodeMessage& node) {
  std::uint64_t bytes = sizeof node + node.name.size() + node.op_type.size() + node.domain.size() +
                        node.overload.size() + bytes_of_texts(node.inputs) + bytes_of_texts(node.outputs);
  for (const AttributeMessage& attribute : node.attributes) {
    bytes += own_bytes(attribute);
  }
  return bytes;
}

std::uint64_t own_bytes(const GraphMessage& graph) {
  std::uint64_t bytes = sizeof graph + graph.name.size() + bytes_of_texts(graph.sparse_initializers);
  for (const TensorMessage& tensor : graph.initializers) {  // their elements are shared
    bytes += sizeof tensor + tensor.name.size() + tensor.dims.size() * sizeof(std::int64_t);
    for (const auto& entry : tensor.external_data) {
      bytes += sizeof entry + entry.first.size() + entry.second.size();
    }
  }
  for (const auto* const values : {&graph.inputs, &graph.outputs}) {
    for (const ValueMessage& value : *values) {
      bytes += sizeof value + value.name.size();
      for (const Dimension& dimension : value.shape) {
        bytes += sizeof dimension + dimension.name.size();
      }
    }
  }
  return bytes;
}

void check_inlined_size(std::uint64_t nodes, std::uint64_t bytes, const std::string& what) {
  if (nodes > kMaxInlinedNodes) {
    fail("{} expands to {} nodes once the functions that it calls are replaced by their nodes; expected {} at most",
         what, short_number(nodes), kMaxInlinedNodes);
  }
  if (bytes > kMaxInlinedBytes) {
    fail(
        "{} expands to {} bytes of nodes once the functions that it calls are replaced by their nodes; expected {} at "
        "most, the limit of a protobuf message",
        what, short_number(bytes), kMaxInlinedBytes);
  }
}

void check_functions(const ModelMessage& model, const FunctionTable& table) {
  FunctionSizes sizes(model, table);
  for (std::size_t i = 0; i < model.functions.size(); ++i) {
    sizes.measure(i);
  }
  const ExpandedSize whole = NodesContent(model.graph.nodes, table).expanded(sizes.sizes());
  check_inlined_size(whole.nodes, whole.bytes, "the model's graph");
}

}  // namespace anydml::onnx
