// SPDX-License-Identifier: MIT
#include "compile.h"

#include <deque>

#include "fill.h"
#include "operator_desc.h"

namespace anydml::dmlrun {
namespace {

using client::ComPtr;

// The arrays of a DML_GRAPH_DESC.
class GraphDesc {
 public:
  GraphDesc(const Dispatchable& dispatchable, client::Device& device) {
    const auto operators = static_cast<UINT>(dispatchable.nodes.size());
    for (const NodeModel& node : dispatchable.nodes) {
      add_node(node, operators, device);
    }
    for (const Resource& constant : dispatchable.constants) {
      add_constant(constant);
    }
    for (std::size_t i = 0; i < dispatchable.outputs.size(); ++i) {
      const EdgeSource& source = dispatchable.outputs[i];
      output_descs_.push_back({static_cast<UINT>(source.index), source.output, static_cast<UINT>(i), nullptr});
      outputs_.push_back({DML_GRAPH_EDGE_TYPE_OUTPUT, &output_descs_.back()});
    }
    std::size_t input_count = 0;
    for (const Port& port : dispatchable.ports) {
      input_count += port.is_output ? 0 : port.tensors.size();
    }
    desc_ = {static_cast<UINT>(input_count),     static_cast<UINT>(outputs_.size()),
             static_cast<UINT>(nodes_.size()),   nodes_.data(),
             static_cast<UINT>(inputs_.size()),  inputs_.data(),
             static_cast<UINT>(outputs_.size()), outputs_.data(),
             static_cast<UINT>(inner_.size()),   inner_.data()};
  }
  [[nodiscard]] const DML_GRAPH_DESC& get() const { return desc_; }

 private:
  // Constants become nodes after the operators.
  void add_constant(const Resource& constant) {
    std::vector<std::byte>& bytes = constants_.emplace_back(constant.value_bytes);
    fill_values(constant, bytes);
    constant_descs_.push_back({bytes.data(), bytes.size(), constant.name.empty() ? nullptr : constant.name.c_str()});
    nodes_.push_back({DML_GRAPH_NODE_TYPE_CONSTANT, &constant_descs_.back()});
  }

  void add_node(const NodeModel& node, UINT operators, client::Device& device) {
    const OperatorDesc desc(node.op);
    operators_.push_back(client::create_operator(device, desc.get()));
    const auto number = static_cast<UINT>(nodes_.size());
    node_descs_.push_back({operators_.back().Get(), node.name.empty() ? nullptr : node.name.c_str()});
    nodes_.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &node_descs_.back()});
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
      if (!node.sources[i]) {
        continue;
      }
      const EdgeSource& source = *node.sources[i];
      const auto from = static_cast<UINT>(source.index);
      const auto to = static_cast<UINT>(i);
      if (source.kind == EdgeSource::Kind::constant) {
        inner_descs_.push_back({operators + from, 0, number, to, nullptr});
        inner_.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &inner_descs_.back()});
      } else if (source.kind == EdgeSource::Kind::node) {
        inner_descs_.push_back({from, source.output, number, to, nullptr});
        inner_.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &inner_descs_.back()});
      } else {
        input_descs_.push_back({from, number, to, nullptr});
        inputs_.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &input_descs_.back()});
      }
    }
  }

  std::vector<ComPtr<IDMLOperator>> operators_;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> node_descs_;
  std::deque<std::vector<std::byte>> constants_;
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constant_descs_;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> input_descs_;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> inner_descs_;
  std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> output_descs_;
  std::vector<DML_GRAPH_NODE_DESC> nodes_;
  std::vector<DML_GRAPH_EDGE_DESC> inputs_;
  std::vector<DML_GRAPH_EDGE_DESC> inner_;
  std::vector<DML_GRAPH_EDGE_DESC> outputs_;
  DML_GRAPH_DESC desc_{};
};

}  // namespace

ComPtr<IDMLCompiledOperator> compile(const Dispatchable& dispatchable, client::Device& device) {
  const auto flags = static_cast<DML_EXECUTION_FLAGS>(dispatchable.execution_flags);
  ComPtr<IDMLCompiledOperator> compiled;
  if (!dispatchable.is_graph) {
    const OperatorDesc desc(dispatchable.nodes.front().op);
    client::check(device.dml()->CompileOperator(client::create_operator(device, desc.get()).Get(), flags,
                                                IID_PPV_ARGS(&compiled)),
                  "CompileOperator");
    return compiled;
  }
  const GraphDesc desc(dispatchable, device);
  ComPtr<IDMLDevice1> device1;
  client::check(device.dml()->QueryInterface(IID_PPV_ARGS(&device1)), "QueryInterface");
  client::check(device1->CompileGraph(&desc.get(), flags, IID_PPV_ARGS(&compiled)), "CompileGraph");
  return compiled;
}

}  // namespace anydml::dmlrun
