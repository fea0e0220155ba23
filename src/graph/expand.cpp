// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "graph/passes.h"
#include "ops/operators.h"

namespace anydml {
namespace {

// The decomposition of each node; null for a node that has none. Equal nodes share theirs. Empty if no node has one.
using Decompositions = std::vector<std::shared_ptr<const Decomposition>>;

// Whether an input is known when the graph is initialized.
bool is_known(const Graph& graph, const NodeSet& folded, const GraphSource& source) {
  return source.kind == SourceKind::constant ||
         (source.kind == SourceKind::input && graph.inputs[source.index].owned) ||
         (source.kind == SourceKind::node && folded[source.index]);
}

KnownInputs known_inputs(const Graph& graph, const NodeSet& folded, const GraphNode& node) {
  KnownInputs known;
  for (const GraphSource& source : node.sources) {
    known.push_back(is_known(graph, folded, source));
  }
  return known;
}

// An operator, and for each of its inputs a bit: whether it is known.
struct KnownOperator {
  const OpDesc* op = nullptr;
  std::uint64_t known = 0;

  bool operator==(const KnownOperator&) const = default;
  struct Hash {
    std::size_t operator()(const KnownOperator& key) const {
      return std::hash<const OpDesc*>()(key.op) ^ static_cast<std::size_t>(key.known * 0x9e3779b97f4a7c15);
    }
  };
};

// Nothing for an operator with more than 64 inputs.
std::optional<KnownOperator> known_operator(const Graph& graph, const NodeSet& folded, const GraphNode& node) {
  if (node.sources.size() > 64) {
    return std::nullopt;
  }
  KnownOperator result{.op = node.op.get()};
  for (std::size_t i = 0; i < node.sources.size(); ++i) {
    result.known |= std::uint64_t{is_known(graph, folded, node.sources[i])} << i;
  }
  return result;
}

Result<Decompositions> decompose_all(const Graph& graph, const DeviceTraits& device) {
  Decompositions all;
  std::optional<NodeSet> folded;  // computed only if an operator may be decomposed
  // The first node with each operator and each combination of known inputs. The equal layers of a network share their
  // operators, and they also share the parts.
  std::unordered_map<KnownOperator, std::uint32_t, KnownOperator::Hash> first_nodes;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const OpDesc& op = *graph.nodes[i].op;
    if (op.family->decompose == nullptr || op.empty) {
      continue;
    }
    if (!folded) {
      const auto sorted = sorted_nodes(graph);
      ANYDML_TRY(sorted);
      folded = fold(graph, sorted.value());
    }
    if (const auto key = known_operator(graph, *folded, graph.nodes[i]); key.has_value()) {
      const auto [first, is_new] = first_nodes.try_emplace(*key, i);
      if (!is_new) {
        if (!all.empty()) {
          all[i] = all[first->second];
        }
        continue;
      }
    }
    auto decomposition = op.family->decompose(op, device, known_inputs(graph, *folded, graph.nodes[i]));
    const Status result = decomposition ? build_decomposition(decomposition.value()) : Status(decomposition.error());
    if (!result) {
      return in_node(graph, i, result.error());
    }
    if (!decomposition.value().ops.empty()) {
      all.resize(graph.nodes.size());
      all[i] = std::make_shared<const Decomposition>(std::move(decomposition.value()));
    }
  }
  return all;
}

using Values = InlineVector<GraphSource, 16>;

// The source of each value in a node's decomposition: the inputs of the composed operator, then the outputs of its
// parts.
Values values_of(const GraphNode& node, const Decomposition& decomposition, std::uint32_t first_node) {
  Values values(node.sources);
  for (std::uint32_t k = 0; k < decomposition.ops.size(); ++k) {
    for (std::uint32_t output = 0; output < decomposition.ops[k].op->output_count; ++output) {
      values.push_back({.kind = SourceKind::node, .index = first_node + k, .output = output});
    }
  }
  return values;
}

class Expansion {
 public:
  Expansion(const Graph& graph, const Decompositions& decompositions) : graph_(graph), decompositions_(decompositions) {
    std::uint32_t count = 0;
    first_.reserve(decompositions.size());
    for (const auto& decomposition : decompositions) {
      first_.push_back(count);
      count += decomposition != nullptr ? static_cast<std::uint32_t>(decomposition->ops.size()) : 1;
    }
    result_ = {.inputs = graph.inputs,
               .constants = graph.constants,
               .nodes = {},
               .outputs = {},
               .absent_outputs = graph.absent_outputs};  // the parts may themselves be decomposed later
    result_.nodes.reserve(count);
  }

  Graph make() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      GraphNode node = graph_.nodes[i];
      node.number = node.number.value_or(i);
      for (GraphSource& source : node.sources) {
        source = moved(source);
      }
      if (decompositions_[i] == nullptr) {
        result_.nodes.push_back(std::move(node));
      } else {
        add_decomposition(node, *decompositions_[i], first_[i]);
      }
    }
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      const GraphSource& output = graph_.outputs[i];
      if (output.kind == SourceKind::node && decompositions_[output.index] != nullptr &&
          decompositions_[output.index]->outputs[output.output] == kNoValue) {
        result_.absent_outputs.push_back(i);
      }
      result_.outputs.push_back(moved(output));
    }
    return std::move(result_);
  }

 private:
  // Returns the source with the value's new number, if it has one. An absent output has no reader, so it is replaced by
  // a present one.
  [[nodiscard]] GraphSource moved(const GraphSource& source) const {
    if (source.kind != SourceKind::node) {
      return source;
    }
    const std::uint32_t first = first_[source.index];
    if (decompositions_[source.index] == nullptr) {
      return {.kind = SourceKind::node, .index = first, .output = source.output, .offset = source.offset};
    }
    const Decomposition& decomposition = *decompositions_[source.index];
    std::uint32_t value = decomposition.outputs[source.output];
    if (value == kNoValue) {
      value = *std::ranges::find_if(decomposition.outputs, [](std::uint32_t of) { return of != kNoValue; });
    }
    GraphSource now = values_of(graph_.nodes[source.index], decomposition, first)[value];
    now.offset += source.offset;
    return now;
  }

  void add_decomposition(const GraphNode& node, const Decomposition& decomposition, std::uint32_t first) {
    const Values values = values_of(node, decomposition, first);
    auto value = static_cast<std::uint32_t>(node.sources.size());
    for (const DecomposedOp& part : decomposition.ops) {
      GraphNode result{
          .op = part.op, .sources = {}, .outputs = {}, .name = node.name, .number = node.number, .alone = node.alone};
      for (const std::uint32_t source : part.sources) {
        result.sources.push_back(source == kNoValue ? GraphSource{} : values[source]);
      }
      for (const OpTensor& output : part.op->outputs()) {
        const auto whole = std::ranges::find(decomposition.outputs, value++);
        result.outputs.push_back(!output.present ? Extent{}
                                 : whole != decomposition.outputs.end()
                                     ? node.outputs[static_cast<std::size_t>(whole - decomposition.outputs.begin())]
                                     : Extent{.bytes = static_cast<std::uint64_t>(output.reach.end),
                                              .alignment = element_alignment(output.tensor.type)});
      }
      result_.nodes.push_back(std::move(result));
    }
  }

  const Graph& graph_;
  const Decompositions& decompositions_;
  std::vector<std::uint32_t> first_;  // the new number of each node, or of its first part
  Graph result_;
};

}  // namespace

Result<std::optional<Graph>> expand(const Graph& graph, const DeviceTraits& device) {
  std::optional<Graph> result;
  while (true) {
    const Graph& now = result ? *result : graph;
    const auto decomposition = decompose_all(now, device);
    ANYDML_TRY(decomposition);
    if (decomposition.value().empty()) {
      return result;
    }
    Graph next = Expansion(now, decomposition.value()).make();
    result = std::move(next);
  }
}

}  // namespace anydml
