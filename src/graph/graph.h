// SPDX-License-Identifier: MIT
// Operators and who feeds them, as a caller described it, whichever API it came through. Plain data: each pass over it
// is a function, and none sees an element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ops/op_desc.h"

namespace anydml {

enum class SourceKind : std::uint8_t { none, input, constant, node };

// Where the bytes of a tensor come from.
struct GraphSource {
  SourceKind kind = SourceKind::none;
  std::uint32_t index = 0;   // of the input, the constant or the node
  std::uint32_t output = 0;  // of the node
  std::int64_t offset = 0;   // in bytes: where the element at index 0 of the tensor that reads it is

  bool operator==(const GraphSource&) const = default;
};

// Memory that a tensor asks for.
struct Extent {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
};

struct GraphNode {
  std::shared_ptr<const OpDesc> op;
  std::vector<GraphSource> sources;          // of each input of op; none where it is absent
  std::vector<Extent> outputs;               // of each output of op; no bytes where it is absent
  std::vector<GraphSource> inside = {};      // of each output: the value of whose memory it is a part; empty, or none
  std::string name;                          // may be empty
  std::optional<std::uint32_t> number = {};  // by which the caller knows it; nothing: its position among the nodes
  bool alone = false;                        // it is, or is a part of, an operator that the caller knows as no node
};

struct GraphInput {
  Extent extent;  // no bytes: nothing reads it
  bool owned = false;
};

struct Graph {
  std::vector<GraphInput> inputs;
  std::vector<Extent> constants;
  std::vector<GraphNode> nodes;
  std::vector<GraphSource> outputs;                // nodes' outputs
  std::vector<std::uint32_t> absent_outputs = {};  // those of parts that nobody makes: their sources mean nothing
};

// A graph of one node: the inputs and outputs are those of the operator, absent ones included. inputs, outputs: the
// memory of each.
[[nodiscard]] Graph graph_of(std::shared_ptr<const OpDesc> op, std::vector<GraphInput> inputs,
                             std::vector<Extent> outputs);
// The same with the memory that the tensors reach over.
[[nodiscard]] Graph graph_of(std::shared_ptr<const OpDesc> op);

// The memory that a source is.
[[nodiscard]] const Extent& extent_of(const Graph& graph, const GraphSource& source);

// How messages and texts speak of a node: "node 3 (ELEMENT_WISE_ADD 'bias')"; of one that is alone by its operator.
[[nodiscard]] std::string node_label(const Graph& graph, std::uint32_t node);
// The error with that before it.
[[nodiscard]] Error in_node(const Graph& graph, std::uint32_t node, const Error& error);

// The nodes, each after those that feed it, otherwise in the order given. An error names the nodes of a cycle.
[[nodiscard]] Result<std::vector<std::uint32_t>> sorted_nodes(const Graph& graph);

// One line for each input, constant, node and output.
[[nodiscard]] std::string graph_text(const Graph& graph);

}  // namespace anydml
