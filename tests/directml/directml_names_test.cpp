// SPDX-License-Identifier: MIT
// Tests that messages use the names that the application gave to buffers, operators, nodes and edges.
#include "directml/bad_input.h"
#include "directml/graph_program.h"

namespace anydml::test {
namespace {

// The message for the last failed call on this thread.
std::string said() { return anydml_last_error(); }

#define EXPECT_SAID(part) EXPECT_NE(said().find(part), std::string::npos) << said()

TEST(Names, OfABufferThatIsTooSmall) {
  Program program;
  program.prepare();
  ASSERT_EQ(program.buffers[1]->SetName(L"weights"), S_OK);
  bind_inputs(program.table.Get(), {program.whole(0), {program.buffers[1].Get(), 0, 92}});
  EXPECT_SAID("BTensor: SizeInBytes is 92 in buffer 'weights'; expected 96 or more");
}

TEST(Names, OfABufferPastItsEnd) {
  Program program;
  program.prepare();
  ASSERT_EQ(program.buffers[2]->SetName(L"result"), S_OK);
  bind_output(program.table.Get(), {program.buffers[2].Get(), 960, 96});
  EXPECT_SAID("96 bytes from Offset 960 do not lie in a buffer 'result' of 1024 bytes");
}

TEST(Names, OfABufferThatWasReleased) {
  Program program;
  program.prepare();
  ASSERT_EQ(program.buffers[1]->SetName(L"weights"), S_OK);
  program.bind_good();
  program.record();
  program.buffers[1].Reset();
  const auto another = create_buffer(program.dml.d3d12.Get(), 1024);  // the new buffer may reuse the released slot
  ASSERT_EQ(another->SetName(L"another"), S_OK);
  program.dml.queue.submit();
  EXPECT_SAID("BTensor: the buffer 'weights' bound to it was released before the list was executed");
  program.dml.queue.wait();
}

TEST(Names, OfBuffersThatOverlap) {
  Program program;
  program.prepare();
  ASSERT_EQ(program.buffers[0]->SetName(L"both"), S_OK);
  bind_inputs(program.table.Get(), {program.whole(0), program.whole(1)});
  bind_output(program.table.Get(), {program.buffers[0].Get(), 16, 96});
  program.record();
  EXPECT_SAID("ATensor: bytes 0 to 96 overlap OutputTensor, which has 16 to 112 in buffer 'both';");
}

TEST(Names, OfAnOperatorAndOfWhatWasCompiled) {
  for (const bool own : {false, true}) {
    Program program;
    ASSERT_EQ(program.create(), S_OK);
    ASSERT_EQ(program.op->SetName(L"operator"), S_OK);
    program.compiled = program.dml.compile(program.op.Get());
    if (own) {
      ASSERT_EQ(program.compiled->SetName(L"compiled"), S_OK);
    }
    program.table = program.dml.table(program.compiled.Get(), program.heap.Get());
    program.record();
    EXPECT_SAID(own ? "ELEMENT_WISE_MODULUS_FLOOR 'compiled': ATensor: nothing is bound"
                    : "ELEMENT_WISE_MODULUS_FLOOR 'operator': ATensor: nothing is bound");
  }
}

TEST(Names, OfAnInitializer) {
  Program program;
  program.prepare_owned();
  ASSERT_EQ(program.compiled->SetName(L"scale"), S_OK);
  ASSERT_EQ(program.initializer->SetName(L"first"), S_OK);
  program.record_initializer();
  EXPECT_SAID("initializer 'first': ELEMENT_WISE_MODULUS_FLOOR 'scale': BTensor: nothing is bound");
}

struct GraphNames : testing::Test {
  GraphNames() {
    const UINT first = graph.add(op.Get(), "shift");
    const UINT second = graph.add(op.Get());
    graph.input(0, first, 0);
    graph.input(0, first, 1, "x");
    graph.connect(first, second, 0, 0, "between");
    graph.input(1, second, 1);
    graph.output(second, 0, 0, "y");
  }
  // Binds buffers, with the given one too small, and records the graph's execution.
  void bind_too_small(int which) {
    const auto compiled = graph.compile(dml);
    ASSERT_EQ(compiled->SetName(L"model"), S_OK);
    const auto heap = create_heap(dml.d3d12.Get(), 8);
    const auto table = dml.table(compiled.Get(), heap.Get());
    const auto buffer = create_buffer(dml.d3d12.Get(), 1024);
    const auto range = [&](int i) -> DML_BUFFER_BINDING {
      return {buffer.Get(), 256 * static_cast<UINT64>(i), which == i ? UINT64{4} : 16};
    };
    bind_inputs(table.Get(), {range(0), range(1)});
    bind_output(table.Get(), range(2));
  }
  Dml dml;
  Tensor tensor{kFloat, {1, 1, 1, 4}};
  ComPtr<IDMLOperator> op = dml.binary(tensor, tensor, tensor);
  GraphBuilder graph;
};

TEST_F(GraphNames, OfAnInputsFirstEdgeThatHasOne) {
  bind_too_small(0);
  EXPECT_SAID("graph 'model': graph input 0 ('x'): SizeInBytes is 4;");
}

TEST_F(GraphNames, AnInputWithoutOneHasItsNumber) {
  bind_too_small(1);
  EXPECT_SAID("graph 'model': graph input 1: SizeInBytes is 4;");
}

TEST_F(GraphNames, OfAnOutputsEdge) {
  bind_too_small(2);
  EXPECT_SAID("graph 'model': graph output 0 ('y'): SizeInBytes is 4;");
}

TEST_F(GraphNames, OfNodesAndEdges) {
  ComPtr<IDMLCompiledOperator> compiled;
  graph.connect(0, 1, 0, 0, "again");
  EXPECT_EQ(graph.compile(dml, compiled), E_INVALIDARG);
  EXPECT_SAID("IntermediateEdges[1] 'again': ATensor of Nodes[1] (ELEMENT_WISE_MODULUS_FLOOR) already has an edge");
  // A node without a name uses its operator's name.
  ASSERT_EQ(op->SetName(L"halve"), S_OK);
  EXPECT_EQ(graph.compile(dml, compiled), E_INVALIDARG);
  EXPECT_SAID("ATensor of Nodes[1] (ELEMENT_WISE_MODULUS_FLOOR 'halve') already has an edge");
  graph.connect(1, 0, 0, 0, "back");
  graph.inner_edges.erase(graph.inner_edges.begin() + 1);
  EXPECT_EQ(graph.compile(dml, compiled), E_INVALIDARG);
  EXPECT_SAID(
      "IntermediateEdges[1] 'back': ATensor of Nodes[0] (ELEMENT_WISE_MODULUS_FLOOR 'shift') already has an edge");
}

TEST_F(GraphNames, OfAConstant) {
  const float value = 1;
  const UINT constant = graph.add_constant(&value, sizeof(value));
  graph.constants.back().Name = "half";
  const UINT third = graph.add(op.Get(), "third");
  graph.connect(constant, third, 0);
  ComPtr<IDMLCompiledOperator> compiled;
  EXPECT_EQ(graph.compile(dml, compiled), E_INVALIDARG);
  EXPECT_SAID("DataSize of Nodes[2] (a constant 'half') is 4; expected 16 or more");
}

// Names may come from a model file, contain control characters, or be garbage.
TEST_F(GraphNames, ThatAreNotNamesDoNotSpoilTheLine) {
  const std::string endless(1 << 20, 'x');
  for (const std::string& name : {std::string("a\nanydml: b"), std::string("\x1b[2J\xff"), endless}) {
    GraphBuilder wrong;
    const UINT node = wrong.add(op.Get(), name.c_str());
    wrong.input(0, node, 0, name.c_str());
    wrong.input(0, node, 0, name.c_str());
    wrong.output(node, 0, 0, name.c_str());
    ComPtr<IDMLCompiledOperator> compiled;
    EXPECT_EQ(wrong.compile(dml, compiled), E_INVALIDARG);
    const std::string text = said();
    EXPECT_EQ(text.find_first_of("\n\x1b\xff"), std::string::npos) << text;
    EXPECT_LT(text.size(), 400U);
    EXPECT_NE(text.find("already has an edge; expected one edge to each input"), std::string::npos) << text;
  }
}

TEST(Names, AreWideAndBecomeUtf8) {
  const std::pair<std::wstring, std::string> names[] = {
      {L"Gewicht \u00e4", "'Gewicht \xc3\xa4'"},
      {L"\u91cd\U0001F600", "'\xe9\x87\x8d\xf0\x9f\x98\x80'"},
      {L"a\nb", "'a\\x0Ab'"},
      {std::wstring(1, static_cast<wchar_t>(0xd800)), "'\\xED\\xA0\\x80'"},
      {std::wstring(1, static_cast<wchar_t>(0x110000)), "'\\xFF'"},
      {std::wstring(1, static_cast<wchar_t>(-1)), "'\\xFF'"},
      {std::wstring(std::size_t{1} << 20, L'x'), "'" + std::string(64, 'x') + "...'"},
      {std::wstring(64, L'x'), "'" + std::string(64, 'x') + "'"},
      {std::wstring(63, L'x') + L"\u00e4", "'" + std::string(63, 'x') + "...'"},
  };
  const auto device = create_d3d12_device();
  const auto buffer = create_buffer(device.Get(), 64);
  for (const auto& [given, shown] : names) {
    ASSERT_EQ(buffer->SetName(given.c_str()), S_OK);
    void* mapped = nullptr;
    EXPECT_EQ(buffer->Map(0, nullptr, &mapped), E_INVALIDARG);
    EXPECT_SAID("ID3D12Resource::Map " + shown + ": the CPU cannot access this heap");
  }
  // Set the name through private data instead, then remove it.
  const GUID name_id = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
  ASSERT_EQ(buffer->SetPrivateData(name_id, 2 * sizeof(wchar_t), L"ab"), S_OK);
  EXPECT_EQ(buffer->Map(0, nullptr, nullptr), E_INVALIDARG);
  EXPECT_SAID("ID3D12Resource::Map 'ab': ");
  ASSERT_EQ(buffer->SetName(nullptr), S_OK);
  EXPECT_EQ(buffer->Map(0, nullptr, nullptr), E_INVALIDARG);
  EXPECT_SAID("ID3D12Resource::Map: ");
}

TEST(Names, OfWhatACommandListIsGiven) {
  const auto device = create_d3d12_device();
  const auto upload_buffer = create_buffer(device.Get(), 64, D3D12_HEAP_TYPE_UPLOAD);
  auto target = create_buffer(device.Get(), 64);
  ASSERT_EQ(upload_buffer->SetName(L"staging"), S_OK);
  ASSERT_EQ(target->SetName(L"target"), S_OK);
  {
    Queue queue(device.Get());
    queue.list->CopyBufferRegion(upload_buffer.Get(), 0, target.Get(), 0, 64);
    EXPECT_SAID("pDstBuffer 'staging' is in an UPLOAD heap");
  }
  {
    Queue queue(device.Get());
    ASSERT_EQ(queue.queue->SetName(L"compute"), S_OK);
    ASSERT_EQ(queue.list->SetName(L"copies"), S_OK);
    queue.list->CopyBufferRegion(target.Get(), 0, upload_buffer.Get(), 0, 64);
    ASSERT_EQ(queue.list->Close(), S_OK);
    target.Reset();
    ID3D12CommandList* lists[] = {queue.list.Get()};
    queue.queue->ExecuteCommandLists(1, lists);
    EXPECT_SAID(
        "ID3D12CommandQueue::ExecuteCommandLists 'compute': ppCommandLists[0] 'copies': the destination of a copy "
        "'target' was released before its list was executed");
  }
}

}  // namespace
}  // namespace anydml::test
