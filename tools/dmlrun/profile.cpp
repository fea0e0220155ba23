// SPDX-License-Identifier: MIT
#include "profile.h"

#include <algorithm>
#include <map>
#include <optional>

#include "cursor.h"
#include "graph/passes.h"
#include "graph_reader.h"
#include "graph_view.h"
#include "schema/described.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

using Kind = EdgeSource::Kind;

// The tensors of a node's inputs or outputs, in the order of its edges; null for an absent one.
std::vector<const TensorValue*> edge_tensors(const NodeModel& node, bool outputs) {
  std::vector<const TensorValue*> all;
  for (std::size_t i = 0; i < node.op.fields.size(); ++i) {
    const facts::FieldKind kind = node.op.facts->fields[i].kind;
    if (facts::is_attribute(kind) || facts::is_output(kind) != outputs) {
      continue;
    }
    const auto* tensors = tensors_of(node.op.fields[i]);
    if (tensors == nullptr) {
      all.push_back(nullptr);
      continue;
    }
    for (const TensorValue& tensor : *tensors) {
      all.push_back(&tensor);
    }
  }
  return all;
}

class StepMaker {
 public:
  StepMaker(const Dispatchable& whole, std::span<const std::uint32_t> nodes) : whole_(whole) {
    for (const std::uint32_t node : nodes) {
      positions_.emplace(node, positions_.size());
    }
  }

  ProfileStep make(bool is_once) {
    result_.is_once = is_once;
    result_.part.name = whole_.name;
    result_.part.path = whole_.path;
    result_.part.is_graph = true;
    result_.part.execution_flags = whole_.execution_flags;
    result_.part.nodes.resize(positions_.size());
    std::vector<std::size_t> in_order(positions_.size());
    for (const auto& [node, position] : positions_) {
      in_order[position] = node;
    }
    for (const std::size_t node : in_order) {
      add_node(node);
    }
    for (const std::size_t node : in_order) {
      add_outputs(node);
    }
    return std::move(result_);
  }

 private:
  void add_node(std::size_t number) {
    NodeModel& node = result_.part.nodes[positions_.at(number)];
    node = whole_.nodes[number];
    const std::string name = node.name.empty() ? std::string() : " " + in_quotes(node.name);
    result_.nodes += format_text("{}{}{}", result_.nodes.empty() ? "" : ", ", node.op.facts->name, name);
    const auto tensors = edge_tensors(node, false);
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      if (node.sources[i]) {
        *node.sources[i] = moved(*node.sources[i], *tensors[i]);
      }
    }
  }

  EdgeSource moved(const EdgeSource& source, const TensorValue& tensor) {
    if (source.kind == Kind::constant) {
      const auto [known, is_new] = constants_.try_emplace(source.index, result_.part.constants.size());
      if (is_new) {
        result_.part.constants.push_back(whole_.constants[source.index]);
      }
      return {.kind = Kind::constant, .index = known->second};
    }
    if (source.kind == Kind::node && positions_.contains(source.index)) {
      return {.kind = Kind::node, .index = positions_.at(source.index), .output = source.output};
    }
    const StepValue value{
        .is_input = source.kind == Kind::input, .index = source.index, .output = source.output, .bytes = 0};
    const auto [known, is_new] = inputs_.try_emplace(value, result_.part.ports.size());
    if (is_new) {
      result_.values.push_back(value);
      result_.part.ports.push_back(
          {.name = format_text("input {}", known->second), .is_output = false, .tensors = {{}}});
    }
    Port::Need& need = result_.part.ports[known->second].tensors[0];
    need.bytes = std::max(need.bytes, tensor.total_bytes);
    need.owned = need.owned || (tensor.flags & schema::kOwnedByDml) != 0;
    return {.kind = Kind::input, .index = known->second};
  }

  [[nodiscard]] bool is_read_outside(std::size_t node, std::uint32_t output) const {
    const auto is_it = [&](const EdgeSource& source) {
      return source.kind == Kind::node && source.index == node && source.output == output;
    };
    for (std::size_t i = 0; i < whole_.nodes.size(); ++i) {
      if (!positions_.contains(i) && std::ranges::any_of(whole_.nodes[i].sources, [&](const auto& source) {
            return source.has_value() && is_it(*source);
          })) {
        return true;
      }
    }
    return std::ranges::any_of(whole_.outputs, is_it);
  }

  void add_outputs(std::size_t number) {
    const auto tensors = edge_tensors(whole_.nodes[number], true);
    for (std::uint32_t output = 0; output < tensors.size(); ++output) {
      if (tensors[output] == nullptr || !is_read_outside(number, output)) {
        continue;
      }
      const std::uint64_t bytes = tensors[output]->total_bytes;
      result_.part.outputs.push_back({.kind = Kind::node, .index = positions_.at(number), .output = output});
      result_.values.push_back({.is_input = false, .index = number, .output = output, .bytes = bytes});
      result_.part.ports.push_back({.name = format_text("output {}", result_.part.outputs.size()),
                                    .is_output = true,
                                    .tensors = {{.bytes = bytes}}});
    }
  }

  const Dispatchable& whole_;
  std::map<std::size_t, std::size_t> positions_;  // of the nodes, within the step
  std::map<std::size_t, std::size_t> constants_;
  std::map<StepValue, std::size_t> inputs_;
  ProfileStep result_;
};

}  // namespace

Result<std::vector<ProfileStep>> steps_of(const Dispatchable& dispatchable) {
  Dispatchable whole = dispatchable;
  make_graph(whole);
  const auto result = core_graph(whole);
  ANYDML_TRY(result);
  const Graph& graph = result.value();
  const auto sorted = sorted_nodes(graph);
  ANYDML_TRY(sorted);
  const std::vector<std::uint32_t> nodes = prune(graph, sorted.value());
  const ValueNumbers values(graph);
  const NodeSet folded = fold(graph, nodes);
  ValueSet kept(values.count());
  for (const GraphSource& output : graph.outputs) {
    kept[values.of(output)] = true;
  }
  ValueSet kept_once = kept;
  std::vector<std::uint32_t> once;
  std::vector<std::uint32_t> later;
  for (const std::uint32_t node : nodes) {
    (folded[node] ? once : later).push_back(node);
    for (const GraphSource& source : graph.nodes[node].sources) {
      if (!folded[node] && source.kind == SourceKind::node) {
        kept_once[values.of(source)] = true;
      }
    }
  }
  constexpr DeviceTraits kDevice{.joins_from = 1};  // like the CPU's traits
  std::vector<ProfileStep> steps;
  for (const bool is_once : {true, false}) {
    for (const GraphGroup& group : fuse(graph, values, is_once ? once : later, is_once ? kept_once : kept, kDevice)) {
      steps.push_back(StepMaker(whole, group.nodes).make(is_once));
    }
  }
  return steps;
}

}  // namespace anydml::dmlrun
