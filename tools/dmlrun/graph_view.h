// SPDX-License-Identifier: MIT
// Shows a dispatchable as the core sees it: a graph, before and after its passes.
#pragma once

#include "base/result.h"
#include "graph/graph.h"
#include "model.h"

namespace anydml::dmlrun {

// The dispatchable must have been read, and its operators must follow the rules of a feature level. An operator is
// shown as a one-node graph.
[[nodiscard]] Result<Graph> core_graph(const Dispatchable& dispatchable);

}  // namespace anydml::dmlrun
