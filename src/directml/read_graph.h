// SPDX-License-Identifier: MIT
// From DML_GRAPH_DESC to a graph of the core. What is wrong is told with the array, the edge and the field.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "directml/device_core.h"
#include "directml/operator_desc.h"
#include "graph/graph.h"

namespace anydml {

// What is compiled and bound, for a graph and for an operator alike: that is a graph of one node.
struct GraphDef {
  Graph graph;
  std::vector<std::span<const std::byte>> constants;  // the application's memory, until the call returns
  Surface surface;
  std::string name;  // that the application gave it; may be empty
};

Result<GraphDef> read_graph(const DML_GRAPH_DESC& desc, const DmlCore& core);

[[nodiscard]] GraphDef graph_of(std::shared_ptr<const OperatorDef> def, std::string name);

}  // namespace anydml
