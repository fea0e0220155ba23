// SPDX-License-Identifier: MIT
#include <algorithm>

#include "graph/passes.h"

namespace anydml {
namespace {

// As it was, or what stands for it now.
GraphSource moved(GraphSource source, std::span<const std::uint32_t> new_numbers) {
  if (source.kind == SourceKind::node) {
    source.index = new_numbers[source.index];
  }
  return source;
}

}  // namespace

bool has_parts(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const GraphNode& node) { return !node.op->parts.empty(); });
}

Graph expand(const Graph& graph) {
  std::vector<std::uint32_t> new_numbers;  // of the node that makes the output now
  std::uint32_t count = 0;
  for (const GraphNode& node : graph.nodes) {
    count += std::max(1U, static_cast<std::uint32_t>(node.op->parts.size()));
    new_numbers.push_back(count - 1);
  }
  Graph made{.inputs = graph.inputs, .constants = graph.constants, .nodes = {}, .outputs = {}};
  made.nodes.reserve(count);
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    GraphNode node = graph.nodes[i];
    node.number = node.number.value_or(i);
    for (GraphSource& source : node.sources) {
      source = moved(source, new_numbers);
    }
    const std::vector<OpPart>& parts = node.op->parts;
    const auto first = static_cast<std::uint32_t>(made.nodes.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const bool is_last = k + 1 == parts.size();
      const TensorDesc& result = parts[k].op->output().tensor;
      GraphNode part{.op = parts[k].op, .sources = {}, .outputs = {}, .name = node.name, .number = node.number};
      part.outputs.push_back(is_last ? node.outputs.front()
                                     : Extent{.bytes = static_cast<std::uint64_t>(reach_of(result).end),
                                              .alignment = element_size(result.type)});
      for (const std::uint32_t source : parts[k].sources) {
        part.sources.push_back(
            source < node.op->input_count
                ? node.sources[source]
                : GraphSource{.kind = SourceKind::node, .index = first + source - node.op->input_count, .output = 0});
      }
      part.sources.resize(parts[k].op->input_count);
      made.nodes.push_back(std::move(part));
    }
    if (parts.empty()) {
      made.nodes.push_back(std::move(node));
    }
  }
  for (const GraphSource& output : graph.outputs) {
    made.outputs.push_back(moved(output, new_numbers));
  }
  return made;
}

}  // namespace anydml
