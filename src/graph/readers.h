// SPDX-License-Identifier: MIT
// The nodes that read each value of a graph, as one list with positions.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "graph/passes.h"

namespace anydml {

// The nodes that read each value.
class Readers {
 public:
  Readers(const Graph& graph, const ValueNumbers& values, std::span<const std::uint32_t> nodes)
      : begins_(values.count() + 1) {
    const auto for_each_read = [&](auto use) {
      for (const std::uint32_t node : nodes) {
        for (const GraphSource& source : graph.nodes[node].sources) {
          if (source.kind == SourceKind::node) {
            use(values.of(source), node);
          }
        }
      }
    };
    for_each_read([&](std::uint32_t value, std::uint32_t /*node*/) { ++begins_[value + 1]; });
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    nodes_.resize(begins_.back());
    std::vector<std::uint32_t> ends = begins_;
    for_each_read([&](std::uint32_t value, std::uint32_t node) { nodes_[ends[value]++] = node; });
  }

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::uint32_t value) const {
    return std::span(nodes_).subspan(begins_[value], begins_[value + 1] - begins_[value]);
  }

 private:
  std::vector<std::uint32_t> begins_;  // for each value, the position of its first reader
  std::vector<std::uint32_t> nodes_;
};

}  // namespace anydml
