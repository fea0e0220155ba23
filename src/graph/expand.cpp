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

// The parts of each node, and whether any node has some.
struct AllParts {
  std::vector<std::vector<OpPart>> of_nodes;
  bool any = false;
};

Result<AllParts> find_parts(const Graph& graph, const DeviceTraits& device) {
  AllParts all;
  all.of_nodes.resize(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const OpDesc& op = *graph.nodes[i].op;
    if (op.family->parts != nullptr && !op.empty) {
      auto parts = op.family->parts(op, device);
      if (!parts) {
        return in_node(graph, static_cast<std::uint32_t>(i), parts.error());
      }
      all.any = all.any || !parts.value().empty();
      all.of_nodes[i] = std::move(parts.value());
    }
  }
  return all;
}

Graph expanded_once(const Graph& graph, const std::vector<std::vector<OpPart>>& parts_of) {
  std::vector<std::uint32_t> new_numbers;  // of the node that makes the output now
  std::uint32_t count = 0;
  for (const std::vector<OpPart>& parts : parts_of) {
    count += std::max(1U, static_cast<std::uint32_t>(parts.size()));
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
    const std::vector<OpPart>& parts = parts_of[i];
    const auto first = static_cast<std::uint32_t>(made.nodes.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const bool is_last = k + 1 == parts.size();
      const TensorDesc& result = parts[k].op->output().tensor;
      GraphNode part{.op = parts[k].op,
                     .sources = {},
                     .outputs = {},
                     .name = node.name,
                     .number = node.number,
                     .alone = node.alone};
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

}  // namespace

Result<std::optional<Graph>> expand(const Graph& graph, const DeviceTraits& device) {
  std::optional<Graph> made;
  while (true) {
    const Graph& now = made ? *made : graph;
    const auto parts = find_parts(now, device);
    ANYDML_TRY(parts);
    if (!parts.value().any) {
      return made;
    }
    made = expanded_once(now, parts.value().of_nodes);
  }
}

}  // namespace anydml
