// SPDX-License-Identifier: MIT
// A graph of several nodes, as a model has it, and an operator as a graph of one.
#pragma once

#include <optional>

#include "cursor.h"
#include "files.h"
#include "model.h"

namespace anydml::dmlrun {

// The operator's fields, in "desc" or beside "type"; nothing where they could not be read.
[[nodiscard]] std::optional<NodeModel> read_node_desc(Members& members, const facts::Operator& op);

// The ports of an operator: its tensors, by their fields.
void add_ports(Dispatchable& dispatchable);

// An operator, with its ports, as a graph of one node.
void make_graph(Dispatchable& dispatchable);

// "nodes" (operators and constants), "inputs" and "outputs" of a dispatchable of type graph. Nothing of it is left
// where something is wrong.
void read_graph(Members& members, Dispatchable& dispatchable, const Folders& folders);

}  // namespace anydml::dmlrun
