// SPDX-License-Identifier: MIT
// The functions of a model, and the limits of their expansion.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "onnx/model/message.h"

namespace anydml::onnx {

// Nested calls can expand a small file to a huge number of nodes, for example if each function calls the next one
// twice.
inline constexpr std::uint64_t kMaxInlinedNodes = 1'000'000;
inline constexpr std::uint64_t kMaxInlinedBytes = (std::uint64_t{1} << 31) - 1;  // the limit of a protobuf message
inline constexpr int kMaxGraphNesting = 100;  // graphs in graphs; several steps of the library are recursive

// Finds the functions of a model, which must not change as long as the table exists.
class FunctionTable {
 public:
  explicit FunctionTable(const ModelMessage& model);  // raises Invalid if two functions have the same name
  // The position in model.functions of the function that a node calls.
  [[nodiscard]] std::optional<std::size_t> called_by(const NodeMessage& node) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;  // domain, name and overload
  std::map<Key, std::size_t> positions_;
};

// A function's name in messages: "domain.name", or "domain.name:overload".
[[nodiscard]] std::string function_text(const FunctionMessage& function);
// The memory for a node or an attribute, without the graphs in it.
[[nodiscard]] std::uint64_t own_bytes(const NodeMessage& node);
[[nodiscard]] std::uint64_t own_bytes(const AttributeMessage& attribute);
// The memory for a graph, without its nodes.
[[nodiscard]] std::uint64_t own_bytes(const GraphMessage& graph);
// Calls use(graph) for each graph among an attribute's values.
template <class Use>
void visit_graphs(const AttributeMessage& attribute, const Use& use) {
  if (attribute.g) {
    use(*attribute.g);
  }
  for (const auto& graph : attribute.graphs) {
    use(*graph);
  }
}

// Raises Invalid if a size exceeds the limits. `what` expands to it.
void check_inlined_size(std::uint64_t nodes, std::uint64_t bytes, const std::string& what);
// Rejects functions that call themselves, and functions that expand to more nodes or bytes than a model may have,
// before any of them is replaced.
void check_functions(const ModelMessage& model, const FunctionTable& table);

}  // namespace anydml::onnx
