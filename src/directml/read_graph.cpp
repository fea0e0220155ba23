// SPDX-License-Identifier: MIT
#include "directml/read_graph.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/quoted.h"
#include "directml/objects.h"
#include "text/format.h"

namespace anydml {
namespace {

// Limits beyond what any program uses, but low enough that a wrong count does no harm.
constexpr UINT kMaxInputs = 1 << 20;
constexpr UINT kMaxNodes = 1 << 24;

Status check_count(const char* count_name, UINT count, UINT maximum, const char* array_name, const void* array) {
  if (count > maximum) {
    return wrong(format_text("{} is {}; expected at most {}", count_name, count, maximum));
  }
  if (count != 0 && array == nullptr) {
    return wrong(format_text("{} is null and {} is {}; expected an array", array_name, count_name, count));
  }
  return {};
}

// The name of an edge in messages: "InputEdges[3] 'weights'".
struct EdgeWords {
  const char* array;
  UINT index;
  const char* name;

  [[nodiscard]] std::string text() const { return with_name(format_text("{}[{}]", array, index), name_of(name)); }
};

class GraphReader {
 public:
  GraphReader(const DML_GRAPH_DESC& desc, const DmlCore& core) : desc_(desc), core_(core) {}

  Result<GraphDef> read() {
    ANYDML_TRY(check_counts());
    ANYDML_TRY(read_nodes());
    result_.graph.inputs.resize(desc_.InputCount);
    result_.graph.outputs.resize(desc_.OutputCount);
    result_.surface.kind = "graph";
    result_.surface.input_count = desc_.InputCount;
    result_.surface.tensors.resize(std::size_t{desc_.InputCount} + desc_.OutputCount);
    port_names_.resize(result_.surface.tensors.size());
    ANYDML_TRY(read_edges("InputEdges", desc_.InputEdges, desc_.InputEdgeCount, DML_GRAPH_EDGE_TYPE_INPUT,
                          &GraphReader::add_input_edge));
    ANYDML_TRY(read_edges("IntermediateEdges", desc_.IntermediateEdges, desc_.IntermediateEdgeCount,
                          DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &GraphReader::add_intermediate_edge));
    ANYDML_TRY(read_edges("OutputEdges", desc_.OutputEdges, desc_.OutputEdgeCount, DML_GRAPH_EDGE_TYPE_OUTPUT,
                          &GraphReader::add_output_edge));
    ANYDML_TRY(check_fed());
    for (UINT i = 0; i < result_.surface.tensors.size(); ++i) {
      result_.surface.tensors[i].name = port_text(i);
    }
    return std::move(result_);
  }

 private:
  // How the internal graph represents a node of the description.
  struct NodeReference {
    SourceKind kind = SourceKind::none;  // node or constant
    std::uint32_t index = 0;
    const OperatorDef* def = nullptr;  // null unless the node is an operator
  };

  Status check_counts() const {
    ANYDML_TRY(check_count("NodeCount", desc_.NodeCount, kMaxNodes, "Nodes", desc_.Nodes));
    ANYDML_TRY(check_count("InputEdgeCount", desc_.InputEdgeCount, kMaxNodes, "InputEdges", desc_.InputEdges));
    ANYDML_TRY(check_count("OutputEdgeCount", desc_.OutputEdgeCount, kMaxNodes, "OutputEdges", desc_.OutputEdges));
    ANYDML_TRY(check_count("IntermediateEdgeCount", desc_.IntermediateEdgeCount, kMaxNodes, "IntermediateEdges",
                           desc_.IntermediateEdges));
    if (desc_.InputCount > kMaxInputs || desc_.OutputCount > kMaxInputs) {
      return wrong(format_text("InputCount is {} and OutputCount is {}; expected at most {} each", desc_.InputCount,
                               desc_.OutputCount, kMaxInputs));
    }
    if (desc_.NodeCount == 0 || desc_.OutputCount == 0) {
      return wrong(format_text("{} is 0; expected one or more", desc_.NodeCount == 0 ? "NodeCount" : "OutputCount"));
    }
    return {};
  }

  Status read_nodes() {
    references_.resize(desc_.NodeCount);
    for (UINT i = 0; i < desc_.NodeCount; ++i) {
      const DML_GRAPH_NODE_DESC& node = desc_.Nodes[i];
      const bool has_constants = core_.level() >= facts::FeatureLevel::v6_2;
      const auto type = static_cast<unsigned>(node.Type);
      if (type != DML_GRAPH_NODE_TYPE_OPERATOR && !(type == DML_GRAPH_NODE_TYPE_CONSTANT && has_constants)) {
        return wrong(format_text("Nodes[{}].Type is {}; expected DML_GRAPH_NODE_TYPE_OPERATOR (1){}", i, type,
                                 has_constants ? " or CONSTANT (2)" : ", since CONSTANT came with level 6_2"));
      }
      if (node.Desc == nullptr) {
        return wrong(format_text("Nodes[{}].Desc is null; expected the desc of the node", i));
      }
      if (type == DML_GRAPH_NODE_TYPE_OPERATOR) {
        ANYDML_TRY(add_operator(i, *static_cast<const DML_OPERATOR_GRAPH_NODE_DESC*>(node.Desc)));
      } else {
        ANYDML_TRY(add_constant(i, *static_cast<const DML_CONSTANT_DATA_GRAPH_NODE_DESC*>(node.Desc)));
      }
    }
    return {};
  }

  Status add_operator(UINT i, const DML_OPERATOR_GRAPH_NODE_DESC& node) {
    const auto* known = own<DmlOperator>(node.Operator, core_);
    if (known == nullptr) {
      return wrong(format_text("{} is {}; expected an operator of this device",
                               with_name(format_text("Nodes[{}].Operator", i), name_of(node.Name)),
                               node.Operator == nullptr ? "null" : "another device's"));
    }
    references_[i] = {.kind = SourceKind::node,
                      .index = static_cast<std::uint32_t>(result_.graph.nodes.size()),
                      .def = known->def().get()};
    number_of_.push_back(i);
    std::string name = name_of(node.Name);
    result_.graph.nodes.push_back(node_of(known->def(), name.empty() ? known->name() : std::move(name)));
    result_.graph.nodes.back().number = i;
    return {};
  }

  Status add_constant(UINT i, const DML_CONSTANT_DATA_GRAPH_NODE_DESC& node) {
    if (node.Data == nullptr || node.DataSize == 0) {
      return wrong(format_text("{}: {}; expected the data of a constant",
                               with_name(format_text("Nodes[{}]", i), name_of(node.Name)),
                               node.Data == nullptr ? "Data is null" : "DataSize is 0"));
    }
    references_[i] = {.kind = SourceKind::constant, .index = static_cast<std::uint32_t>(result_.constants.size())};
    result_.constants.push_back({static_cast<const std::byte*>(node.Data), node.DataSize});
    result_.graph.constants.push_back({.bytes = node.DataSize, .alignment = 1});
    constant_names_.push_back(name_of(node.Name));
    return {};
  }

  static GraphNode node_of(const std::shared_ptr<const OperatorDef>& def, std::string name) {
    GraphNode node{
        .op = std::shared_ptr<const OpDesc>(def, &def->desc), .sources = {}, .outputs = {}, .name = {}, .number = {}};
    node.sources.resize(def->input_count());
    for (std::size_t i = def->input_count(); i < def->tensors.size(); ++i) {
      node.outputs.push_back({.bytes = def->tensors[i].bytes, .alignment = def->tensors[i].alignment});
    }
    node.name = std::move(name);
    return node;
  }

  template <class Add>
  Status read_edges(const char* array, const DML_GRAPH_EDGE_DESC* edges, UINT count, DML_GRAPH_EDGE_TYPE type,
                    Add add) {
    for (UINT i = 0; i < count; ++i) {
      if (edges[i].Type != type) {
        return wrong(format_text("{}[{}].Type is {}; expected {}", array, i, static_cast<unsigned>(edges[i].Type),
                                 static_cast<unsigned>(type)));
      }
      if (edges[i].Desc == nullptr) {
        return wrong(format_text("{}[{}].Desc is null; expected the desc of the edge", array, i));
      }
      ANYDML_TRY((this->*add)(array, i, edges[i].Desc));
    }
    return {};
  }

  Status check_index(const EdgeWords& edge, const char* field, UINT index, std::size_t count) const {
    return index < count ? Status()
                         : wrong(format_text("{}: {} is {}; expected less than {}", edge.text(), field, index, count));
  }

  // The name of a graph input or output in messages. The index counts all inputs, then all outputs. Edges have names
  // but inputs do not, so the name of the first named edge is used.
  [[nodiscard]] std::string port_text(UINT port) const {
    const bool is_input = port < desc_.InputCount;
    std::string text =
        format_text("graph {} {}", is_input ? "input" : "output", port - (is_input ? 0 : desc_.InputCount));
    return port_names_[port].empty() ? text : format_text("{} ({})", text, anydml::quoted(port_names_[port]));
  }

  void name_port(UINT port, const char* name) {
    if (port_names_[port].empty()) {
      port_names_[port] = name_of(name);
    }
  }

  // The name of a node in messages, by its index in the description.
  [[nodiscard]] std::string node_text(UINT node) const {
    const NodeReference& reference = references_[node];
    if (reference.kind == SourceKind::constant) {
      return format_text("Nodes[{}] ({})", node, with_name("a constant", constant_names_[reference.index]));
    }
    return format_text("Nodes[{}] ({})", node,
                       with_name(reference.def->desc.op->name, result_.graph.nodes[reference.index].name));
  }

  // Returns the tensor that an edge leads to, after all checks that concern only this tensor.
  Result<const TensorBinding*> take_target(const EdgeWords& edge, UINT node, UINT input, const GraphSource& source) {
    ANYDML_TRY(check_index(edge, "ToNodeIndex", node, desc_.NodeCount));
    const NodeReference& reference = references_[node];
    if (reference.kind == SourceKind::constant) {
      return wrong(
          format_text("{}: ToNodeIndex is {}, a constant; expected a node that has inputs", edge.text(), node));
    }
    ANYDML_TRY(check_index(edge, "ToNodeInputIndex", input, reference.def->input_count()));
    const TensorBinding& tensor = reference.def->tensors[input];
    if (!tensor.present) {
      return wrong(format_text("{}: it leads to {} of {}, which the operator was created without; expected no edge",
                               edge.text(), tensor.name, node_text(node)));
    }
    GraphSource& feeds = result_.graph.nodes[reference.index].sources[input];
    if (feeds.kind != SourceKind::none) {
      return wrong(format_text("{}: {} of {} already has an edge; expected one edge to each input", edge.text(),
                               tensor.name, node_text(node)));
    }
    feeds = source;
    return &tensor;
  }

  // Returns the node output that an edge comes from.
  Result<GraphSource> take_source(const EdgeWords& edge, UINT node, UINT output) const {
    ANYDML_TRY(check_index(edge, "FromNodeIndex", node, desc_.NodeCount));
    const NodeReference& reference = references_[node];
    const bool is_constant = reference.kind == SourceKind::constant;
    ANYDML_TRY(check_index(edge, "FromNodeOutputIndex", output, is_constant ? 1 : reference.def->output_count()));
    if (!is_constant && !reference.def->tensors[reference.def->input_count() + output].present) {
      return wrong(format_text("{}: it comes from {} of {}, which the operator was created without; expected no edge",
                               edge.text(), reference.def->tensors[reference.def->input_count() + output].name,
                               node_text(node)));
    }
    return GraphSource{.kind = reference.kind, .index = reference.index, .output = output};
  }

  Status add_input_edge(const char* array, UINT i, const void* desc) {
    const auto& edge = *static_cast<const DML_INPUT_GRAPH_EDGE_DESC*>(desc);
    const EdgeWords words{array, i, edge.Name};
    ANYDML_TRY(check_index(words, "GraphInputIndex", edge.GraphInputIndex, desc_.InputCount));
    name_port(edge.GraphInputIndex, edge.Name);
    const auto taken = take_target(words, edge.ToNodeIndex, edge.ToNodeInputIndex,
                                   {.kind = SourceKind::input, .index = edge.GraphInputIndex});
    ANYDML_TRY(taken);
    const TensorBinding& tensor = *taken.value();
    TensorBinding& bound = result_.surface.tensors[edge.GraphInputIndex];
    if (bound.present && bound.owned != tensor.owned) {
      return wrong(
          format_text("{}: {} of {} is {}OWNED_BY_DML, but another tensor that {} feeds is {}; expected all or none",
                      words.text(), tensor.name, node_text(edge.ToNodeIndex), tensor.owned ? "" : "not ",
                      port_text(edge.GraphInputIndex), tensor.owned ? "not" : "so"));
    }
    bound.present = true;
    bound.owned = tensor.owned;
    bound.bytes = std::max(bound.bytes, tensor.bytes);
    bound.has_gaps = bound.has_gaps || tensor.has_gaps;
    bound.alignment = std::max(bound.alignment, tensor.alignment);
    result_.graph.inputs[edge.GraphInputIndex] = {.extent = {.bytes = bound.bytes, .alignment = bound.alignment},
                                                  .owned = bound.owned};
    return {};
  }

  Status add_intermediate_edge(const char* array, UINT i, const void* desc) {
    const auto& edge = *static_cast<const DML_INTERMEDIATE_GRAPH_EDGE_DESC*>(desc);
    const EdgeWords words{array, i, edge.Name};
    const auto source = take_source(words, edge.FromNodeIndex, edge.FromNodeOutputIndex);
    ANYDML_TRY(source);
    const auto taken = take_target(words, edge.ToNodeIndex, edge.ToNodeInputIndex, source.value());
    ANYDML_TRY(taken);
    const TensorBinding& tensor = *taken.value();
    if (source.value().kind == SourceKind::constant) {
      return take_constant(words, source.value().index, edge, tensor);
    }
    if (tensor.owned) {
      return wrong(format_text("{}: {} of {} is OWNED_BY_DML; expected an input edge to it", words.text(), tensor.name,
                               node_text(edge.ToNodeIndex)));
    }
    Extent& extent = result_.graph.nodes[source.value().index].outputs[source.value().output];
    if (extent.bytes != tensor.bytes) {
      return wrong(
          format_text("{}: TotalTensorSizeInBytes is {} for the output of {} and {} for {} of {}; expected the "
                      "same size",
                      words.text(), extent.bytes, node_text(edge.FromNodeIndex), tensor.bytes, tensor.name,
                      node_text(edge.ToNodeIndex)));
    }
    extent.alignment = std::max(extent.alignment, tensor.alignment);
    return {};
  }

  // The constant's data may omit the bytes that only pad the tensor's size.
  Status take_constant(const EdgeWords& words, std::uint32_t constant, const DML_INTERMEDIATE_GRAPH_EDGE_DESC& edge,
                       const TensorBinding& tensor) {
    const OpTensor& reads = references_[edge.ToNodeIndex].def->desc.tensors[edge.ToNodeInputIndex];
    const std::size_t given = result_.constants[constant].size();
    if (given < static_cast<std::uint64_t>(reads.reach.end)) {
      return wrong(format_text("{}: DataSize of {} is {}; expected {} or more, which {} of {} reads", words.text(),
                               node_text(edge.FromNodeIndex), given, reads.reach.end, tensor.name,
                               node_text(edge.ToNodeIndex)));
    }
    Extent& extent = result_.graph.constants[constant];
    extent.alignment = std::max(extent.alignment, tensor.alignment);
    return {};
  }

  Status add_output_edge(const char* array, UINT i, const void* desc) {
    const auto& edge = *static_cast<const DML_OUTPUT_GRAPH_EDGE_DESC*>(desc);
    const EdgeWords words{array, i, edge.Name};
    const auto source = take_source(words, edge.FromNodeIndex, edge.FromNodeOutputIndex);
    ANYDML_TRY(source);
    ANYDML_TRY(check_index(words, "GraphOutputIndex", edge.GraphOutputIndex, desc_.OutputCount));
    if (source.value().kind == SourceKind::constant) {
      return wrong(
          format_text("{}: FromNodeIndex is {}, a constant; expected an operator", words.text(), edge.FromNodeIndex));
    }
    GraphSource& output = result_.graph.outputs[edge.GraphOutputIndex];
    if (output.kind != SourceKind::none) {
      return wrong(format_text("{}: {} already has an edge; expected one edge to each output", words.text(),
                               port_text(desc_.InputCount + edge.GraphOutputIndex)));
    }
    output = source.value();
    name_port(desc_.InputCount + edge.GraphOutputIndex, edge.Name);
    const Extent& extent = extent_of(result_.graph, output);
    TensorBinding& bound = result_.surface.tensors[desc_.InputCount + edge.GraphOutputIndex];
    bound.present = true;
    bound.bytes = extent.bytes;
    const OperatorDef& from = *references_[edge.FromNodeIndex].def;
    const TensorBinding& tensor = from.tensors[from.input_count() + edge.FromNodeOutputIndex];
    bound.alignment = tensor.alignment;
    bound.has_gaps = tensor.has_gaps;
    return {};
  }

  // Every required tensor must have an edge.
  Status check_fed() const {
    for (std::size_t i = 0; i < result_.graph.nodes.size(); ++i) {
      const OperatorDef& def = *references_[number_of_[i]].def;
      for (std::size_t input = 0; input < def.input_count(); ++input) {
        if (def.tensors[input].present && result_.graph.nodes[i].sources[input].kind == SourceKind::none) {
          return wrong(format_text("no edge leads to {} of {}; expected one, since the operator was created with it",
                                   def.tensors[input].name, node_text(number_of_[i])));
        }
      }
    }
    for (std::size_t i = 0; i < result_.graph.outputs.size(); ++i) {
      if (result_.graph.outputs[i].kind == SourceKind::none) {
        return wrong(format_text("no edge leads to graph output {}; expected one in OutputEdges", i));
      }
    }
    return {};
  }

  const DML_GRAPH_DESC& desc_;
  const DmlCore& core_;
  GraphDef result_;
  std::vector<NodeReference> references_;  // for each node of the description
  std::vector<UINT> number_of_;            // for each node of the graph, its index in the description
  std::vector<std::string> constant_names_;
  std::vector<std::string> port_names_;  // for the graph's inputs, then its outputs
};

}  // namespace

Result<GraphDef> read_graph(const DML_GRAPH_DESC& desc, const DmlCore& core) { return GraphReader(desc, core).read(); }

GraphDef graph_of(std::shared_ptr<const OperatorDef> def, std::string name) {
  GraphDef created;
  created.name = std::move(name);
  std::vector<GraphInput> inputs;
  std::vector<Extent> outputs;
  for (std::uint32_t i = 0; i < def->tensors.size(); ++i) {
    const TensorBinding& tensor = def->tensors[i];
    const Extent extent{.bytes = tensor.bytes, .alignment = tensor.alignment};
    if (def->is_output(i)) {
      outputs.push_back(extent);
    } else {
      inputs.push_back({.extent = extent, .owned = tensor.owned});
    }
  }
  created.graph = graph_of(std::shared_ptr<const OpDesc>(def, &def->desc), std::move(inputs), std::move(outputs));
  created.surface = {
      .kind = def->desc.op->name, .input_count = def->input_count(), .tensors = def->tensors, .def = std::move(def)};
  return created;
}

}  // namespace anydml
