// SPDX-License-Identifier: MIT
// The passes from a graph to its plans. Each is a function over plain data:
//
//   expand  operators that are made of others -> those others
//   prune   which nodes an output needs
//   alias   readers of views read what these are views of; what is joined is made in its place
//   fold    which nodes run once, when the graph is initialised
//   keys    of those, which values other graphs may have too
//   fuse    nodes -> groups: those whose elements go through one program together, and what joins them
//   order   the groups, so that little is alive at a time
//   place   an offset in memory for each value
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/compile.h"
#include "graph/graph.h"
#include "plan/device_traits.h"
#include "plan/plan.h"

namespace anydml {

// Numbers for all that can be in memory: the inputs, the constants, then the outputs of each node.
class ValueNumbers {
 public:
  explicit ValueNumbers(const Graph& graph);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t of_input(std::uint32_t input) const { return input; }
  [[nodiscard]] std::uint32_t of_constant(std::uint32_t constant) const { return inputs_ + constant; }
  [[nodiscard]] std::uint32_t of_node(std::uint32_t node, std::uint32_t output) const { return nodes_[node] + output; }
  [[nodiscard]] std::uint32_t of(const GraphSource& source) const;
  // The value of whose memory this one is a part, by however many steps; itself if it has memory of its own.
  [[nodiscard]] std::uint32_t root(std::uint32_t value) const { return roots_.empty() ? value : roots_[value]; }
  // Where it begins there, in bytes.
  [[nodiscard]] std::int64_t offset_in_root(std::uint32_t value) const { return roots_.empty() ? 0 : offsets_[value]; }

 private:
  void find_roots(const Graph& graph);

  std::uint32_t inputs_;
  std::vector<std::uint32_t> nodes_;
  std::uint32_t count_;
  std::vector<std::uint32_t> roots_;  // empty: each value has memory of its own
  std::vector<std::int64_t> offsets_;
};

inline constexpr std::uint32_t kNoNumber = 0xffffffff;  // of a value, a node, a group

using NodeSet = std::vector<bool>;   // by node
using ValueSet = std::vector<bool>;  // by value

// The graph with the parts of composed operators in place of these, under their names; parts may be composed too.
// Nothing: no operator of the graph is composed on such a device.
[[nodiscard]] Result<std::optional<Graph>> expand(const Graph& graph, const DeviceTraits& device);

// Of the nodes, which are in order, those that an output comes from.
[[nodiscard]] std::vector<std::uint32_t> prune(const Graph& graph, std::span<const std::uint32_t> order);

// The graph in which views cost nothing. A reader of a view (Family::view_of_input) reads the memory of which it is a
// view, and a value that goes into a join (Family::place_in_output) is made inside the join's output
// (GraphNode::inside), wherever strides describe it. Nothing: there is no such operator. order: the nodes that an
// output needs.
[[nodiscard]] std::optional<Graph> alias(const Graph& graph, std::span<const std::uint32_t> order);

// Nodes that have inputs, all of them known when the graph is initialised: owned inputs, constants, and what was folded
// before. Not those that would make much of little, such as a broadcast.
[[nodiscard]] NodeSet fold(const Graph& graph, std::span<const std::uint32_t> order);

// Of each node that is folded: the text by which graphs share its outputs, and empty where it follows from something
// that has no key, or lies in memory with other values.
[[nodiscard]] std::vector<std::string> folded_keys(const Graph& graph, std::span<const std::uint32_t> order,
                                                   const NodeSet& folded, std::span<const ConstantKey> constants,
                                                   const DeviceTraits& device);

inline constexpr std::uint32_t kNoPosition = 0xffffffff;

// Nodes that are one step of a plan. Their tensors are seen at the sizes of the group. Where one of them does not work
// by element, the ones before it are its prologue, which makes one of its inputs, and those after it its epilogue,
// which takes one of its outputs; each has sizes of its own.
struct GraphGroup {
  std::vector<std::uint32_t> nodes;            // each after those that feed it
  std::uint32_t main = kNoPosition;            // the position of that one among them; kNoPosition: there is none
  std::uint32_t made_input = 0;                // of the main one: the input that a prologue makes
  std::uint32_t handed_output = 0;             // likewise: the output that an epilogue takes
  std::vector<std::vector<TensorDesc>> views;  // of each node: its tensors
  std::vector<std::uint32_t> reads;            // values from outside, each once
  std::vector<std::uint32_t> writes;           // values that somebody outside reads
};

inline constexpr std::size_t kMostOfGroup = 32;  // nodes

// Of these nodes, which are in order. Operators that work by element join those that they read from or that read from
// them where each element meets its own, and where nothing outside lies between them. `kept`: values that are needed
// whoever reads them. Where the device joins steps, such groups join the operators that they feed or that feed them.
// Each group comes after those that feed it.
[[nodiscard]] std::vector<GraphGroup> fuse(const Graph& graph, const ValueNumbers& values,
                                           std::span<const std::uint32_t> nodes, const ValueSet& kept,
                                           const DeviceTraits& device);

// The bytes of temporary that values need: of those that it is to hold.
struct Lifetime {
  std::uint32_t value;
  Extent extent;
  std::uint32_t first;  // the group that makes it, by its position in the order
  std::uint32_t last;   // the last that reads it
};

// An order of the groups in which the values that are alive together have few bytes: the numbers of the groups.
[[nodiscard]] std::vector<std::uint32_t> order(const Graph& graph, const ValueNumbers& values,
                                               std::span<const GraphGroup> groups, const ValueSet& temporary);

// When each temporary value lives, with the groups in the order given.
[[nodiscard]] std::vector<Lifetime> lifetimes(const Graph& graph, const ValueNumbers& values,
                                              std::span<const GraphGroup> groups, const ValueSet& temporary);
[[nodiscard]] std::uint64_t peak_bytes(std::span<const Lifetime> lifetimes);

struct Placement {
  std::vector<std::uint64_t> offsets;  // of each lifetime
  std::uint64_t bytes = 0;             // in all
};

// Values that are alive together have no byte in common, but for one that a group makes in place of one that it reads
// last, element by element.
[[nodiscard]] Placement place(const Graph& graph, const ValueNumbers& values, std::span<const GraphGroup> groups,
                              std::span<const Lifetime> lifetimes);

// In Graphviz's language: as it was given, or with a frame around what is one step and without what no output needs.
// The steps are those of a device that joins them. An error: the graph cannot be expanded.
[[nodiscard]] Result<std::string> graph_dot(const Graph& graph, bool in_steps);

}  // namespace anydml
