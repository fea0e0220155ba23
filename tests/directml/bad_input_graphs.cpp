// SPDX-License-Identifier: MIT
// Cases of invalid graphs. Each differs in one detail from a valid graph: y = a MODULUS_FLOOR b, out = y MODULUS_FLOOR
// a.
#include "directml/bad_input.h"
#include "directml/graph_program.h"

namespace anydml::test {
namespace {

// A graph in plain arrays, so that a case can change any field.
struct Draft {
  explicit Draft(Program& p) : program(p) {
    EXPECT_EQ(p.create(), S_OK) << anydml_last_error();
    operators[0].Operator = operators[1].Operator = p.op.Get();
  }

  HRESULT compile() {
    ComPtr<IDMLDevice1> device;
    EXPECT_EQ(program.dml.device.As(&device), S_OK);
    void* built = &built;  // must be null after a failure
    const HRESULT result =
        device->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &built);
    if (FAILED(result)) {
      EXPECT_EQ(built, nullptr);
    } else {
      compiled.Attach(static_cast<IDMLCompiledOperator*>(built));
    }
    return result;
  }

  Program& program;
  DML_OPERATOR_GRAPH_NODE_DESC operators[2]{{nullptr, "first"}, {nullptr, "second"}};
  DML_GRAPH_NODE_DESC nodes[2]{{DML_GRAPH_NODE_TYPE_OPERATOR, &operators[0]},
                               {DML_GRAPH_NODE_TYPE_OPERATOR, &operators[1]}};
  DML_INPUT_GRAPH_EDGE_DESC inputs[3]{{0, 0, 0, "dividend"}, {1, 0, 1, nullptr}, {0, 1, 1, nullptr}};
  DML_GRAPH_EDGE_DESC input_edges[3]{{DML_GRAPH_EDGE_TYPE_INPUT, &inputs[0]},
                                     {DML_GRAPH_EDGE_TYPE_INPUT, &inputs[1]},
                                     {DML_GRAPH_EDGE_TYPE_INPUT, &inputs[2]}};
  DML_INTERMEDIATE_GRAPH_EDGE_DESC inner{0, 0, 1, 0, "remainder"};
  DML_GRAPH_EDGE_DESC inner_edge{DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &inner};
  DML_OUTPUT_GRAPH_EDGE_DESC output{1, 0, 0, "result"};
  DML_GRAPH_EDGE_DESC output_edge{DML_GRAPH_EDGE_TYPE_OUTPUT, &output};
  DML_GRAPH_DESC graph{2, 1, 2, nodes, 3, input_edges, 1, &output_edge, 1, &inner_edge};
  ComPtr<IDMLCompiledOperator> compiled;
};

template <class Change>
std::function<HRESULT(Program&)> compiling(Change change) {
  return [change](Program& p) {
    Draft draft(p);
    change(draft);
    return draft.compile();
  };
}

// A valid graph, up to its binding table.
template <class Body>
std::function<HRESULT(Program&)> bound(Body body) {
  return [body](Program& p) {
    Draft draft(p);
    EXPECT_EQ(draft.compile(), S_OK) << anydml_last_error();
    p.compiled = draft.compiled;
    p.table = p.dml.table(p.compiled.Get(), p.heap.Get());
    body(p);
    return S_OK;
  };
}

// A graph with one owned input that is read directly, and an intermediate value in the temporary resource.
ComPtr<IDMLCompiledOperator> graph_with_all(Program& p) {
  const Tensor plain(kFloat, {1, 1, 1, 24});
  const Tensor owned(kFloat, {1, 1, 1, 24}, {}, DML_TENSOR_FLAG_OWNED_BY_DML);
  const Tensor turned(kFloat, {1, 1, 4, 6}, {24, 24, 1, 4});
  const Tensor table(kFloat, {1, 1, 4, 6});
  GraphBuilder graph;
  const auto first = static_cast<int>(graph.add(p.dml.binary(plain, owned, plain), {-1, -2}));
  graph.output(graph.add(p.dml.binary(turned, turned, table), {first, first}), 0);
  return graph.compile(p.dml);
}

}  // namespace

std::vector<Case> graph_cases() {
  return {
      {"CompileGraph: desc is null", E_INVALIDARG, "desc is null",
       [](Program& p) {
         ComPtr<IDMLDevice1> device;
         p.dml.device.As(&device);
         void* out = &out;
         return device->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &out);
       }},
      {"CompileGraph: unknown flags", E_INVALIDARG, "flags is 0x8",
       [](Program& p) {
         Draft draft(p);
         ComPtr<IDMLDevice1> device;
         p.dml.device.As(&device);
         void* out = &out;
         return device->CompileGraph(&draft.graph, number_as<DML_EXECUTION_FLAGS>(8), __uuidof(IDMLCompiledOperator),
                                     &out);
       }},
      {"CompileGraph: no nodes", E_INVALIDARG, "NodeCount is 0", compiling([](Draft& d) { d.graph.NodeCount = 0; })},
      {"CompileGraph: no outputs", E_INVALIDARG, "OutputCount is 0",
       compiling([](Draft& d) { d.graph.OutputCount = 0; })},
      {"CompileGraph: Nodes is null", E_INVALIDARG, "Nodes is null and NodeCount is 2",
       compiling([](Draft& d) { d.graph.Nodes = nullptr; })},
      {"CompileGraph: InputEdges is null", E_INVALIDARG, "InputEdges is null and InputEdgeCount is 3",
       compiling([](Draft& d) { d.graph.InputEdges = nullptr; })},
      {"CompileGraph: OutputEdges is null", E_INVALIDARG, "OutputEdges is null and OutputEdgeCount is 1",
       compiling([](Draft& d) { d.graph.OutputEdges = nullptr; })},
      {"CompileGraph: IntermediateEdges is null", E_INVALIDARG,
       "IntermediateEdges is null and IntermediateEdgeCount is 1",
       compiling([](Draft& d) { d.graph.IntermediateEdges = nullptr; })},
      {"CompileGraph: 2^32 - 1 nodes", E_INVALIDARG, "NodeCount is 4294967295; expected at most",
       compiling([](Draft& d) { d.graph.NodeCount = 0xFFFFFFFF; })},
      {"CompileGraph: 2^32 - 1 inputs", E_INVALIDARG, "InputCount is 4294967295",
       compiling([](Draft& d) { d.graph.InputCount = 0xFFFFFFFF; })},
      {"CompileGraph: a node of type INVALID", E_INVALIDARG, "Nodes[1].Type is 0",
       compiling([](Draft& d) { d.nodes[1].Type = DML_GRAPH_NODE_TYPE_INVALID; })},
      {"CompileGraph: a node of unknown type", E_INVALIDARG, "Nodes[0].Type is 9",
       compiling([](Draft& d) { d.nodes[0].Type = number_as<DML_GRAPH_NODE_TYPE>(9); })},
      {"CompileGraph: a node without Desc", E_INVALIDARG, "Nodes[1].Desc is null",
       compiling([](Draft& d) { d.nodes[1].Desc = nullptr; })},
      {"CompileGraph: a node without operator", E_INVALIDARG, "Nodes[1].Operator 'second' is null",
       compiling([](Draft& d) { d.operators[1].Operator = nullptr; })},
      {"CompileGraph: another device's operator", E_INVALIDARG, "Nodes[1].Operator 'second' is another device's",
       [](Program& p) {
         Program other;
         Draft draft(p);
         EXPECT_EQ(other.create(), S_OK);
         draft.operators[1].Operator = other.op.Get();
         return draft.compile();
       }},
      {"CompileGraph: a constant without data", E_INVALIDARG, "Nodes[1]: Data is null", compiling([](Draft& d) {
         static const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant{nullptr, 96, nullptr};
         d.nodes[1] = {DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
       })},
      {"CompileGraph: a constant of no bytes", E_INVALIDARG, "Nodes[1]: DataSize is 0", compiling([](Draft& d) {
         static const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant{&constant, 0, nullptr};
         d.nodes[1] = {DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
       })},
      {"CompileGraph: a constant with too few bytes", E_INVALIDARG,
       "DataSize of Nodes[0] (a constant) is 95; expected 96 or more", compiling([](Draft& d) {
         static const std::uint8_t data[96] = {};
         static const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant{data, 95, nullptr};
         d.nodes[0] = {DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
         d.graph.InputEdges = &d.input_edges[2];
         d.graph.InputEdgeCount = 1;
       })},
      {"CompileGraph: an edge to a constant", E_INVALIDARG, "ToNodeIndex is 0, a constant", compiling([](Draft& d) {
         static const std::uint8_t data[96] = {};
         static const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant{data, 96, nullptr};
         d.nodes[0] = {DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
       })},
      {"CompileGraph: a constant as an output", E_INVALIDARG, "FromNodeIndex is 0, a constant", compiling([](Draft& d) {
         static const std::uint8_t data[96] = {};
         static const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant{data, 96, nullptr};
         d.nodes[0] = {DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
         d.graph.InputEdges = &d.input_edges[2];
         d.graph.InputEdgeCount = 1;
         d.output.FromNodeIndex = 0;
       })},
      {"CompileGraph: an edge without Desc", E_INVALIDARG, "InputEdges[1].Desc is null",
       compiling([](Draft& d) { d.input_edges[1].Desc = nullptr; })},
      {"CompileGraph: an edge of type INVALID", E_INVALIDARG, "OutputEdges[0].Type is 0",
       compiling([](Draft& d) { d.output_edge.Type = DML_GRAPH_EDGE_TYPE_INVALID; })},
      {"CompileGraph: an output edge among the input edges", E_INVALIDARG, "InputEdges[2].Type is 2; expected 1",
       compiling([](Draft& d) { d.input_edges[2].Type = DML_GRAPH_EDGE_TYPE_OUTPUT; })},
      {"CompileGraph: a graph input that does not exist", E_INVALIDARG, "GraphInputIndex is 2; expected less than 2",
       compiling([](Draft& d) { d.inputs[0].GraphInputIndex = 2; })},
      {"CompileGraph: an input edge to a node that does not exist", E_INVALIDARG, "ToNodeIndex is 7",
       compiling([](Draft& d) { d.inputs[0].ToNodeIndex = 7; })},
      {"CompileGraph: an input edge to an input that does not exist", E_INVALIDARG, "ToNodeInputIndex is 2",
       compiling([](Draft& d) { d.inputs[0].ToNodeInputIndex = 2; })},
      {"CompileGraph: an edge from a node that does not exist", E_INVALIDARG, "FromNodeIndex is 4294967295",
       compiling([](Draft& d) { d.inner.FromNodeIndex = 0xFFFFFFFF; })},
      {"CompileGraph: an edge from an output that does not exist", E_INVALIDARG, "FromNodeOutputIndex is 1",
       compiling([](Draft& d) { d.inner.FromNodeOutputIndex = 1; })},
      {"CompileGraph: an edge to a node that does not exist", E_INVALIDARG, "ToNodeIndex is 2",
       compiling([](Draft& d) { d.inner.ToNodeIndex = 2; })},
      {"CompileGraph: an output edge from a node that does not exist", E_INVALIDARG, "FromNodeIndex is 2",
       compiling([](Draft& d) { d.output.FromNodeIndex = 2; })},
      {"CompileGraph: a graph output that does not exist", E_INVALIDARG, "GraphOutputIndex is 1",
       compiling([](Draft& d) { d.output.GraphOutputIndex = 1; })},
      {"CompileGraph: a node's input fed twice", E_INVALIDARG,
       "BTensor of Nodes[1] (ELEMENT_WISE_MODULUS_FLOOR 'second') already has an edge",
       compiling([](Draft& d) { d.inner.ToNodeInputIndex = 1; })},
      {"CompileGraph: a node's input without a source", E_INVALIDARG, "no edge leads to ATensor of Nodes[1]",
       compiling([](Draft& d) { d.graph.IntermediateEdgeCount = 0; })},
      {"CompileGraph: a graph output without a source", E_INVALIDARG, "no edge leads to graph output 1",
       compiling([](Draft& d) { d.graph.OutputCount = 2; })},
      {"CompileGraph: a graph output fed twice", E_INVALIDARG, "graph output 0 ('result') already has an edge",
       compiling([](Draft& d) {
         static DML_GRAPH_EDGE_DESC edges[2];
         edges[0] = edges[1] = d.output_edge;
         d.graph.OutputEdges = edges;
         d.graph.OutputEdgeCount = 2;
       })},
      {"CompileGraph: an edge to a tensor that is absent", E_INVALIDARG, "which the operator was created without",
       [](Program& p) {
         const DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC desc{&p.a.desc, &p.b.desc, nullptr, &p.out.desc};
         retype(p.out, DML_TENSOR_DATA_TYPE_UINT8);
         ComPtr<IDMLOperator> op;
         EXPECT_EQ(p.dml.create_operator(DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR, &desc, op), S_OK);
         GraphBuilder graph;
         graph.output(graph.add(op, {-1, -2, -3}), 0);
         ComPtr<IDMLCompiledOperator> compiled;
         return graph.compile(p.dml, compiled);
       }},
      {"CompileGraph: a cycle of two nodes", E_INVALIDARG, "the edges form a cycle: node 0", compiling([](Draft& d) {
         static DML_INTERMEDIATE_GRAPH_EDGE_DESC back{1, 0, 0, 0, nullptr};
         static DML_GRAPH_EDGE_DESC edges[2];
         edges[0] = d.inner_edge;
         edges[1] = {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &back};
         d.graph.IntermediateEdges = edges;
         d.graph.IntermediateEdgeCount = 2;
         d.graph.InputEdges = &d.input_edges[1];
         d.graph.InputEdgeCount = 2;
       })},
      {"CompileGraph: a node that feeds itself", E_INVALIDARG, "the edges form a cycle: node 1",
       compiling([](Draft& d) { d.inner.FromNodeIndex = 1; })},
      {"CompileGraph: a node that reads a constant and itself", E_INVALIDARG, "the edges form a cycle: node 1 (",
       compiling([](Draft& d) {
         static const std::uint8_t data[96] = {};
         static const DML_CONSTANT_DATA_GRAPH_NODE_DESC constant{data, 96, nullptr};
         d.nodes[0] = {DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
         d.graph.InputEdges = &d.input_edges[2];
         d.graph.InputEdgeCount = 1;
         d.inner.FromNodeIndex = 1;
       })},
      {"CompileGraph: an edge between tensors of different sizes in bytes", E_INVALIDARG,
       "TotalTensorSizeInBytes is 96 for the output of Nodes[0]",
       [](Program& p) {
         Draft draft(p);
         const Tensor half(kFloat, {1, 1, 1, 12});
         const auto other = p.dml.binary(half, half, half);
         draft.operators[1].Operator = other.Get();
         return draft.compile();
       }},
      {"CompileGraph: an intermediate edge to an owned tensor", E_INVALIDARG,
       "is OWNED_BY_DML; expected an input edge to it",
       [](Program& p) {
         Draft draft(p);
         p.a.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
         const auto other = p.dml.binary(p.a, p.b, p.out);
         draft.operators[1].Operator = other.Get();
         return draft.compile();
       }},
      {"CompileGraph: a graph input that only one of its readers owns", E_INVALIDARG, "expected all or none",
       [](Program& p) {
         Draft draft(p);
         p.b.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
         const auto other = p.dml.binary(p.a, p.b, p.out);
         draft.operators[1].Operator = other.Get();
         return draft.compile();
       }},
      {"a graph: too few inputs bound", kRemoval, "graph: bindingCount is 1; expected 2 bindings",
       bound([](Program& p) { bind_inputs(p.table.Get(), {p.whole(0)}); })},
      {"a graph: an input that is read but not bound", kRemoval, "graph input 1: the binding is NONE",
       bound([](Program& p) {
         bind_inputs(p.table.Get(), {p.whole(0), {}});
       })},
      {"a graph: an input that is too small", kRemoval, "graph input 0 ('dividend'): SizeInBytes is 64; expected 96",
       bound([](Program& p) {
         bind_inputs(p.table.Get(), {{p.buffers[0].Get(), 0, 64}, p.whole(1)});
       })},
      {"a graph: an output that is too small", kRemoval, "graph output 0 ('result'): SizeInBytes is 92; expected 96",
       bound([](Program& p) {
         bind_output(p.table.Get(), {p.buffers[2].Get(), 0, 92});
       })},
      {"a graph: an input over an output", kRemoval, "graph input 0 ('dividend'): overlaps graph output 0 ('result')",
       bound([](Program& p) {
         bind_inputs(p.table.Get(), {p.whole(0), p.whole(1)});
         bind_output(p.table.Get(), p.whole(0));
         p.record();
       })},
      {"a graph: without its temporary resource", kRemoval, "temporary resource: nothing is bound",
       [](Program& p) {
         p.compiled = graph_with_all(p);
         p.table = p.dml.table(p.compiled.Get(), p.heap.Get());
         p.bind_owned_execution(kNone, 3);
         p.record();
         return S_OK;
       }},
      {"a graph: a temporary resource that is too small", kRemoval, "temporary resource: SizeInBytes is 64",
       [](Program& p) {
         p.compiled = graph_with_all(p);
         p.table = p.dml.table(p.compiled.Get(), p.heap.Get());
         const DML_BUFFER_BINDING small{p.buffers[1].Get(), 0, 64};
         const DML_BINDING_DESC desc = bind(small);
         p.table->BindTemporaryResource(&desc);
         return S_OK;
       }},
      {"a graph: without its persistent resource", kRemoval, "persistent resource: nothing is bound",
       [](Program& p) {
         p.compiled = graph_with_all(p);
         p.table = p.dml.table(p.compiled.Get(), p.heap.Get());
         p.bind_owned_execution(kNone, -1);
         p.record();
         return S_OK;
       }},
      {"a graph: an owned input bound at execution", kRemoval, "graph input 1: a buffer is bound",
       [](Program& p) {
         p.compiled = graph_with_all(p);
         p.table = p.dml.table(p.compiled.Get(), p.heap.Get());
         const auto whole = p.whole(1);
         p.bind_owned_execution(bind(whole), 3);
         return S_OK;
       }},
  };
}

}  // namespace anydml::test
