// SPDX-License-Identifier: MIT
// Operators and the sources of their inputs, as described by a caller of any API. A graph is plain data. Each
// pass over it is a function, and no pass reads elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/inline_vector.h"
#include "base/result.h"
#include "ops/op_desc.h"

namespace anydml {

enum class SourceKind : std::uint8_t { none, input, constant, node };

// The source of a tensor's bytes.
struct GraphSource {
  SourceKind kind = SourceKind::none;
  std::uint32_t index = 0;   // the index of the input, the constant or the node
  std::uint32_t output = 0;  // the index of the node's output
  std::int64_t offset = 0;   // in bytes, to the element at index 0 of the tensor that reads it

  bool operator==(const GraphSource&) const = default;
};

// The memory that a tensor needs.
struct Extent {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
};

struct GraphNode {
  std::shared_ptr<const OpDesc> op;
  InlineVector<GraphSource, 3> sources;      // for each input of op; `none` if the input is absent
  InlineVector<Extent, 1> outputs;           // for each output of op; without bytes if the output is absent
  std::vector<GraphSource> inside = {};      // for each output, the value whose memory contains it; empty, or none
  std::string name;                          // may be empty
  std::optional<std::uint32_t> number = {};  // the caller's number for the node; no value: its position among the nodes
  bool alone = false;                // the node is, or is part of, an operator that the caller did not add as a node
  bool integer_activations = false;  // DeviceTraits::integer_activations holds for this node
};

struct GraphInput {
  Extent extent;  // no bytes if nothing reads the input
  bool owned = false;
};

struct Graph {
  std::vector<GraphInput> inputs;
  std::vector<Extent> constants;
  std::vector<GraphNode> nodes;
  std::vector<GraphSource> outputs;                // nodes' outputs
  std::vector<std::uint32_t> absent_outputs = {};  // outputs that are never computed; their sources are meaningless
};

// Creates a graph with one node. Its inputs and outputs are those of the operator, including absent ones. inputs and
// outputs specify the memory of each.
[[nodiscard]] Graph graph_of(std::shared_ptr<const OpDesc> op, std::vector<GraphInput> inputs,
                             std::vector<Extent> outputs);
// Like the function above, but each tensor's memory is exactly the bytes that the tensor covers.
[[nodiscard]] Graph graph_of(std::shared_ptr<const OpDesc> op);

// The memory of a source.
[[nodiscard]] const Extent& extent_of(const Graph& graph, const GraphSource& source);

// The name of a node in messages: "node 3 (ELEMENT_WISE_ADD 'bias')", or only the operator for a node that is alone.
[[nodiscard]] std::string node_label(const Graph& graph, std::uint32_t node);
// Prefixes the error with the node's label.
[[nodiscard]] Error in_node(const Graph& graph, std::uint32_t node, const Error& error);

// Sorts the nodes so that each comes after the nodes that feed it, and otherwise keeps their order. An error names the
// nodes of a cycle.
[[nodiscard]] Result<std::vector<std::uint32_t>> sorted_nodes(const Graph& graph);

// Describes the graph with one line for each input, constant, node and output.
[[nodiscard]] std::string graph_text(const Graph& graph);

}  // namespace anydml
