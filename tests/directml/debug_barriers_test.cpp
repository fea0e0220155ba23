// SPDX-License-Identifier: MIT
// Tests the debug layer's checks of barriers and states. Each test makes a mistake, and has a program that avoids the
// mistake.
#include "directml/debug_program.h"

namespace anydml::test {
namespace {

constexpr int kMissingUavBarrier = 2001;
constexpr int kMissingAliasingBarrier = 2002;
constexpr auto kUav = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
constexpr auto kCopySource = D3D12_RESOURCE_STATE_COPY_SOURCE;
constexpr auto kCopyDest = D3D12_RESOURCE_STATE_COPY_DEST;
constexpr auto kCommon = D3D12_RESOURCE_STATE_COMMON;

using DebugBarriers = DebugProgram;
using DebugStates = DebugProgram;

TEST_F(DebugBarriers, ADispatchReadsWhatTheLastOneWrote) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  add({c.Get()}, {b.Get()}, {d.Get()});
  finish();
  expect_one(kMissingUavBarrier,
             {"command 2", "'sum'", "reads bytes 0 to 64 of buffer 'C'", "ATensor", "command 1", "OutputTensor"});
}

TEST_F(DebugBarriers, AUavBarrierOnTheBufferOrOnAllSeparatesThem) {
  for (ID3D12Resource* on : {c.Get(), static_cast<ID3D12Resource*>(nullptr)}) {
    add({a.Get()}, {b.Get()}, {c.Get()});
    barrier(uav(on));
    add({c.Get()}, {b.Get()}, {d.Get()});
    finish();
    expect_none();
  }
}

TEST_F(DebugBarriers, ABarrierOnADifferentBufferDoesNot) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(uav(d.Get()));
  add({c.Get()}, {b.Get()}, {d.Get()});
  finish();
  expect_one(kMissingUavBarrier);
}

TEST_F(DebugBarriers, TransitionsSeparateThem) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(transition(c.Get(), kUav, kCopySource));
  barrier(transition(c.Get(), kCopySource, kUav));
  add({c.Get()}, {b.Get()}, {d.Get()});
  finish();
  expect_none();
}

TEST_F(DebugBarriers, PartsOfOneBufferAreSeparate) {
  add({a.Get()}, {b.Get()}, {c.Get(), 0});
  add({a.Get()}, {b.Get()}, {c.Get(), kBytes});
  add({a.Get()}, {c.Get(), 2 * kBytes}, {d.Get()});
  finish();
  expect_none();
}

TEST_F(DebugBarriers, PartsThatOverlapAreNot) {
  add({a.Get()}, {b.Get()}, {c.Get(), 0});
  add({a.Get()}, {b.Get()}, {c.Get(), kBytes - 16});
  finish();
  expect_one(kMissingUavBarrier, {"writes bytes 48 to 112 of buffer 'C'"});
}

TEST_F(DebugBarriers, ADispatchWritesWhatTheLastOneReads) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  add({b.Get()}, {c.Get(), kBytes}, {a.Get()});
  finish();
  expect_one(kMissingUavBarrier, {"writes bytes 0 to 64 of buffer 'A'", "reads as its ATensor"});
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(uav(a.Get()));
  add({b.Get()}, {c.Get(), kBytes}, {a.Get()});
  finish();
  expect_none();
}

TEST_F(DebugBarriers, ADispatchInPlaceWritesWhatTheLastOneReads) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  add({a.Get()}, {b.Get()}, {a.Get()});
  finish();
  expect_one(kMissingUavBarrier, {"writes bytes 0 to 64 of buffer 'A'"});
}

// Two dispatches write the left half and the right half of a matrix. The ranges overlap, but no byte is in both halves.
TEST_F(DebugBarriers, InterleavedTensorsNeedNoBarrier) {
  const Tensor packed(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 4, 4});
  const Tensor half(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 4, 4}, {32, 32, 8, 1});
  const auto op = dml->compile(dml->binary(packed, packed, half, DML_OPERATOR_ELEMENT_WISE_ADD).Get());
  dml->initialize(op.Get());
  set_heap();
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{16}}) {
    const auto table = dml->table(op.Get(), heap.Get(), next_descriptor);
    next_descriptor += 4;
    bind_inputs(table.Get(), {{a.Get(), 0, kBytes}, {b.Get(), 0, kBytes}});
    bind_output(table.Get(), {c.Get(), offset, half.implied_bytes()});
    dml->recorder->RecordDispatch(dml->queue.list.Get(), op.Get(), table.Get());
  }
  finish();
  expect_none();
}

TEST_F(DebugBarriers, ReadsNeedNoBarrier) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  add({a.Get()}, {b.Get()}, {d.Get()});
  finish();
  expect_none();
}

TEST_F(DebugBarriers, OneDispatchMayWorkInPlace) {
  add({a.Get()}, {b.Get()}, {a.Get()});
  finish();
  expect_none();
}

TEST_F(DebugBarriers, ListsOfOneCallNeedABarrier) {
  auto& queue = dml->queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> second;
  ASSERT_EQ(dml->d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)), S_OK);
  ASSERT_EQ(
      dml->d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr, IID_PPV_ARGS(&second)),
      S_OK);
  second->SetName(L"second");
  set_heap(second.Get());
  add({a.Get()}, {b.Get()}, {c.Get()});
  add(second.Get(), {c.Get()}, {b.Get()}, {d.Get()});
  ASSERT_EQ(queue.list->Close(), S_OK);
  ASSERT_EQ(second->Close(), S_OK);
  ID3D12CommandList* both[] = {queue.list.Get(), second.Get()};
  queue.queue->ExecuteCommandLists(2, both);
  queue.queue->Signal(queue.fence.Get(), ++queue.submitted);
  queue.wait();
  expect_one(kMissingUavBarrier, {"list 'second'"});
  // Separate calls run one after the other.
  for (ID3D12CommandList* list : both) {
    queue.queue->ExecuteCommandLists(1, &list);
  }
  queue.queue->Signal(queue.fence.Get(), ++queue.submitted);
  queue.wait();
  expect_none();
}

TEST_F(DebugBarriers, DispatchesThatShareATemporaryResource) {
  // A GEMM whose factors are computed in the graph needs temporary memory with every kernel.
  const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 64, 64});
  const auto op = dml->binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD);
  ComPtr<IDMLOperator> product;
  const DML_GEMM_OPERATOR_DESC gemm{
      &tensor.desc, &tensor.desc, nullptr, &tensor.desc, DML_MATRIX_TRANSFORM_NONE, DML_MATRIX_TRANSFORM_NONE,
      1.0F,         0.0F,         nullptr};
  ASSERT_EQ(dml->create_operator(DML_OPERATOR_GEMM, &gemm, product), S_OK);
  DML_OPERATOR_GRAPH_NODE_DESC adds[2] = {{op.Get(), nullptr}, {product.Get(), nullptr}};
  const DML_GRAPH_NODE_DESC nodes[] = {{DML_GRAPH_NODE_TYPE_OPERATOR, &adds[0]},
                                       {DML_GRAPH_NODE_TYPE_OPERATOR, &adds[1]}};
  DML_INPUT_GRAPH_EDGE_DESC inputs[] = {{0, 0, 0, nullptr}, {0, 0, 1, nullptr}};
  DML_INTERMEDIATE_GRAPH_EDGE_DESC edges[] = {{0, 0, 1, 0, nullptr}, {0, 0, 1, 1, nullptr}};
  DML_OUTPUT_GRAPH_EDGE_DESC outputs[] = {{1, 0, 0, nullptr}};
  const DML_GRAPH_EDGE_DESC input_edges[] = {{DML_GRAPH_EDGE_TYPE_INPUT, &inputs[0]},
                                             {DML_GRAPH_EDGE_TYPE_INPUT, &inputs[1]}};
  const DML_GRAPH_EDGE_DESC middle_edges[] = {{DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &edges[0]},
                                              {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &edges[1]}};
  const DML_GRAPH_EDGE_DESC output_edges[] = {{DML_GRAPH_EDGE_TYPE_OUTPUT, &outputs[0]}};
  const DML_GRAPH_DESC desc{1, 1, 2, nodes, 2, input_edges, 1, output_edges, 2, middle_edges};
  ComPtr<IDMLDevice1> device1;
  ASSERT_EQ(dml->device.As(&device1), S_OK);
  ComPtr<IDMLCompiledOperator> graph;
  ASSERT_EQ(device1->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&graph)), S_OK) << anydml_last_error();
  dml->initialize(graph.Get());
  set_heap();
  const std::uint64_t bytes = tensor.implied_bytes();
  const std::uint64_t temporary_bytes = graph->GetBindingProperties().TemporaryResourceSize;
  ASSERT_NE(temporary_bytes, 0U);
  const auto in = create_buffer(dml->d3d12.Get(), bytes);
  const auto out = create_buffer(dml->d3d12.Get(), 2 * bytes);
  const auto temporary = create_buffer(dml->d3d12.Get(), temporary_bytes);
  const auto record = [&](std::uint64_t offset, UINT first) {
    const auto table = dml->table(graph.Get(), heap.Get(), first);
    bind_inputs(table.Get(), {{in.Get(), 0, bytes}});
    bind_output(table.Get(), {out.Get(), offset, bytes});
    const DML_BUFFER_BINDING buffer{temporary.Get(), 0, temporary_bytes};
    const DML_BINDING_DESC binding = bind(buffer);
    table->BindTemporaryResource(&binding);
    dml->recorder->RecordDispatch(dml->queue.list.Get(), graph.Get(), table.Get());
  };
  record(0, 0);
  record(bytes, 8);
  finish();
  expect_one(kMissingUavBarrier, {"temporary resource"});
  record(0, 0);
  barrier(uav(temporary.Get()));
  record(bytes, 8);
  finish();
  expect_none();
}

TEST_F(DebugBarriers, AListThatIsWrongThroughoutProducesFewMessages) {
  const auto table = bound({a.Get()}, {b.Get()}, {c.Get()});
  constexpr int kDispatches = 1000;
  for (int i = 0; i < kDispatches; ++i) {
    dml->recorder->RecordDispatch(dml->queue.list.Get(), compiled.Get(), table.Get());
  }
  finish();
  EXPECT_EQ(ids().size(), 17U);
  EXPECT_NE(last_text.find("983 more messages"), std::string::npos) << last_text;
}

TEST_F(DebugBarriers, AClearNeedsABarrier) {
  const auto cpu_heap = create_heap(dml->d3d12.Get(), 1, false);
  D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
  view.Format = DXGI_FORMAT_R32_TYPELESS;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.NumElements = kElements;
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
  const UINT step = dml->d3d12->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  D3D12_CPU_DESCRIPTOR_HANDLE visible = heap->GetCPUDescriptorHandleForHeapStart();
  visible.ptr += 60 * step;
  D3D12_GPU_DESCRIPTOR_HANDLE gpu = heap->GetGPUDescriptorHandleForHeapStart();
  gpu.ptr += 60 * step;
  const D3D12_CPU_DESCRIPTOR_HANDLE cpu = cpu_heap->GetCPUDescriptorHandleForHeapStart();
  dml->d3d12->CreateUnorderedAccessView(c.Get(), nullptr, &view, visible);
  dml->d3d12->CreateUnorderedAccessView(c.Get(), nullptr, &view, cpu);
  const UINT zeros[4] = {};
  for (const bool separate : {false, true}) {
    dml->queue.list->ClearUnorderedAccessViewUint(gpu, cpu, c.Get(), zeros, 0, nullptr);
    if (separate) {
      barrier(uav(nullptr));
    }
    add({c.Get()}, {b.Get()}, {d.Get()});
    finish();
    separate ? expect_none() : expect_one(kMissingUavBarrier, {"ClearUnorderedAccessViewUint"});
  }
}

TEST_F(DebugBarriers, BuffersThatShareMemoryNeedAnAliasingBarrier) {
  D3D12_HEAP_DESC heap_desc{};
  heap_desc.SizeInBytes = 65536;
  heap_desc.Properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  heap_desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ComPtr<ID3D12Heap> memory;
  ASSERT_EQ(dml->d3d12->CreateHeap(&heap_desc, IID_PPV_ARGS(&memory)), S_OK);
  const auto desc = buffer_desc(kBytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  const auto place = [&] {
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(dml->d3d12->CreatePlacedResource(memory.Get(), 0, &desc, kCommon, nullptr, IID_PPV_ARGS(&buffer)), S_OK);
    return buffer;
  };
  const auto one = place();
  const auto two = place();
  for (const bool separate : {false, true}) {
    dml->queue.list->CopyBufferRegion(one.Get(), 0, a.Get(), 0, kBytes);
    barrier(uav(nullptr));  // a UAV barrier is not enough
    if (separate) {
      D3D12_RESOURCE_BARRIER aliasing{};
      aliasing.Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
      aliasing.Aliasing = {one.Get(), two.Get()};
      barrier(aliasing);
    }
    add({two.Get()}, {b.Get()}, {d.Get()});
    finish();
    separate ? expect_none() : expect_one(kMissingAliasingBarrier);
  }
}

TEST_F(DebugStates, ACopyThenADispatchNeedsATransition) {
  const auto staging = create_buffer(dml->d3d12.Get(), kBytes, D3D12_HEAP_TYPE_UPLOAD);
  dml->queue.list->CopyBufferRegion(a.Get(), 0, staging.Get(), 0, kBytes);
  add({a.Get()}, {b.Get()}, {c.Get()});
  finish();
  expect_one(D3D12_MESSAGE_ID_INVALID_SUBRESOURCE_STATE,
             {"buffer 'A'", "needs the state UNORDERED_ACCESS", "COPY_DEST since command 1"});
  dml->queue.list->CopyBufferRegion(a.Get(), 0, staging.Get(), 0, kBytes);
  barrier(transition(a.Get(), kCopyDest, kUav));
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(transition(c.Get(), kUav, kCopySource));
  const auto readback = create_buffer(dml->d3d12.Get(), kBytes, D3D12_HEAP_TYPE_READBACK);
  dml->queue.list->CopyBufferRegion(readback.Get(), 0, c.Get(), 0, kBytes);
  finish();
  expect_none();
}

TEST_F(DebugStates, OneBufferCannotBeBothSidesOfACopy) {
  dml->queue.list->CopyBufferRegion(a.Get(), 0, a.Get(), kBytes, kBytes);
  finish();
  expect_one(D3D12_MESSAGE_ID_INVALID_SUBRESOURCE_STATE, {"expected two buffers"});
}

TEST_F(DebugStates, StateBeforeMustBeTheState) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(transition(c.Get(), kCopyDest, kCopySource));
  finish();
  expect_one(D3D12_MESSAGE_ID_RESOURCE_BARRIER_BEFORE_AFTER_MISMATCH,
             {"buffer 'C'", "StateBefore COPY_DEST", "in state UNORDERED_ACCESS since command 1"});
}

TEST_F(DebugStates, ATransitionMayNotNameEveryState) {
  barrier(transition(a.Get(), kCommon, static_cast<D3D12_RESOURCE_STATES>(kUav | kCopyDest)));
  expect_one(D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMBINATION, {"StateAfter", "buffer 'A'"});
  const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  const auto desc = buffer_desc(kBytes);
  ComPtr<ID3D12Resource> plain;
  ASSERT_EQ(dml->d3d12->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, kCommon, nullptr,
                                                IID_PPV_ARGS(&plain)),
            S_OK);
  barrier(transition(plain.Get(), kUav, kCopySource));
  expect_one(D3D12_MESSAGE_ID_RESOURCE_BARRIER_MISSING_BIND_FLAGS, {"StateBefore"});
  Queue copies(dml->d3d12.Get(), D3D12_COMMAND_LIST_TYPE_COPY);
  const auto to_uav = transition(b.Get(), kCopyDest, kUav);
  copies.list->ResourceBarrier(1, &to_uav);
  expect_one(D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMMAND_LIST_TYPE, {"COPY"});
  const auto to_common = transition(b.Get(), kCopyDest, kCommon);
  Queue others(dml->d3d12.Get(), D3D12_COMMAND_LIST_TYPE_COPY);
  others.list->ResourceBarrier(1, &to_common);
  barrier(transition(c.Get(), kUav, D3D12_RESOURCE_STATE_GENERIC_READ));
  expect_none();
}

TEST_F(DebugStates, BuffersDecayWhenACallHasFinished) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(transition(c.Get(), kUav, kCopySource));
  finish();
  dml->queue.list->CopyBufferRegion(c.Get(), 0, a.Get(), 0, kBytes);  // the buffer is promoted from COMMON again
  finish();
  barrier(transition(c.Get(), kUav, kCopySource));  // some programs track states themselves and do this
  finish();
  expect_none();
}

TEST_F(DebugStates, SeveralReadStatesArePromoted) {
  const auto staging = create_buffer(dml->d3d12.Get(), kBytes, D3D12_HEAP_TYPE_READBACK);
  dml->queue.list->CopyBufferRegion(staging.Get(), 0, a.Get(), 0, kBytes);
  dml->queue.list->CopyBufferRegion(b.Get(), 0, a.Get(), kBytes, kBytes);
  barrier(transition(a.Get(), kCopySource, kUav));
  finish();
  expect_none();
}

TEST_F(DebugStates, UploadAndReadbackHeapsKeepTheirState) {
  const auto staging = create_buffer(dml->d3d12.Get(), kBytes, D3D12_HEAP_TYPE_UPLOAD);
  barrier(transition(staging.Get(), D3D12_RESOURCE_STATE_GENERIC_READ, kCopySource));
  finish();
  expect_one(D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_HEAP, {"an UPLOAD heap"});
  const auto readback = create_buffer(dml->d3d12.Get(), kBytes, D3D12_HEAP_TYPE_READBACK);
  barrier(transition(readback.Get(), kCopyDest, kCommon));
  finish();
  expect_one(D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_HEAP, {"a READBACK heap"});
}

TEST_F(DebugStates, SplitBarriersBeginAndEnd) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(transition(c.Get(), kUav, kCopySource, D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY));
  barrier(transition(c.Get(), kUav, kCopySource, D3D12_RESOURCE_BARRIER_FLAG_END_ONLY));
  dml->queue.list->CopyBufferRegion(d.Get(), 0, c.Get(), 0, kBytes);
  finish();
  expect_none();
  add({a.Get()}, {b.Get()}, {c.Get()});
  barrier(transition(c.Get(), kUav, kCopySource, D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY));
  dml->queue.list->CopyBufferRegion(d.Get(), 0, c.Get(), 0, kBytes);
  finish();
  expect_one(D3D12_MESSAGE_ID_INVALID_SUBRESOURCE_STATE, {"split barrier"});
  barrier(transition(c.Get(), kUav, kCopySource, D3D12_RESOURCE_BARRIER_FLAG_END_ONLY));
  finish();
  expect_one(D3D12_MESSAGE_ID_RESOURCE_BARRIER_MISMATCHING_BEGIN_END);
}

}  // namespace
}  // namespace anydml::test
