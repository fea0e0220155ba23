// SPDX-License-Identifier: MIT
// Reads a graph from a model, or an operator as a one-node graph.
#pragma once

#include <optional>

#include "cursor.h"
#include "files.h"
#include "model.h"

namespace anydml::dmlrun {

// Reads the operator's fields, in "desc" or next to "type". Returns nothing if they cannot be read.
[[nodiscard]] std::optional<NodeModel> read_node_desc(Members& members, const facts::Operator& op);

// Adds the ports of an operator, one for each of its tensor fields.
void add_ports(Dispatchable& dispatchable);

// Turns an operator with its ports into a one-node graph.
void make_graph(Dispatchable& dispatchable);

// Reads "nodes" (operators and constants), "inputs" and "outputs" of a dispatchable of type graph. After an error, the
// graph is empty.
void read_graph(Members& members, Dispatchable& dispatchable, const Folders& folders);

}  // namespace anydml::dmlrun
