// SPDX-License-Identifier: MIT
#include "graph/graph.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "base/quoted.h"
#include "base/shape.h"
#include "schema/described.h"
#include "text/format.h"

namespace anydml {
namespace {

std::string offset_text(const GraphSource& source) {
  switch (source.kind) {
    case SourceKind::none:
      return "-";
    case SourceKind::input:
      return format_text("input{}", source.index);
    case SourceKind::constant:
      return format_text("constant{}", source.index);
    case SourceKind::node:
      break;
  }
  return source.output == 0 ? format_text("%{}", source.index) : format_text("%{}.{}", source.index, source.output);
}

std::string source_text(const GraphSource& source) {
  return source.offset == 0 ? offset_text(source) : format_text("{}{:+}", offset_text(source), source.offset);
}

std::string tensor_text(const OpTensor& tensor) {
  if (!tensor.present) {
    return "-";
  }
  TensorDesc packed = tensor.tensor;
  std::string text = format_text("{}{}", type_name(packed.type), shape_text(packed.sizes, packed.rank));
  if (!set_packed_strides(packed) || !std::equal(packed.strides, packed.strides + packed.rank, tensor.tensor.strides)) {
    text += format_text("/{}", shape_text(tensor.tensor.strides, tensor.tensor.rank));
  }
  return text;
}

// Lists the nodes of a cycle among the remaining nodes, starting and ending with the same node.
std::string cycle_text(const Graph& graph, const std::vector<std::uint32_t>& unmet) {
  auto node =
      static_cast<std::uint32_t>(std::ranges::find_if(unmet, [](std::uint32_t n) { return n != 0; }) - unmet.begin());
  std::vector<std::uint32_t> way;
  std::vector<bool> seen(graph.nodes.size());
  while (!seen[node]) {  // each remaining node depends on another remaining node
    seen[node] = true;
    way.push_back(node);
    for (const GraphSource& source : graph.nodes[node].sources) {
      if (source.kind == SourceKind::node && unmet[source.index] != 0) {
        node = source.index;
        break;
      }
    }
  }
  way.erase(way.begin(), std::ranges::find(way, node));
  std::string text;
  constexpr std::size_t kMaxNamed = 6;
  for (std::size_t i = 0; i < std::min(way.size(), kMaxNamed); ++i) {
    text += node_label(graph, way[i]) + ", which needs ";
  }
  return text +
         (way.size() > kMaxNamed ? format_text("{} more, the last of which needs ", way.size() - kMaxNamed)
                                 : std::string()) +
         node_label(graph, node);
}

}  // namespace

Graph graph_of(std::shared_ptr<const OpDesc> op, std::vector<GraphInput> inputs, std::vector<Extent> outputs) {
  Graph graph;
  graph.inputs = std::move(inputs);
  GraphNode node{.op = std::move(op),
                 .sources = {},
                 .outputs = InlineVector<Extent, 1>(outputs),
                 .name = {},
                 .number = {},
                 .alone = true};
  for (std::uint32_t i = 0; i < node.op->input_count; ++i) {
    node.sources.push_back(node.op->tensors[i].present ? GraphSource{.kind = SourceKind::input, .index = i}
                                                       : GraphSource{});
  }
  for (std::uint32_t i = 0; i < node.op->output_count; ++i) {
    graph.outputs.push_back({.kind = SourceKind::node, .index = 0, .output = i});
    if (!node.op->outputs()[i].present) {
      graph.absent_outputs.push_back(i);
    }
  }
  graph.nodes.push_back(std::move(node));
  return graph;
}

Graph graph_of(std::shared_ptr<const OpDesc> op) {
  std::vector<GraphInput> inputs;
  std::vector<Extent> outputs;
  for (std::uint32_t i = 0; i < op->tensors.size(); ++i) {
    const OpTensor& tensor = op->tensors[i];
    const Extent extent{.bytes = static_cast<std::uint64_t>(tensor.reach.end - tensor.reach.first),
                        .alignment = tensor.present ? element_alignment(tensor.tensor.type) : 1};
    if (i < op->input_count) {
      inputs.push_back({.extent = extent});
    } else {
      outputs.push_back(extent);
    }
  }
  return graph_of(std::move(op), std::move(inputs), std::move(outputs));
}

const Extent& extent_of(const Graph& graph, const GraphSource& source) {
  switch (source.kind) {
    case SourceKind::input:
      return graph.inputs[source.index].extent;
    case SourceKind::constant:
      return graph.constants[source.index];
    default:
      return graph.nodes[source.index].outputs[source.output];
  }
}

std::string node_label(const Graph& graph, std::uint32_t node) {
  const GraphNode& of = graph.nodes[node];
  const std::uint32_t number = of.number.value_or(node);
  const std::string name = with_name(of.op->op->name, of.name);
  return of.alone ? name : format_text("node {} ({})", number, name);
}

Error in_node(const Graph& graph, std::uint32_t node, const Error& error) {
  return {error.kind, format_text("{}: {}", node_label(graph, node), error.message)};
}

Result<std::vector<std::uint32_t>> sorted_nodes(const Graph& graph) {
  const std::size_t count = graph.nodes.size();
  const auto comes_later = [&graph](std::uint32_t node) {
    return std::ranges::all_of(graph.nodes[node].sources, [node](const GraphSource& source) {
      return source.kind != SourceKind::node || source.index < node;
    });
  };
  std::vector<std::uint32_t> given(count);
  std::iota(given.begin(), given.end(), 0U);
  if (std::ranges::all_of(given, comes_later)) {  // this is true for every graph of the C API
    return given;
  }
  std::vector<std::uint32_t> unmet(count);
  std::vector<std::vector<std::uint32_t>> readers(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const GraphSource& source : graph.nodes[i].sources) {
      if (source.kind == SourceKind::node) {
        ++unmet[i];
        readers[source.index].push_back(i);
      }
    }
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (unmet[i] == 0) {
      ready.push(i);
    }
  }
  std::vector<std::uint32_t> order;
  order.reserve(count);
  while (!ready.empty()) {
    const std::uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const std::uint32_t reader : readers[node]) {
      if (--unmet[reader] == 0) {
        ready.push(reader);
      }
    }
  }
  if (order.size() != count) {
    return Error{ErrorKind::invalid_argument,
                 format_text("the edges form a cycle: {}; expected a graph without cycles", cycle_text(graph, unmet))};
  }
  return order;
}

std::string graph_text(const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput& input = graph.inputs[i];
    text += input.extent.bytes == 0
                ? format_text("input{}: not used\n", i)
                : format_text("input{}: {} bytes{}\n", i, input.extent.bytes, input.owned ? ", owned" : "");
  }
  for (std::size_t i = 0; i < graph.constants.size(); ++i) {
    text += format_text("constant{}: {} bytes\n", i, graph.constants[i].bytes);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    std::string outputs;
    for (const OpTensor& output : node.op->outputs()) {
      outputs += (outputs.empty() ? "" : ", ") + tensor_text(output);
    }
    std::string inputs;
    for (std::size_t input = 0; input < node.sources.size(); ++input) {
      inputs +=
          (input == 0 ? "" : ", ") + source_text(node.sources[input]) + ":" + tensor_text(node.op->tensors[input]);
    }
    const std::string attributes = schema::attributes_text(*node.op->op, node.op->arguments);
    text += format_text("{}: {} = {}({}{}{})\n", with_name(format_text("%{}", i), node.name), outputs,
                        node.op->op->name, inputs, inputs.empty() || attributes.empty() ? "" : "; ", attributes);
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    text += format_text("output{}: {}\n", i, source_text(graph.outputs[i]));
  }
  return text;
}

}  // namespace anydml
