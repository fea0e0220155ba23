// SPDX-License-Identifier: MIT
// Removes the cost of views: the reader of a slice reads the memory behind the slice, and the producer of a join's
// input writes directly to the location to which the join would have copied the input.
#include <algorithm>
#include <unordered_map>

#include "graph/passes.h"
#include "plan/reshape.h"

namespace anydml {
namespace {

// The number of contiguous bytes in a tensor, counted from its last dimension.
std::int64_t contiguous_bytes(const TensorDesc& tensor) {
  auto elements = std::int64_t{1};
  for (std::uint32_t i = tensor.rank; i-- > 0;) {
    if (tensor.sizes[i] != 1) {
      if (tensor.strides[i] != elements) {
        break;
      }
      elements *= tensor.sizes[i];
    }
  }
  return elements * static_cast<std::int64_t>(element_size(tensor.type));
}

class Aliaser {
 public:
  Aliaser(Graph graph, std::vector<std::uint32_t> sorted)
      : graph_(std::move(graph)), sorted_(std::move(sorted)), is_output_(graph_.nodes.size()) {
    for (const GraphSource& output : graph_.outputs) {
      is_output_[output.index] = true;
    }
  }

  // Processes the views in order, so that the reader of a view of a view reads the original memory.
  void read_through_views() {
    find_readers();
    for (const std::uint32_t node : sorted_) {
      const OpDesc& op = *graph_.nodes[node].op;
      if (op.family->views_of_inputs != nullptr && !op.empty) {
        read_through(node, op.family->views_of_inputs(op));
      }
    }
  }

  // Processes the last join first, so that an input of a nested join is written directly into the outermost one.
  void write_into_joins(const NodeSet& folded) {
    find_readers();
    for (std::size_t i = sorted_.size(); i-- > 0;) {
      const std::uint32_t node = sorted_[i];
      const OpDesc& op = *graph_.nodes[node].op;
      if (op.family->views_in_outputs == nullptr || op.empty) {
        continue;
      }
      const TensorViews output_views = op.family->views_in_outputs(op);
      for (std::uint32_t input = 0; input < op.input_count; ++input) {
        const GraphSource& source = graph_.nodes[node].sources[input];
        if (output_views[input] && source.kind == SourceKind::node && !folded[source.index]) {
          write_into(node, input, *output_views[input]);
        }
      }
    }
  }

  Graph take() { return std::move(graph_); }

 private:
  struct Reader {
    std::uint32_t node;
    std::uint32_t input;
  };

  // An operator with another layout of one of its tensors.
  struct Changed {
    std::size_t position;
    TensorDesc tensor;
    std::shared_ptr<const OpDesc> op;
  };
  struct Changes {
    std::shared_ptr<const OpDesc> of;  // keeps the address in use, so that it identifies the operator
    std::vector<Changed> known;
  };

  // Changes the layout of one tensor of a node's operator. Equal nodes of equal layers share the changed operator too.
  void set_tensor(std::uint32_t node, std::size_t position, const TensorDesc& tensor) {
    constexpr std::size_t kManyChanges = 16;  // of one operator; comparing with more would take too long
    std::shared_ptr<const OpDesc>& op = graph_.nodes[node].op;
    Changes& changes = changes_[op.get()];
    changes.of = op;
    const auto before = std::ranges::find_if(changes.known, [&](const Changed& one) {
      return one.position == position && one.tensor.type == tensor.type && one.tensor.rank == tensor.rank &&
             std::equal(tensor.sizes, tensor.sizes + tensor.rank, one.tensor.sizes) &&
             std::equal(tensor.strides, tensor.strides + tensor.rank, one.tensor.strides);
    });
    if (before != changes.known.end()) {
      op = before->op;
      return;
    }
    auto changed = std::make_shared<OpDesc>(*op);
    changed->tensors[position].tensor = tensor;
    changed->tensors[position].reach = reach_of(tensor);
    op = std::move(changed);
    if (changes.known.size() < kManyChanges) {
      changes.known.push_back({.position = position, .tensor = tensor, .op = op});
    }
  }

  void find_readers() {
    readers_.assign(graph_.nodes.size(), {});
    for (const std::uint32_t node : sorted_) {
      const auto& sources = graph_.nodes[node].sources;
      for (std::uint32_t input = 0; input < sources.size(); ++input) {
        if (sources[input].kind == SourceKind::node) {
          readers_[sources[input].index].push_back({.node = node, .input = input});
        }
      }
    }
  }

  // `views` contains the views of the node's outputs.
  void read_through(std::uint32_t node, const TensorViews& views) {
    const OpDesc& op = *graph_.nodes[node].op;
    Readers left;
    for (const Reader& reader : readers_[node]) {
      GraphNode& other = graph_.nodes[reader.node];
      GraphSource& source = other.sources[reader.input];
      const auto& view = views[source.output];
      const auto seen = view ? seen_through(other.op->tensors[reader.input].tensor, source.offset,
                                            op.outputs()[source.output].tensor, view->tensor)
                             : std::nullopt;
      if (!seen) {
        left.push_back(reader);
        continue;
      }
      const GraphSource& from = graph_.nodes[node].sources[view->of];
      source = from;
      source.offset += view->offset + seen->offset;
      set_tensor(reader.node, reader.input, seen->tensor);
      if (from.kind == SourceKind::node) {
        readers_[from.index].push_back(reader);
      }
    }
    readers_[node] = std::move(left);
  }

  // output_view is the location of the join's input in its output.
  void write_into(std::uint32_t join, std::uint32_t input, const TensorView& output_view) {
    constexpr std::size_t kManyReaders = 64;  // checking more readers for each join would take too long
    constexpr std::int64_t kShort = 64;       // bytes; a join copies shorter runs faster itself, a cache line at a time
    const OpDesc& op = *graph_.nodes[join].op;
    const GraphSource source = graph_.nodes[join].sources[input];
    GraphNode& maker = graph_.nodes[source.index];
    const bool keeps_elements = !maker.op->internal.empty() && maker.op->op->in_place != facts::InPlace::none;
    if (is_output_[source.index] || maker.op->empty || keeps_elements || readers_[source.index].size() > kManyReaders ||
        (source.output < maker.inside.size() && maker.inside[source.output].kind != SourceKind::none)) {
      return;
    }
    const TensorDesc& read = op.tensors[input].tensor;
    const TensorDesc& result = maker.op->outputs()[source.output].tensor;
    const auto written = seen_through(result, -source.offset, read, output_view.tensor);
    if (!written || element_count(result) != element_count(read) || result.type == DataType::unknown ||
        (contiguous_bytes(written->tensor) < kShort && !is_packed(written->tensor))) {
      return;
    }
    // All other readers must then read the value from the join's output.
    struct Change {
      Reader reader;
      SeenTensor seen;
    };
    std::vector<Change> changes;
    for (const Reader& reader : readers_[source.index]) {
      const GraphNode& other = graph_.nodes[reader.node];
      const GraphSource& from = other.sources[reader.input];
      if (from.output != source.output) {
        continue;
      }
      if (reader.node == join) {
        if (reader.input != input) {
          return;  // the join reads this input twice
        }
        continue;
      }
      const auto seen =
          seen_through(other.op->tensors[reader.input].tensor, from.offset - source.offset, read, output_view.tensor);
      if (!seen) {
        return;
      }
      changes.push_back({reader, *seen});
    }
    for (const Change& change : changes) {
      GraphNode& other = graph_.nodes[change.reader.node];
      other.sources[change.reader.input].offset = change.seen.offset - written->offset;
      set_tensor(change.reader.node, change.reader.input, change.seen.tensor);
    }
    maker.inside.resize(maker.outputs.size());
    maker.inside[source.output] = {.kind = SourceKind::node,
                                   .index = join,
                                   .output = output_view.of,
                                   .offset = output_view.offset + written->offset};
    set_tensor(source.index, maker.op->input_count + source.output, written->tensor);
  }

  Graph graph_;
  const std::vector<std::uint32_t> sorted_;
  using Readers = InlineVector<Reader, 4>;
  std::vector<Readers> readers_;  // for each node
  std::unordered_map<const OpDesc*, Changes> changes_;
  NodeSet is_output_;  // whether an output of the node is an output of the graph
};

}  // namespace

bool has_views(const Graph& graph, std::span<const std::uint32_t> order) {
  return order.size() > 1 && std::ranges::any_of(order, [&](std::uint32_t node) {
           const Family& family = *graph.nodes[node].op->family;
           return family.views_of_inputs != nullptr || family.views_in_outputs != nullptr;
         });
}

Graph alias(Graph graph, std::span<const std::uint32_t> order) {
  const std::vector<std::uint32_t> sorted(order.begin(), order.end());
  Aliaser views(std::move(graph), sorted);
  views.read_through_views();
  Graph seen = views.take();
  // Nodes that were only views are now unused, or they copy to an output.
  std::vector<std::uint32_t> left = prune(seen, sorted);
  const NodeSet folded = fold(seen, left);
  Aliaser joins(std::move(seen), std::move(left));
  joins.write_into_joins(folded);
  return joins.take();
}

}  // namespace anydml
