// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <numeric>

#include "graph/passes.h"

namespace anydml {

ValueNumbers::ValueNumbers(const Graph& graph) : inputs_(static_cast<std::uint32_t>(graph.inputs.size())) {
  count_ = inputs_ + static_cast<std::uint32_t>(graph.constants.size());
  nodes_.reserve(graph.nodes.size());
  for (const GraphNode& node : graph.nodes) {
    nodes_.push_back(count_);
    count_ += static_cast<std::uint32_t>(node.outputs.size());
  }
  if (std::ranges::any_of(graph.nodes, [](const GraphNode& node) { return !node.inside.empty(); })) {
    find_roots(graph);
  }
}

void ValueNumbers::find_roots(const Graph& graph) {
  roots_.resize(count_);
  offsets_.resize(count_);
  std::iota(roots_.begin(), roots_.end(), 0U);
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    for (std::uint32_t output = 0; output < graph.nodes[node].inside.size(); ++output) {
      const std::uint32_t value = of_node(node, output);
      for (GraphSource whole = graph.nodes[node].inside[output]; whole.kind != SourceKind::none;) {
        roots_[value] = of(whole);
        offsets_[value] += whole.offset;
        const auto& next = graph.nodes[whole.index].inside;
        whole = whole.output < next.size() ? next[whole.output] : GraphSource{};
      }
    }
  }
}

std::uint32_t ValueNumbers::of(const GraphSource& source) const {
  switch (source.kind) {
    case SourceKind::input:
      return of_input(source.index);
    case SourceKind::constant:
      return of_constant(source.index);
    default:
      return of_node(source.index, source.output);
  }
}

std::vector<std::uint32_t> prune(const Graph& graph, std::span<const std::uint32_t> order) {
  NodeSet needed(graph.nodes.size());
  const auto need = [&](const GraphSource& source) {
    if (source.kind == SourceKind::node) {
      needed[source.index] = true;
    }
  };
  std::ranges::for_each(graph.outputs, need);
  for (std::size_t i = order.size(); i-- > 0;) {
    if (needed[order[i]]) {
      std::ranges::for_each(graph.nodes[order[i]].sources, need);
    }
  }
  std::vector<std::uint32_t> left;
  left.reserve(order.size());
  std::ranges::copy_if(order, std::back_inserter(left), [&](std::uint32_t node) { return bool{needed[node]}; });
  return left;
}

namespace {

// Whether the known result of a node is worth keeping: it is a different form of its inputs, or it is no larger than
// they are.
bool is_worth_keeping(const Graph& graph, const GraphNode& node) {
  constexpr std::uint64_t kLittle = 64 << 10;  // bytes that are kept regardless of the inputs' size
  std::uint64_t read = 0;
  for (const GraphSource& source : node.sources) {
    read += source.kind != SourceKind::none ? extent_of(graph, source).bytes : 0;
  }
  std::uint64_t result = 0;
  for (const Extent& output : node.outputs) {
    result += output.bytes;
  }
  return node.op->prepares || result <= kLittle || result <= read;
}

// The nodes that `may_be` allows and whose inputs are all known when the graph is initialized. Each node is visited
// after the nodes that feed it.
template <class MayBe>
NodeSet known_nodes_if(const Graph& graph, std::span<const std::uint32_t> order, const MayBe& may_be) {
  NodeSet known(graph.nodes.size());
  const auto is_known = [&](const GraphSource& source) {
    switch (source.kind) {
      case SourceKind::input:
        return bool{graph.inputs[source.index].owned};
      case SourceKind::node:
        return bool{known[source.index]};
      default:
        return true;
    }
  };
  for (const std::uint32_t i : order) {
    const auto& sources = graph.nodes[i].sources;
    const bool has_input =
        std::ranges::any_of(sources, [](const GraphSource& source) { return source.kind != SourceKind::none; });
    known[i] = has_input && may_be(i) && std::ranges::all_of(sources, is_known);
  }
  return known;
}

}  // namespace

NodeSet nodes_to_prepare(const Graph& graph, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> readers(graph.nodes.size());
  for (const std::uint32_t i : order) {
    for (const GraphSource& source : graph.nodes[i].sources) {
      if (source.kind == SourceKind::node) {
        ++readers[source.index];
      }
    }
  }
  for (const GraphSource& output : graph.outputs) {
    if (output.kind == SourceKind::node) {
      readers[output.index] += 2;  // it is needed as it is
    }
  }
  return known_nodes_if(graph, order,
                        [&](std::uint32_t i) { return readers[i] == 1 || is_worth_keeping(graph, graph.nodes[i]); });
}

NodeSet fold(const Graph& graph, std::span<const std::uint32_t> order) {
  const NodeSet known = known_nodes_if(graph, order, [](std::uint32_t) { return true; });
  // A result that is not worth keeping is still computed in advance if everything that depends on it is computed in
  // advance. It is then discarded. Weights that are converted and then packed are an example.
  NodeSet is_kept(graph.nodes.size());  // a run reads it, or it is an output
  for (const GraphSource& output : graph.outputs) {
    is_kept[output.index] = true;
  }
  NodeSet worth(graph.nodes.size());
  for (std::size_t at = order.size(); at-- > 0;) {
    const std::uint32_t i = order[at];
    const GraphNode& node = graph.nodes[i];
    worth[i] = known[i] && (!is_kept[i] || is_worth_keeping(graph, node));
    for (const GraphSource& source : node.sources) {
      if (source.kind == SourceKind::node && !worth[i]) {
        is_kept[source.index] = true;
      }
    }
  }
  return known_nodes_if(graph, order, [&](std::uint32_t i) { return bool{worth[i]}; });
}

}  // namespace anydml
