// SPDX-License-Identifier: MIT
// Draws a graph with Graphviz.
#include <algorithm>

#include "base/quoted.h"
#include "base/shape.h"
#include "graph/passes.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr DeviceTraits kJoining{.joins_from = 1};

// Quotes a label for Graphviz.
std::string label_of(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + "\"";
}

std::string dot_name(const GraphSource& source) {
  switch (source.kind) {
    case SourceKind::input:
      return format_text("input{}", source.index);
    case SourceKind::constant:
      return format_text("constant{}", source.index);
    default:
      return format_text("n{}", source.index);
  }
}

class Dot {
 public:
  explicit Dot(const Graph& graph) : graph_(graph) {}

  std::string draw(bool in_steps) {
    text_ = "digraph {\n  node [shape=box, fontname=\"sans-serif\"];\n";
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      add_leaf(format_text("input{}", i), graph_.inputs[i].owned ? "ellipse, style=bold" : "ellipse");
    }
    for (std::uint32_t i = 0; i < graph_.constants.size(); ++i) {
      add_leaf(format_text("constant{}", i), "ellipse, style=dashed");
    }
    const auto sorted = sorted_nodes(graph_);
    if (in_steps && sorted.ok()) {
      add_steps(prune(graph_, sorted.value()));
    } else {
      for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
        add_node(i, "  ");
      }
    }
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      for (std::size_t input = 0; input < graph_.nodes[i].sources.size() && drawn_[i]; ++input) {
        if (const GraphSource& source = graph_.nodes[i].sources[input]; source.kind != SourceKind::none) {
          const TensorDesc& tensor = graph_.nodes[i].op->tensors[input].tensor;
          text_ += format_text("  {} -> n{} [label=\"{}{}\"];\n", dot_name(source), i, type_name(tensor.type),
                               shape_text(tensor.sizes, tensor.rank));
        }
      }
    }
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i) {
      add_leaf(format_text("output{}", i), "ellipse");
      text_ += format_text("  {} -> output{};\n", dot_name(graph_.outputs[i]), i);
    }
    return text_ + "}\n";
  }

 private:
  void add_leaf(const std::string& name, const char* shape) { text_ += format_text("  {} [shape={}];\n", name, shape); }

  void add_node(std::uint32_t node, const char* indent) {
    const GraphNode& of = graph_.nodes[node];
    const std::string name(of.op->op->name);
    text_ += format_text("{}n{} [label={}];\n", indent, node,
                         label_of(of.name.empty() ? name : escaped(of.name, kMaxQuotedBytes) + ": " + name));
    drawn_[node] = true;
  }

  // Draws a frame around the nodes of each step. Folded nodes have a dashed frame.
  void add_steps(const std::vector<std::uint32_t>& nodes) {
    const ValueNumbers values(graph_);
    const NodeSet folded = fold(graph_, nodes);
    ValueSet kept(values.count());
    for (const GraphSource& output : graph_.outputs) {
      kept[values.of(output)] = true;
    }
    ValueSet kept_before = kept;
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> after;
    for (const std::uint32_t node : nodes) {
      (folded[node] ? before : after).push_back(node);
      for (const GraphSource& source : graph_.nodes[node].sources) {
        if (!folded[node] && source.kind == SourceKind::node) {
          kept_before[values.of(source)] = true;
        }
      }
    }
    std::size_t step = 0;
    for (const bool is_run : {false, true}) {
      for (const GraphGroup& group :
           fuse(graph_, values, is_run ? after : before, is_run ? kept : kept_before, kJoining)) {
        text_ += format_text("  subgraph cluster{} {{\n    style={};\n", step++, is_run ? "solid" : "dashed");
        for (const std::uint32_t node : group.nodes) {
          add_node(node, "    ");
        }
        text_ += "  }\n";
      }
    }
  }

  const Graph& graph_;
  std::vector<bool> drawn_ = std::vector<bool>(graph_.nodes.size());
  std::string text_;
};

}  // namespace

Result<std::string> graph_dot(const Graph& graph, bool in_steps) {
  if (in_steps) {
    const auto expanded = expand(graph, kJoining);
    ANYDML_TRY(expanded);
    const Graph& whole = expanded.value() ? *expanded.value() : graph;
    const auto sorted = sorted_nodes(whole);
    const std::vector<std::uint32_t> needed = sorted.ok() ? prune(whole, sorted.value()) : std::vector<std::uint32_t>();
    return has_views(whole, needed) ? Dot(alias(whole, needed)).draw(true) : Dot(whole).draw(true);
  }
  return Dot(graph).draw(in_steps);
}

}  // namespace anydml
