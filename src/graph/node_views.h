// SPDX-License-Identifier: MIT
// The sizes at which groups view the tensors of their nodes. Most tensors keep the view of their operator, which is not
// copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "plan/reshape.h"

namespace anydml {

using Views = std::vector<TensorDesc>;  // of all tensors of a node

class NodeViews {
 public:
  explicit NodeViews(const Graph& graph) : graph_(graph), views_(graph.nodes.size()) {}

  // A tensor of a node, as its group views it.
  [[nodiscard]] const TensorDesc& of(std::uint32_t node, std::size_t tensor) const {
    return views_[node].empty() ? graph_.nodes[node].op->tensors[tensor].tensor : views_[node][tensor];
  }
  // The only output of an element-wise node.
  [[nodiscard]] const TensorDesc& of_result(std::uint32_t node) const {
    return of(node, graph_.nodes[node].op->input_count);
  }
  void set(std::uint32_t node, Views views) { views_[node] = std::move(views); }

  // Views the tensors of these nodes at common sizes, which are the sizes of the result of one of the leaders. The
  // result is empty if no tensor needs a new view.
  [[nodiscard]] std::optional<std::vector<Views>> common(std::span<const std::uint32_t> nodes,
                                                         std::span<const std::uint32_t> leaders) const {
    if (have_sizes(nodes, of_result(leaders.front()))) {
      return std::vector<Views>();
    }
    for (const std::uint32_t leader : leaders) {
      if (auto views = at_sizes(nodes, of_result(leader)); views.has_value()) {
        return views;
      }
    }
    return std::nullopt;
  }

  // The views of these nodes' tensors, as in GraphGroup::views.
  [[nodiscard]] std::vector<Views> take(std::span<const std::uint32_t> nodes) {
    std::vector<Views> views;
    if (std::ranges::any_of(nodes, [&](std::uint32_t node) { return !views_[node].empty(); })) {
      views.reserve(nodes.size());
      for (const std::uint32_t node : nodes) {
        views.push_back(std::move(views_[node]));
      }
    }
    return views;
  }

 private:
  [[nodiscard]] static bool has_sizes(const TensorDesc& tensor, const TensorDesc& shape) {
    return tensor.rank == shape.rank && std::equal(shape.sizes, shape.sizes + shape.rank, tensor.sizes);
  }

  [[nodiscard]] bool have_sizes(std::span<const std::uint32_t> nodes, const TensorDesc& shape) const {
    return std::ranges::all_of(nodes, [&](std::uint32_t node) {
      const auto& tensors = graph_.nodes[node].op->tensors;
      return std::ranges::all_of(std::views::iota(std::size_t{0}, tensors.size()),
                                 [&](std::size_t i) { return !tensors[i].present || has_sizes(of(node, i), shape); });
    });
  }

  [[nodiscard]] std::optional<std::vector<Views>> at_sizes(std::span<const std::uint32_t> nodes,
                                                           const TensorDesc& shape) const {
    std::vector<Views> views;
    views.reserve(nodes.size());
    for (const std::uint32_t node : nodes) {
      Views& seen = views.emplace_back();
      const OpDesc& op = *graph_.nodes[node].op;
      seen.reserve(op.tensors.size());
      for (std::size_t i = 0; i < op.tensors.size(); ++i) {
        const TensorDesc& tensor = of(node, i);
        if (!op.tensors[i].present || has_sizes(tensor, shape)) {
          seen.push_back(tensor);
        } else if (const auto other = reshaped(tensor, std::span(shape.sizes, shape.rank)); other.has_value()) {
          seen.push_back(*other);
        } else {
          return std::nullopt;
        }
      }
    }
    return views;
  }

  const Graph& graph_;
  std::vector<Views> views_;  // of the nodes with other views than their operators
};

}  // namespace anydml
