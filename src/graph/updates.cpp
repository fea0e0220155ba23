// SPDX-License-Identifier: MIT
// Finds the outputs that may replace an input of the graph. An operator that is private to a family and works in place
// may write only some elements of its output, so a copy of its input would take longer than its work.
#include <algorithm>

#include "graph/passes.h"
#include "plan/reshape.h"

namespace anydml {

void find_updates(const Graph& graph, std::span<const std::uint32_t> sorted, const std::vector<bool>& is_computed_there,
                  GraphPlans& plans) {
  std::vector<std::uint32_t> readers(graph.inputs.size());
  for (const std::uint32_t node : sorted) {
    for (const GraphSource& source : graph.nodes[node].sources) {
      if (source.kind == SourceKind::input) {
        ++readers[source.index];
      }
    }
  }
  for (std::uint32_t i = 0; i < graph.outputs.size(); ++i) {
    if (!is_computed_there[i]) {
      continue;
    }
    const GraphSource& source = graph.outputs[i];
    const GraphNode& node = graph.nodes[source.index];
    const OpDesc& op = *node.op;
    if (op.internal.empty() || op.op->in_place == facts::InPlace::none) {
      continue;
    }
    plans.updated.push_back(i);
    for (std::uint32_t input = 0; input < op.input_count; ++input) {
      const GraphSource& from = node.sources[input];
      if (may_be_in_place(op, input) && from.kind == SourceKind::input && from.offset == 0 &&
          !graph.inputs[from.index].owned && readers[from.index] == 1 &&
          same_layout(op.tensors[input].tensor, op.outputs()[source.output].tensor)) {
        plans.in_place.push_back({.input = from.index, .output = i});
      }
    }
  }
}

}  // namespace anydml
