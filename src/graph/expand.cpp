// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/passes.h"
#include "ops/operators.h"

namespace anydml {
namespace {

// The decomposition of each node; null for a node that has none. Equal nodes share theirs. Empty if no node has one.
using Decompositions = std::vector<std::shared_ptr<const Decomposition>>;

// Whether an input is known when the graph is initialized.
bool is_known(const Graph& graph, const NodeSet& nodes, const GraphSource& source) {
  return source.kind == SourceKind::constant ||
         (source.kind == SourceKind::input && graph.inputs[source.index].owned) ||
         (source.kind == SourceKind::node && nodes[source.index]);
}

// Whether all inputs of a node are known, which may be true although its result is not worth keeping.
bool has_known_inputs(const Graph& graph, const NodeSet& nodes, const GraphNode& node) {
  return std::ranges::all_of(node.sources, [&](const GraphSource& source) {
    return source.kind == SourceKind::none || is_known(graph, nodes, source);
  });
}

// The operator that computes an input from known inputs, if a family may read those instead; otherwise null.
const std::shared_ptr<const OpDesc>* maker_of(const Graph& graph, const NodeSet& nodes, const GraphSource& source) {
  const GraphNode* const maker = source.kind == SourceKind::node ? &graph.nodes[source.index] : nullptr;
  const bool is_replaceable = maker != nullptr && source.offset == 0 && maker->outputs.size() == 1 &&
                              !maker->op->empty && has_known_inputs(graph, nodes, *maker);
  return is_replaceable ? &maker->op : nullptr;
}

KnownInputs known_inputs(const Graph& graph, const NodeSet& nodes, const GraphNode& node) {
  KnownInputs known;
  known.are_known.reserve(node.sources.size());
  for (const GraphSource& source : node.sources) {
    known.are_known.push_back(is_known(graph, nodes, source));
    if (const auto* const maker = maker_of(graph, nodes, source); maker != nullptr) {
      known.makers.resize(node.sources.size());
      known.makers[known.are_known.size() - 1] = maker->get();
    }
  }
  return known;
}

// Everything that a node's decomposition depends on, as numbers: its operator, its flags, which inputs are known, and
// the operators that make known inputs. Comparing these numbers takes less time than listing the known inputs.
using DecompositionKey = std::vector<std::uint64_t>;

struct KeyHash {
  std::size_t operator()(const DecompositionKey& key) const {
    std::uint64_t hash = key.size();
    for (const std::uint64_t number : key) {
      hash = (hash ^ number) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

// Decomposes the operators of a graph, and later those of the expanded graph. Equal layers of a network share their
// operators, and they also share the parts.
class Decomposer {
 public:
  explicit Decomposer(const DeviceTraits& device) : device_(device) {}

  Result<Decompositions> decompose(const Graph& graph) {
    Decompositions all;
    // Computed only if an operator may be decomposed.
    std::optional<NodeSet> known;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
      const OpDesc& op = *graph.nodes[i].op;
      if (op.family->decompose == nullptr || op.empty) {
        continue;
      }
      if (!known) {
        const auto sorted = sorted_nodes(graph);
        ANYDML_TRY(sorted);
        known = nodes_to_prepare(graph, sorted.value());
      }
      make_key(graph, *known, graph.nodes[i]);
      auto found = found_.find(key_);
      if (found == found_.end()) {
        const KnownInputs inputs = known_inputs(graph, *known, graph.nodes[i]);
        auto made = make_parts(graph, inputs, i);
        ANYDML_TRY(made);
        Found parts{.ops = operators_of(graph, graph.nodes[i], inputs), .parts = std::move(made.value())};
        found = found_.emplace(key_, std::move(parts)).first;
      }
      if (found->second.parts != nullptr) {
        all.resize(graph.nodes.size());
        all[i] = found->second.parts;
      }
    }
    return all;
  }

 private:
  using Parts = std::shared_ptr<const Decomposition>;  // null if the operator has steps of its own
  using Operators = std::vector<std::shared_ptr<const OpDesc>>;

  void make_key(const Graph& graph, const NodeSet& nodes, const GraphNode& node) {
    key_.clear();
    key_.push_back(reinterpret_cast<std::uintptr_t>(node.op.get()));
    key_.push_back(node.integer_activations ? 1 : 0);
    for (const GraphSource& source : node.sources) {
      const auto* const maker = maker_of(graph, nodes, source);
      const std::uint64_t address = maker != nullptr ? reinterpret_cast<std::uintptr_t>(maker->get()) : 0;
      key_.push_back(address | (is_known(graph, nodes, source) ? 1U : 0U));  // addresses are even
    }
  }

  Result<Parts> make_parts(const Graph& graph, const KnownInputs& known, std::uint32_t node) const {
    const OpDesc& op = *graph.nodes[node].op;
    DeviceTraits device = device_;
    device.integer_activations = device.integer_activations || graph.nodes[node].integer_activations;
    auto decomposition = op.family->decompose(op, device, known);
    const Status result = decomposition ? build_decomposition(decomposition.value()) : Status(decomposition.error());
    if (!result) {
      return in_node(graph, node, result.error());
    }
    return decomposition.value().ops.empty() ? Parts()
                                             : std::make_shared<const Decomposition>(std::move(decomposition.value()));
  }

  // The operators whose addresses are part of a node's key.
  static Operators operators_of(const Graph& graph, const GraphNode& node, const KnownInputs& known) {
    Operators ops{node.op};
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      if (known.maker(i) != nullptr) {
        ops.push_back(graph.nodes[node.sources[i].index].op);
      }
    }
    return ops;
  }

  struct Found {
    Operators ops;  // keeps the addresses in use, so that they identify the operators
    Parts parts;
  };

  const DeviceTraits& device_;
  std::unordered_map<DecompositionKey, Found, KeyHash> found_;
  DecompositionKey key_;  // of the current node; keeps its memory from one node to the next
};

using Values = InlineVector<GraphSource, 16>;

// The source of each value in a node's decomposition: the inputs of the composed operator, the inputs of the operator
// that is replaced, then the outputs of its parts.
Values values_of(std::span<const GraphSource> inputs, std::span<const GraphSource> replaced,
                 const Decomposition& decomposition, std::uint32_t first_node) {
  Values values(inputs);
  for (const GraphSource& source : replaced) {
    values.push_back(source);
  }
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
      if (decompositions_[i] == nullptr) {
        move_sources(i, result_.nodes.emplace_back(graph_.nodes[i]));
      } else {
        GraphNode node = graph_.nodes[i];
        move_sources(i, node);
        add_decomposition(graph_.nodes[i], node, *decompositions_[i], first_[i]);
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
  // Changes a copy of the node with this number.
  void move_sources(std::uint32_t number, GraphNode& node) const {
    node.number = node.number.value_or(number);
    for (GraphSource& source : node.sources) {
      source = moved(source);
    }
  }

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
    const GraphNode& node = graph_.nodes[source.index];
    for (const std::span<const GraphSource> given :
         {std::span<const GraphSource>(node.sources), replaced_sources(node, decomposition)}) {
      if (value < given.size()) {  // the output is an input
        GraphSource now = given[value];
        now.offset += source.offset;
        return now;
      }
      value -= static_cast<std::uint32_t>(given.size());
    }
    for (std::uint32_t part = first;; ++part) {
      const std::uint32_t outputs = decomposition.ops[part - first].op->output_count;
      if (value < outputs) {
        return {.kind = SourceKind::node, .index = part, .output = value, .offset = source.offset};
      }
      value -= outputs;
    }
  }

  // The inputs of the operator that is replaced, as they were before this pass.
  [[nodiscard]] std::span<const GraphSource> replaced_sources(const GraphNode& given,
                                                              const Decomposition& decomposition) const {
    return decomposition.replaced == kNoValue
               ? std::span<const GraphSource>()
               : std::span<const GraphSource>(graph_.nodes[given.sources[decomposition.replaced].index].sources);
  }

  // `given`: the node as it was before this pass.
  void add_decomposition(const GraphNode& given, const GraphNode& node, const Decomposition& decomposition,
                         std::uint32_t first) {
    Values replaced(replaced_sources(given, decomposition));
    for (GraphSource& source : replaced) {
      source = moved(source);
    }
    const Values values = values_of(node.sources, replaced, decomposition, first);
    auto value = static_cast<std::uint32_t>(node.sources.size() + replaced.size());
    for (const DecomposedOp& part : decomposition.ops) {
      GraphNode result{.op = part.op,
                       .sources = {},
                       .outputs = {},
                       .name = node.name,
                       .number = node.number,
                       .alone = node.alone,
                       .integer_activations = node.integer_activations};
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
  Decomposer decomposer(device);
  while (true) {
    const Graph& now = result ? *result : graph;
    const auto decomposition = decomposer.decompose(now);
    ANYDML_TRY(decomposition);
    if (decomposition.value().empty()) {
      return result;
    }
    Graph next = Expansion(now, decomposition.value()).make();
    result = std::move(next);
  }
}

}  // namespace anydml
