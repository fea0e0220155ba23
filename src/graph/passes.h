// SPDX-License-Identifier: MIT
// The passes from a graph to its plans. Each pass is a function over plain data:
//
//   expand  composed operators -> their parts
//   prune   the nodes that an output needs
//   ask     checks that the device has the operator of each of these nodes
//   alias   readers of views read the memory behind them; inputs of joins are computed in place
//   fold    the nodes that run once, when the graph is initialized
//   keys    the folded values that other graphs may share
//   fuse    nodes -> groups that are computed element by element in one step, and the steps that join them
//   order   the groups, so that little memory is alive at a time
//   place   an offset in memory for each value
//   lower   groups -> the steps of a plan (lower.h)
//   updates the outputs that may replace an input
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/inline_vector.h"
#include "graph/compile.h"
#include "graph/graph.h"
#include "plan/device_traits.h"
#include "plan/plan.h"

namespace anydml {

// Numbers for everything that can be in memory: the inputs, the constants, then the outputs of each node.
class ValueNumbers {
 public:
  explicit ValueNumbers(const Graph& graph);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t of_input(std::uint32_t input) const { return input; }
  [[nodiscard]] std::uint32_t of_constant(std::uint32_t constant) const { return inputs_ + constant; }
  [[nodiscard]] std::uint32_t of_node(std::uint32_t node, std::uint32_t output) const { return nodes_[node] + output; }
  [[nodiscard]] std::uint32_t of(const GraphSource& source) const;
  // The value whose memory contains this one, directly or indirectly, or the value itself if it has its own memory.
  [[nodiscard]] std::uint32_t root(std::uint32_t value) const { return roots_.empty() ? value : roots_[value]; }
  // The value's offset in its root, in bytes.
  [[nodiscard]] std::int64_t offset_in_root(std::uint32_t value) const { return roots_.empty() ? 0 : offsets_[value]; }

 private:
  void find_roots(const Graph& graph);

  std::uint32_t inputs_;
  std::vector<std::uint32_t> nodes_;
  std::uint32_t count_;
  std::vector<std::uint32_t> roots_;  // empty if each value has its own memory
  std::vector<std::int64_t> offsets_;
};

inline constexpr std::uint32_t kNoNumber = 0xffffffff;  // for a value, a node or a group

using NodeSet = std::vector<bool>;   // indexed by node
using ValueSet = std::vector<bool>;  // indexed by value

// Replaces composed operators with their decompositions, which keep the operators' names. The parts may themselves be
// composed operators. Returns no value if no operator in the graph needs to be decomposed for the device.
[[nodiscard]] Result<std::optional<Graph>> expand(const Graph& graph, const DeviceTraits& device);

// The nodes that an output depends on. `order` must be sorted.
[[nodiscard]] std::vector<std::uint32_t> prune(const Graph& graph, std::span<const std::uint32_t> order);

// Returns an error for the first of these nodes whose operator the device lacks. The device may lack a family, an
// operator or a type. given: the caller's graph, from which `graph` was expanded.
[[nodiscard]] Status ask(const Graph& given, const Graph& graph, std::span<const std::uint32_t> nodes,
                         const LacksOperator& lacks);

// Removes the cost of views, if strides can describe the result. A reader of a view (Family::views_of_inputs) reads the
// memory behind the view. An input of a join (Family::views_in_outputs) is computed inside the join's output
// (GraphNode::inside). Returns no value if the graph has no such operator. order: the nodes that an output needs.
[[nodiscard]] Graph alias(Graph graph, std::span<const std::uint32_t> order);
// Whether there is anything for `alias` to do.
[[nodiscard]] bool has_views(const Graph& graph, std::span<const std::uint32_t> order);

// Finds the nodes whose inputs are all known when the graph is initialized: owned inputs, constants, and the results of
// such nodes. A result that is much larger than the inputs counts only if a single node reads it, which may turn it
// into a form that is worth keeping: weights of a few bits, which are dequantized and then packed.
[[nodiscard]] NodeSet nodes_to_prepare(const Graph& graph, std::span<const std::uint32_t> order);
// The nodes with known inputs, without nodes whose result is much larger than the inputs, such as a broadcast, unless
// all that depends on it is computed in advance too.
[[nodiscard]] NodeSet fold(const Graph& graph, std::span<const std::uint32_t> order);

// For each folded node, the key under which graphs share its outputs. The key is empty if the node depends on a value
// without a key, or shares memory with other values.
[[nodiscard]] std::vector<std::string> folded_keys(const Graph& graph, std::span<const std::uint32_t> order,
                                                   const NodeSet& folded, std::span<const ConstantKey> constants,
                                                   const DeviceTraits& device);

inline constexpr std::uint32_t kNoPosition = 0xffffffff;

// Nodes that form one step of a plan, or joined steps. Their tensors are viewed at the sizes of the group. If one of
// the nodes is not element-wise, it is the main node. The nodes before it are its prologue, which computes one of its
// inputs, and the nodes after it are its epilogue, which reads one of its outputs. Each part has its own sizes.
struct GraphGroup {
  InlineVector<std::uint32_t, 4> nodes;  // each after the nodes that feed it
  std::uint32_t main = kNoPosition;      // the position of the main node; kNoPosition if there is none
  std::uint32_t computed_input = 0;      // the main node's input that a prologue computes
  std::uint32_t forwarded_output = 0;    // the main node's output that an epilogue reads
  // For each node, its tensors if the group views them at other sizes than the operator, otherwise nothing. Empty if
  // this is so for all nodes.
  std::vector<std::vector<TensorDesc>> views;
  InlineVector<std::uint32_t, 6> reads;   // values from outside the group, without duplicates
  InlineVector<std::uint32_t, 2> writes;  // values that nodes outside the group read

  [[nodiscard]] bool has_views(std::size_t position) const { return !views.empty() && !views[position].empty(); }
  // A tensor of the node at this position, as the group views it.
  [[nodiscard]] const TensorDesc& view(const Graph& graph, std::size_t position, std::size_t tensor) const {
    return has_views(position) ? views[position][tensor] : graph.nodes[nodes[position]].op->tensors[tensor].tensor;
  }
};

inline constexpr std::size_t kMaxOfGroup = 32;  // nodes

// Groups these nodes, which must be in order. Element-wise operators join the operators that they read from or that
// read from them, if elements at equal positions correspond and no operator outside the group comes between them.
// `kept`: values that are needed even if no node reads them. If the device joins steps, these groups also join the
// operators that they feed or that feed them. Each group comes after the groups that feed it.
[[nodiscard]] std::vector<GraphGroup> fuse(const Graph& graph, const ValueNumbers& values,
                                           std::span<const std::uint32_t> nodes, const ValueSet& kept,
                                           const DeviceTraits& device);

// A value in the temporary memory: its size in bytes, and its lifetime.
struct Lifetime {
  std::uint32_t value;
  Extent extent;
  std::uint32_t first;  // the position of the group that computes the value, in the order
  std::uint32_t last;   // the position of the last group that reads the value
};

// Returns the numbers of the groups, in an order that keeps few bytes alive at the same time.
[[nodiscard]] std::vector<std::uint32_t> order(const Graph& graph, const ValueNumbers& values,
                                               std::span<const GraphGroup> groups, const ValueSet& temporary);

// The lifetime of each temporary value, with the groups in the given order.
[[nodiscard]] std::vector<Lifetime> lifetimes(const Graph& graph, const ValueNumbers& values,
                                              std::span<const GraphGroup> groups, const ValueSet& temporary);
[[nodiscard]] std::uint64_t peak_bytes(std::span<const Lifetime> lifetimes);

// Checks an upper bound on the total size of everything that place() and a compiled graph's memory contain, including
// alignment padding. results: the values of the graph's outputs.
Status check_bytes(const Graph& graph, const ValueNumbers& values, std::span<const std::uint32_t> sorted,
                   const ValueSet& results);

struct Placement {
  std::vector<std::uint64_t> offsets;  // for each lifetime
  std::uint64_t bytes = 0;             // the total
};

// Assigns an offset to each value. Values that are alive at the same time share no bytes, with one exception: a group
// may compute a value in place of a value that it reads for the last time, element by element.
[[nodiscard]] Placement place(const Graph& graph, const ValueNumbers& values, std::span<const GraphGroup> groups,
                              std::span<const Lifetime> lifetimes);

// Returns Graphviz source for the original graph, or for the graph without unneeded nodes and with a frame around each
// step. The steps are planned for a device that joins steps. Fails if the graph cannot be expanded.
[[nodiscard]] Result<std::string> graph_dot(const Graph& graph, bool in_steps);

// Sets plans.in_place and plans.updated. is_computed_there: for each output, whether the node that computes it writes
// to the memory of the output, and not to a value that is copied later.
void find_updates(const Graph& graph, std::span<const std::uint32_t> sorted, const std::vector<bool>& is_computed_there,
                  GraphPlans& plans);

}  // namespace anydml
