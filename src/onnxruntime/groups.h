// SPDX-License-Identifier: MIT
// Divides the nodes of a graph that a provider takes into groups that the runtime can fuse.
#pragma once

#include <cstddef>
#include <vector>

namespace anydml::ort {

// A node of a graph: whether it is taken, and the positions of the nodes that compute its inputs.
struct GroupedNode {
  bool is_taken = false;
  std::vector<std::size_t> before;
};

// The positions of the nodes in an order in which each node follows the nodes that compute its inputs. Nodes of a
// cycle, which no valid graph has, are left out.
[[nodiscard]] std::vector<std::size_t> order_of(const std::vector<GroupedNode>& nodes);

// Returns the positions of the nodes of each group. A group is convex: no path leads from one of its nodes over a node
// outside of it to another of its nodes. The groups are few: their number is the largest number of times that a path
// enters the taken nodes. The nodes may have any order; those of a group follow the nodes that compute their inputs.
[[nodiscard]] std::vector<std::vector<std::size_t>> convex_groups(const std::vector<GroupedNode>& nodes);

}  // namespace anydml::ort
