// SPDX-License-Identifier: MIT
#include "onnxruntime/groups.h"

#include <algorithm>

namespace anydml::ort {

std::vector<std::size_t> order_of(const std::vector<GroupedNode>& nodes) {
  std::vector<std::vector<std::size_t>> after(nodes.size());
  std::vector<std::size_t> missing(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    missing[i] = nodes[i].before.size();
    for (const std::size_t one : nodes[i].before) {
      after[one].push_back(i);
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (missing[i] == 0) {
      order.push_back(i);
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::size_t one : after[order[i]]) {
      if (--missing[one] == 0) {
        order.push_back(one);
      }
    }
  }
  return order;
}

std::vector<std::vector<std::size_t>> convex_groups(const std::vector<GroupedNode>& nodes) {
  // The level of a node counts how often a path to it leaves the taken nodes. It never decreases along a path, and a
  // path that leaves the taken nodes of a level and comes back ends in a higher level, so the taken nodes of a level
  // are a convex group.
  std::vector<std::size_t> levels(nodes.size(), 0);
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t node : order_of(nodes)) {
    std::size_t level = 0;
    for (const std::size_t one : nodes[node].before) {
      const bool leaves = nodes[one].is_taken && !nodes[node].is_taken;
      level = std::max(level, levels[one] + (leaves ? 1 : 0));
    }
    levels[node] = level;
    if (nodes[node].is_taken) {
      groups.resize(std::max(groups.size(), level + 1));
      groups[level].push_back(node);
    }
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

}  // namespace anydml::ort
