// SPDX-License-Identifier: MIT
// Converts a DML_GRAPH_DESC to the core's graph. An error message names the array, the edge and the field.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "directml/device_core.h"
#include "directml/operator_desc.h"
#include "graph/graph.h"

namespace anydml {

// The graph that is compiled and bound; a single operator is a graph of one node.
struct GraphDef {
  Graph graph;
  std::vector<std::span<const std::byte>> constants;  // the application's memory, valid until the call returns
  Surface surface;
  std::string name;  // given by the application; may be empty
};

Result<GraphDef> read_graph(const DML_GRAPH_DESC& desc, const DmlCore& core);

[[nodiscard]] GraphDef graph_of(std::shared_ptr<const OperatorDef> def, std::string name);

}  // namespace anydml
