// SPDX-License-Identifier: MIT
#include "graph_view.h"

#include "described.h"
#include "graph_reader.h"
#include "ops/operators.h"

namespace anydml::dmlrun {
namespace {

Result<GraphNode> core_node(const NodeModel& node) {
  auto op = make_op_desc(describe(node.op, [](const facts::Field&) { return false; }), SchemaState::checked);
  if (!op) {
    return op.error();
  }
  GraphNode result;
  result.name = node.name;
  for (const auto& source : node.sources) {
    result.sources.push_back(!source
                                 ? GraphSource{}
                                 : GraphSource{.kind = source->kind == EdgeSource::Kind::node    ? SourceKind::node
                                                       : source->kind == EdgeSource::Kind::input ? SourceKind::input
                                                                                                 : SourceKind::constant,
                                               .index = static_cast<std::uint32_t>(source->index),
                                               .output = source->output});
  }
  for (std::size_t i = 0; i < node.op.fields.size(); ++i) {
    if (!facts::is_output(node.op.facts->fields[i].kind)) {
      continue;
    }
    const auto* tensors = tensors_of(node.op.fields[i]);
    for (std::size_t k = 0; k < (tensors == nullptr ? 1 : tensors->size()); ++k) {
      result.outputs.push_back({.bytes = tensors == nullptr ? 0 : (*tensors)[k].total_bytes, .alignment = 1});
    }
  }
  result.op = std::make_shared<const OpDesc>(std::move(op.value()));
  return result;
}

}  // namespace

Result<Graph> core_graph(const Dispatchable& dispatchable) {
  Dispatchable whole = dispatchable;
  make_graph(whole);
  Graph graph;
  for (const Port& port : whole.ports) {
    for (const Port::Need& need : port.tensors) {
      if (!port.is_output) {
        graph.inputs.push_back({.extent = {.bytes = need.bytes, .alignment = 1}, .owned = need.owned});
      }
    }
  }
  for (const Resource& constant : whole.constants) {
    graph.constants.push_back({.bytes = constant.value_bytes, .alignment = 1});
  }
  for (const NodeModel& node : whole.nodes) {
    auto result = core_node(node);
    if (!result) {
      return result.error();
    }
    graph.nodes.push_back(std::move(result.value()));
  }
  for (const EdgeSource& output : whole.outputs) {
    graph.outputs.push_back(
        {.kind = SourceKind::node, .index = static_cast<std::uint32_t>(output.index), .output = output.output});
  }
  // CompileGraph validates the edges' byte counts. Here it suffices that no tensor exceeds its source.
  for (const GraphNode& node : graph.nodes) {
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      const GraphSource& source = node.sources[i];
      if (source.kind == SourceKind::node &&
          (source.output >= graph.nodes[source.index].outputs.size() ||
           extent_of(graph, source).bytes < static_cast<std::uint64_t>(node.op->tensors[i].reach.end))) {
        return Error{ErrorKind::invalid_argument, "an edge leads to a tensor that has more bytes than its source"};
      }
    }
  }
  return graph;
}

}  // namespace anydml::dmlrun
