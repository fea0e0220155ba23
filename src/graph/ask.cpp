// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "graph/passes.h"

namespace anydml {
namespace {

// The position of each node, indexed by the caller's number for it.
std::vector<std::uint32_t> positions_of(const Graph& graph) {
  std::vector<std::uint32_t> positions(graph.nodes.size());
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const std::uint32_t number = graph.nodes[i].number.value_or(i);
    positions.resize(std::max<std::size_t>(positions.size(), number + std::size_t{1}));
    positions[number] = i;
  }
  return positions;
}

}  // namespace

Status ask(const Graph& given, const Graph& graph, std::span<const std::uint32_t> nodes, const LacksOperator& lacks) {
  const std::vector<std::uint32_t> positions = positions_of(given);
  std::vector<DataType> types;
  for (const std::uint32_t i : nodes) {
    const OpDesc& op = *graph.nodes[i].op;
    if (op.empty) {
      continue;
    }
    types.clear();
    for (const OpTensor& tensor : op.tensors) {
      types.push_back(tensor.present ? tensor.tensor.type : DataType::unknown);
    }
    const std::uint32_t whole = positions[graph.nodes[i].number.value_or(i)];
    const AskedOperator asked{.name = op.op->name,
                              .part_of = given.nodes[whole].op->op->name,
                              .family = static_cast<std::uint32_t>(op.family->id),
                              .types = types};
    if (const std::string why = lacks(asked); !why.empty()) {
      return in_node(given, whole, {ErrorKind::unsupported, why});
    }
  }
  return {};
}

}  // namespace anydml
