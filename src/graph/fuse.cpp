// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <optional>
#include <ranges>
#include <utility>

#include "graph/node_views.h"
#include "graph/passes.h"
#include "graph/readers.h"
#include "plan/reshape.h"

namespace anydml {
namespace {

using Numbers = InlineVector<std::uint32_t, 4>;

// Groups grow node by node. The depth of each group is greater than the depth of every group that it reads from, which
// keeps the search for a path between two groups short.
class Fuser {
 public:
  Fuser(const Graph& graph, const ValueNumbers& values, std::span<const std::uint32_t> nodes, const ValueSet& kept,
        const DeviceTraits& device)
      : graph_(graph),
        values_(values),
        nodes_(nodes),
        kept_(kept),
        device_(device),
        group_of_(graph.nodes.size(), kNoNumber),
        views_(graph),
        readers_(graph, values, nodes),
        positions_(graph.nodes.size()),
        is_read_(values.count()) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      positions_[nodes[i]] = i;
    }
  }

  std::vector<GraphGroup> fuse() {
    groups_.reserve(nodes_.size());
    for (const std::uint32_t node : nodes_) {
      add(node);
    }
    for (const std::uint32_t node : device_.joins_from != 0 ? nodes_ : std::span<const std::uint32_t>()) {
      join(node);
    }
    std::vector<std::uint32_t> order;
    order.reserve(groups_.size());
    for (std::uint32_t i = 0; i < groups_.size(); ++i) {
      if (!groups_[i].nodes.empty()) {
        order.push_back(i);
      }
    }
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return groups_[i].depth; });
    std::vector<GraphGroup> result;
    result.reserve(order.size());
    for (const std::uint32_t i : order) {
      result.push_back(finished(groups_[i]));
    }
    return result;
  }

 private:
  struct Group {
    Numbers nodes;
    std::uint32_t depth = 0;
    bool open = false;       // other nodes may join
    std::uint32_t seen = 0;  // the number of the last search that visited it
    std::uint32_t main = kNoPosition;
    std::uint32_t computed_input = 0;
    std::uint32_t forwarded_output = 0;
  };

  [[nodiscard]] bool works_by_element(const GraphNode& node) const {
    return node.op->family->lower_together != nullptr && !node.op->empty && node.op->output_count == 1;
  }

  [[nodiscard]] std::uint32_t group_of(const GraphSource& source) const {
    return source.kind == SourceKind::node ? group_of_[source.index] : kNoNumber;
  }

  // Calls use(group) for each group outside `together` that these nodes read from.
  template <class Use>
  void for_each_source(std::span<const std::uint32_t> nodes, Use use) const {
    for (const std::uint32_t node : nodes) {
      for (const GraphSource& source : graph_.nodes[node].sources) {
        if (const std::uint32_t group = group_of(source); group != kNoNumber) {
          use(group);
        }
      }
    }
  }

  void add(std::uint32_t node) {
    const GraphNode& of = graph_.nodes[node];
    Group built{.nodes = {node}, .open = works_by_element(of)};
    for_each_source(built.nodes,
                    [&](std::uint32_t group) { built.depth = std::max(built.depth, groups_[group].depth + 1); });
    const auto number = static_cast<std::uint32_t>(groups_.size());
    group_of_[node] = number;
    groups_.push_back(std::move(built));
    if (!groups_[number].open) {
      return;
    }
    Numbers candidates;
    for (const GraphSource& source : of.sources) {
      const std::uint32_t group = group_of(source);
      if (group != kNoNumber && groups_[group].open && std::ranges::find(candidates, group) == candidates.end()) {
        candidates.push_back(group);
      }
    }
    std::uint32_t own = number;
    if (candidates.size() > 1) {
      Numbers all = candidates;
      all.push_back(own);
      if (try_merge(all)) {
        return;
      }
    }
    for (const std::uint32_t candidate : candidates) {
      const std::uint32_t pair[] = {candidate, own};
      if (try_merge(pair)) {
        own = candidate;
      }
    }
  }

  [[nodiscard]] static bool is_among(std::span<const std::uint32_t> groups, std::uint32_t group) {
    return std::ranges::find(groups, group) != groups.end();
  }

  // Whether every reader of a value computed by these nodes reads each element at the position where it is computed.
  template <class View>
  [[nodiscard]] bool elements_meet(std::span<const std::uint32_t> nodes, const View& view) const {
    for (std::size_t reader = 0; reader < nodes.size(); ++reader) {
      const GraphNode& node = graph_.nodes[nodes[reader]];
      for (std::size_t input = 0; input < node.sources.size(); ++input) {
        if (node.sources[input].kind != SourceKind::node) {
          continue;
        }
        const auto maker = std::ranges::find(nodes, node.sources[input].index);
        if (maker != nodes.end() &&
            (node.sources[input].offset != 0 ||
             !same_layout(view(static_cast<std::size_t>(maker - nodes.begin()), graph_.nodes[*maker].op->input_count),
                          view(reader, input)))) {
          return false;
        }
      }
    }
    return true;
  }

  // The number of operands of the step: the values that are read from or written to memory. view(i, input) is the view
  // of an input of nodes[i].
  template <class View>
  [[nodiscard]] std::size_t count_operands(std::span<const std::uint32_t> nodes, const View& view) const {
    struct Load {
      std::uint32_t value;
      std::int64_t offset;
      const TensorDesc* view;
    };
    InlineVector<Load, 16> loads;
    std::size_t stores = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[nodes[i]];
      for (std::size_t input = 0; input < node.sources.size(); ++input) {
        const GraphSource& source = node.sources[input];
        if (source.kind == SourceKind::none ||
            (source.kind == SourceKind::node && std::ranges::find(nodes, source.index) != nodes.end())) {
          continue;
        }
        const Load load{.value = values_.of(source), .offset = source.offset, .view = &view(i, input)};
        const bool known = std::ranges::any_of(loads, [&](const Load& other) {
          return other.value == load.value && other.offset == load.offset && other.view->type == load.view->type &&
                 same_layout(*other.view, *load.view);
        });
        if (!known) {
          loads.push_back(load);
        }
      }
      stores += is_stored(nodes, nodes[i]) ? 1U : 0U;
    }
    return loads.size() + stores;
  }

  [[nodiscard]] bool is_stored(std::span<const std::uint32_t> nodes, std::uint32_t node,
                               std::uint32_t output = 0) const {
    const std::uint32_t value = values_.of_node(node, output);
    return kept_[value] || std::ranges::any_of(readers_[value], [&](std::uint32_t reader) {
             return std::ranges::find(nodes, reader) == nodes.end();
           });
  }

  // Whether a group that these groups read from itself depends on one of them, directly or indirectly. If these groups
  // have only a few readers, the search follows the readers; otherwise it follows the sources. If the search takes too
  // long, the function returns true, so that graphs of any size are compiled in bounded time.
  [[nodiscard]] bool is_in_between(std::span<const std::uint32_t> groups) {
    const std::optional<bool> found = leads_back(groups);
    return found ? *found : comes_from(groups);
  }

  // Whether one of these groups depends, directly or indirectly, on an outside reader of these groups. Returns no value
  // if there are too many readers.
  [[nodiscard]] std::optional<bool> leads_back(std::span<const std::uint32_t> groups) {
    constexpr std::size_t kMaxReaders = 64;
    std::uint32_t maximum = 0;
    for (const std::uint32_t group : groups) {
      maximum = std::max(maximum, groups_[group].depth);
    }
    ++search_;
    InlineVector<std::uint32_t, 16> open(groups);
    std::size_t readers = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      for (const std::uint32_t node : groups_[open[i]].nodes) {
        for (std::uint32_t output = 0; output < graph_.nodes[node].outputs.size(); ++output) {
          const std::span<const std::uint32_t> by = readers_[values_.of_node(node, output)];
          readers += 1 + by.size();
          if (readers > kMaxReaders) {
            return std::nullopt;
          }
          for (const std::uint32_t reader : by) {
            const std::uint32_t group = group_of_[reader];
            if (group == kNoNumber || groups_[group].seen == search_) {
              continue;
            }
            if (is_among(groups, group)) {
              if (i >= groups.size()) {
                return true;
              }
            } else if (groups_[group].depth < maximum) {
              groups_[group].seen = search_;
              open.push_back(group);
            }
          }
        }
      }
    }
    return false;
  }

  // Whether an outside group that these groups read from depends, directly or indirectly, on one of them.
  [[nodiscard]] bool comes_from(std::span<const std::uint32_t> groups) {
    constexpr std::size_t kLongest = 512;      // groups
    constexpr std::size_t kMaxSources = 8192;  // for these groups; a join may have any number of sources
    std::uint32_t minimum = kNoNumber;
    for (const std::uint32_t group : groups) {
      minimum = std::min(minimum, groups_[group].depth);
    }
    ++search_;
    std::vector<std::uint32_t> open;
    const auto visit = [&](std::uint32_t group) {
      if (groups_[group].seen != search_ && groups_[group].depth > minimum) {
        groups_[group].seen = search_;
        open.push_back(group);
      }
    };
    for (const std::uint32_t group : groups) {
      for_each_source(groups_[group].nodes, [&](std::uint32_t source) {
        if (!is_among(groups, source)) {
          visit(source);
        }
      });
    }
    bool found = false;
    std::size_t sources = 0;
    for (std::size_t i = 0; i < open.size() && !found; ++i) {
      for (const std::uint32_t node : groups_[open[i]].nodes) {
        sources += graph_.nodes[node].sources.size();
      }
      if (open.size() > kLongest || sources > kMaxSources) {
        return true;
      }
      for_each_source(groups_[open[i]].nodes, [&](std::uint32_t source) {
        found = found || is_among(groups, source);
        visit(source);
      });
    }
    return found;
  }

  // Makes all groups that read from this one, directly or indirectly, deeper than it.
  void raise_readers(std::uint32_t group) {
    InlineVector<std::uint32_t, 16> open = {group};
    while (!open.empty()) {
      const std::uint32_t low = open.back();
      open.resize(open.size() - 1);
      for (const std::uint32_t node : groups_[low].nodes) {
        for (std::uint32_t output = 0; output < graph_.nodes[node].outputs.size(); ++output) {
          for (const std::uint32_t reader : readers_[values_.of_node(node, output)]) {
            const std::uint32_t high = group_of_[reader];
            if (high != kNoNumber && high != low && groups_[high].depth <= groups_[low].depth) {
              groups_[high].depth = groups_[low].depth + 1;
              open.push_back(high);
            }
          }
        }
      }
    }
  }

  // Merges these groups into the first one if that is allowed.
  bool try_merge(std::span<const std::uint32_t> groups) {
    Numbers nodes;
    for (const std::uint32_t group : groups) {
      nodes.append(groups_[group].nodes);
    }
    if (nodes.size() > kMaxOfGroup) {
      return false;
    }
    std::ranges::sort(nodes, {}, [&](std::uint32_t node) { return positions_[node]; });
    InlineVector<std::uint32_t, 4> leaders;
    for (const std::uint32_t group : groups) {
      leaders.push_back(groups_[group].nodes.front());
    }
    auto views = views_.common(nodes, leaders);
    const auto view = [&](std::size_t i, std::size_t tensor) -> const TensorDesc& {
      return views->empty() ? views_.of(nodes[i], tensor) : (*views)[i][tensor];
    };
    if (!views || !elements_meet(nodes, view) || count_operands(nodes, view) > kMaxOperands || !merge(groups, nodes)) {
      return false;
    }
    for (std::size_t i = 0; i < views->size(); ++i) {
      views_.set(nodes[i], std::move((*views)[i]));
    }
    return true;
  }

  // Merges these groups into the first one if no other group comes between them.
  bool merge(std::span<const std::uint32_t> groups, const Numbers& nodes) {
    if (is_in_between(groups)) {
      return false;
    }
    std::uint32_t depth = 0;
    for_each_source(nodes, [&](std::uint32_t source) {
      depth = is_among(groups, source) ? depth : std::max(depth, groups_[source].depth + 1);
    });
    // Raising a group may raise all groups that depend on it, which would take too long in a very large graph.
    constexpr std::size_t kMany = 8192;
    if (nodes_.size() > kMany && depth > groups_[groups.front()].depth) {
      return false;
    }
    for (const std::uint32_t group : groups) {
      groups_[group].nodes.clear();
    }
    for (const std::uint32_t node : nodes) {
      group_of_[node] = groups.front();
    }
    Group& merged = groups_[groups.front()];
    merged.depth = std::max(merged.depth, depth);
    merged.nodes = nodes;
    raise_readers(groups.front());
    return true;
  }

  // Joins a node that is not element-wise with the groups before and after it, which are complete.
  void join(std::uint32_t node) {
    const OpDesc& op = *graph_.nodes[node].op;
    if (op.family->joins == nullptr || op.empty || !device_.joins_family(static_cast<std::uint32_t>(op.family->id)) ||
        element_count(op.tensors[0].tensor) < device_.joins_from) {
      return;
    }
    const Joins joins = op.family->joins(op, device_);
    // The mask covers only the first 64 tensors, although an operator may have more.
    for (std::uint64_t left = joins.inputs; left != 0; left &= left - 1) {
      if (join_before(node, static_cast<std::uint32_t>(std::countr_zero(left)))) {
        break;
      }
    }
    for (std::uint64_t left = joins.outputs; left != 0; left &= left - 1) {
      if (join_after(node, static_cast<std::uint32_t>(std::countr_zero(left)))) {
        break;
      }
    }
  }

  bool join_before(std::uint32_t node, std::uint32_t input) {
    const auto& sources = graph_.nodes[node].sources;
    const GraphSource& source = sources[input];
    const std::uint32_t before = group_of(source);
    if (before == kNoNumber || !groups_[before].open || source.offset != 0) {
      return false;
    }
    // The node's other inputs must be available when the group begins.
    for (std::uint32_t other = 0; other < sources.size(); ++other) {
      if (other != input && group_of(sources[other]) == before) {
        return false;
      }
    }
    const TensorDesc& built = views_.of_result(source.index);
    const TensorDesc& read = graph_.nodes[node].op->tensors[input].tensor;
    const Numbers& makers = groups_[before].nodes;
    Numbers nodes = makers;
    nodes.push_back(node);
    // A value that other nodes also read is stored in memory, which adds one operand.
    const std::size_t more = is_stored(nodes, source.index) ? 1 : 0;
    if (!is_packed(built) || element_size(built.type) != element_size(read.type) ||
        element_count(built) != element_count(read) || nodes.size() > kMaxOfGroup || !runs_along(makers) ||
        count_operands(makers,
                       [&](std::size_t i, std::size_t of) -> const TensorDesc& { return views_.of(makers[i], of); }) +
                more >
            kMaxOperands) {
      return false;
    }
    const std::uint32_t groups[] = {before, group_of_[node]};
    if (!merge(groups, nodes)) {
      return false;
    }
    groups_[before].open = false;
    groups_[before].main = static_cast<std::uint32_t>(nodes.size() - 1);
    groups_[before].computed_input = input;
    return true;
  }

  bool join_after(std::uint32_t node, std::uint32_t output) {
    const std::uint32_t own = group_of_[node];
    std::uint32_t after = kNoNumber;
    if (kept_[values_.of_node(node, output)]) {
      return false;
    }
    for (const std::uint32_t reader : readers_[values_.of_node(node, output)]) {
      if (after != kNoNumber && group_of_[reader] != after) {
        return false;
      }
      after = group_of_[reader];
    }
    Numbers nodes = groups_[own].nodes;
    if (after == kNoNumber || after == own || !groups_[after].open) {
      return false;
    }
    const Numbers& next = groups_[after].nodes;
    if (nodes.size() + next.size() > kMaxOfGroup || !runs_along(next)) {
      return false;
    }
    const TensorDesc& built = graph_.nodes[node].op->outputs()[output].tensor;
    for (const std::uint32_t reader : next) {
      const auto& sources = graph_.nodes[reader].sources;
      for (std::size_t input = 0; input < sources.size(); ++input) {
        if (group_of(sources[input]) != own) {
          continue;
        }
        const TensorDesc& read = views_.of(reader, input);
        if (sources[input].index != node || sources[input].output != output || sources[input].offset != 0 ||
            read.type != built.type || !is_packed(read) || element_count(read) != element_count(built)) {
          return false;
        }
      }
    }
    nodes.append(next);
    const auto main = static_cast<std::uint32_t>(groups_[own].nodes.size() - 1);
    const std::uint32_t groups[] = {own, after};
    if (!merge(groups, nodes)) {
      return false;
    }
    groups_[own].open = false;
    groups_[own].main = main;
    groups_[own].forwarded_output = output;
    return true;
  }

  // Whether everything that these nodes read and write in memory is contiguous or broadcast along the last dimension.
  // Rows are computed one after another, and memory with any other layout would be read again and again.
  [[nodiscard]] bool runs_along(std::span<const std::uint32_t> nodes) const {
    return std::ranges::all_of(nodes, [&](std::uint32_t node) {
      const OpDesc& op = *graph_.nodes[node].op;
      for (std::size_t i = 0; i < op.tensors.size(); ++i) {
        const TensorDesc& view = views_.of(node, i);
        std::uint32_t last = view.rank;
        while (last > 0 && view.sizes[last - 1] == 1) {
          --last;
        }
        const bool is_output = i >= op.input_count;
        if (op.tensors[i].present && last > 0 && view.strides[last - 1] != 1 &&
            (is_output || view.strides[last - 1] != 0)) {
          return false;
        }
      }
      return true;
    });
  }

  // Whether an output of a main node needs no memory unless a node outside the group reads it: it is forwarded, or it
  // is a view.
  [[nodiscard]] bool is_left_out(const GraphGroup& group, std::uint32_t node, std::uint32_t output) const {
    const OpDesc& op = *graph_.nodes[node].op;
    const bool is_forwarded = group.main != kNoPosition && group.main + 1 < group.nodes.size() &&
                              node == group.nodes[group.main] && output == group.forwarded_output;
    return is_forwarded ||
           (op.family->views_of_inputs != nullptr && !op.empty && op.family->views_of_inputs(op)[output].has_value());
  }

  [[nodiscard]] GraphGroup finished(Group& group) {
    GraphGroup result{.nodes = std::move(group.nodes),
                      .main = group.main,
                      .computed_input = group.computed_input,
                      .forwarded_output = group.forwarded_output,
                      .views = {},
                      .reads = {},
                      .writes = {}};
    result.views = views_.take(result.nodes);
    for (const std::uint32_t node : result.nodes) {
      for (const GraphSource& source : graph_.nodes[node].sources) {
        if (source.kind == SourceKind::none ||
            (source.kind == SourceKind::node && std::ranges::find(result.nodes, source.index) != result.nodes.end())) {
          continue;
        }
        if (const std::uint32_t value = values_.of(source); !is_read_[value]) {
          is_read_[value] = true;
          result.reads.push_back(value);
        }
      }
    }
    for (const std::uint32_t value : result.reads) {
      is_read_[value] = false;  // reset for the next group
    }
    for (const std::uint32_t node : result.nodes) {
      const GraphNode& of = graph_.nodes[node];
      // Element-wise operators write only values that have readers outside the group. Other operators write all their
      // outputs, except an output that is forwarded and a view without readers.
      const bool is_main =
          result.nodes.size() == 1 || (result.main != kNoPosition && node == result.nodes[result.main]);
      for (std::uint32_t output = 0; output < of.outputs.size(); ++output) {
        if (of.outputs[output].bytes != 0 && of.op->outputs()[output].present &&
            (is_stored(result.nodes, node, output) || (is_main && !is_left_out(result, node, output)))) {
          result.writes.push_back(values_.of_node(node, output));
        }
      }
    }
    return result;
  }

  const Graph& graph_;
  const ValueNumbers& values_;
  const std::span<const std::uint32_t> nodes_;
  const ValueSet& kept_;
  const DeviceTraits& device_;
  std::vector<std::uint32_t> group_of_;  // for each node
  NodeViews views_;
  const Readers readers_;                 // among nodes_
  std::vector<std::uint32_t> positions_;  // for each node, its position in nodes_
  std::vector<Group> groups_;
  ValueSet is_read_;  // whether the group that is being completed reads the value
  std::uint32_t search_ = 0;
};

}  // namespace

std::vector<GraphGroup> fuse(const Graph& graph, const ValueNumbers& values, std::span<const std::uint32_t> nodes,
                             const ValueSet& kept, const DeviceTraits& device) {
  return Fuser(graph, values, nodes, kept, device).fuse();
}

}  // namespace anydml
