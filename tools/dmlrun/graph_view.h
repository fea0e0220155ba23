// SPDX-License-Identifier: MIT
// A dispatchable as the core sees it: a graph, before and after its passes.
#pragma once

#include "base/result.h"
#include "graph/graph.h"
#include "model.h"

namespace anydml::dmlrun {

// It was read, and its operators keep the rules of a feature level. An operator is a graph of one node.
[[nodiscard]] Result<Graph> core_graph(const Dispatchable& dispatchable);

}  // namespace anydml::dmlrun
