// SPDX-License-Identifier: MIT
// Correct programs that use the API in the same way as well-known clients. The debug layer must find no mistakes in
// them.
#include "directml/debug_clients.h"

#include <random>
#include <thread>

namespace anydml::test {
namespace {

TEST_F(DebugClients, DxDispatch) {
  Queue& queue = dml->queue;
  const auto run = [&] {
    queue.execute();
    expect_alive();
    queue.wait();
  };
  // Buffers in custom heaps are mapped, and the others are filled by copies.
  const auto mapped = create_buffer(device(), kBytes, D3D12_HEAP_TYPE_CUSTOM);
  const auto mapped_result = create_buffer(device(), kBytes, D3D12_HEAP_TYPE_CUSTOM);
  write(mapped.Get(), numbers(100));
  write(mapped_result.Get(), Floats(kElements));
  const auto sum = create_buffer(device(), kBytes);
  const auto step = create_buffer(device(), kBytes);
  const auto sum_staging = staging(Floats(kElements));
  const auto step_staging = staging(numbers(1));
  queue.list->CopyResource(sum.Get(), sum_staging.Get());
  barrier(transition(sum.Get(), kCopyDest, kUav));
  queue.list->CopyResource(step.Get(), step_staging.Get());
  barrier(transition(step.Get(), kCopyDest, kUav));
  ASSERT_EQ(queue.list->Close(), S_OK);
  run();
  queue.reopen();

  const D3D12_QUERY_HEAP_DESC query_desc{D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 16384, 0};
  ComPtr<ID3D12QueryHeap> queries;
  ASSERT_EQ(device()->CreateQueryHeap(&query_desc, IID_PPV_ARGS(&queries)), S_OK);
  const auto timestamps = create_buffer(device(), 16384 * sizeof(std::uint64_t), D3D12_HEAP_TYPE_READBACK);
  set_heap();
  const auto in_place = bound({sum.Get()}, {step.Get()}, {sum.Get()});
  const auto last = bound({sum.Get()}, {mapped.Get()}, {mapped_result.Get()});
  const auto dispatch = [&](const ComPtr<IDMLBindingTable>& table, UINT query) {
    queue.list->EndQuery(queries.Get(), D3D12_QUERY_TYPE_TIMESTAMP, query);
    set_heap();
    dml->recorder->RecordDispatch(queue.list.Get(), compiled.Get(), table.Get());
    barriers(queue.list.Get(), {uav(nullptr), aliasing()});
    queue.list->EndQuery(queries.Get(), D3D12_QUERY_TYPE_TIMESTAMP, query + 1);
  };
  for (UINT i = 0; i < 3; ++i) {
    dispatch(in_place, 2 * i);
  }
  dispatch(last, 6);
  queue.list->ResolveQueryData(queries.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 8, timestamps.Get(), 0);
  ASSERT_EQ(queue.list->Close(), S_OK);
  for (float times = 3; times <= 12; times += 3) {
    run();
    Floats expected = scaled(numbers(1), times);
    for (std::size_t i = 0; i < kElements; ++i) {
      expected[i] += 100 + static_cast<float>(i);
    }
    EXPECT_EQ(read(mapped_result.Get()), expected);
    const auto ticks = values_of<std::uint64_t>(read_bytes(timestamps.Get()));
    EXPECT_NE(ticks[0], 0U);
    EXPECT_TRUE(std::is_sorted(ticks.begin(), ticks.begin() + 8));
  }
  queue.reopen();

  const auto readback = create_buffer(device(), kBytes, D3D12_HEAP_TYPE_READBACK);
  barrier(transition(sum.Get(), kUav, kCopySource));
  queue.list->CopyResource(readback.Get(), sum.Get());
  barrier(transition(sum.Get(), kCopySource, kUav));
  ASSERT_EQ(queue.list->Close(), S_OK);
  run();
  EXPECT_EQ(read(readback.Get()), scaled(numbers(1), 12));
}

TEST_F(DebugClients, HelloDirectML) {
  Queue& queue = dml->queue;
  // Creates a fence for each submission, which is more fences than the debug layer needs to remember.
  const auto close_execute_reset_wait = [&] {
    ASSERT_EQ(queue.list->Close(), S_OK) << anydml_last_error();
    ID3D12CommandList* lists[] = {queue.list.Get()};
    queue.queue->ExecuteCommandLists(1, lists);
    ComPtr<ID3D12Fence> fence;
    ASSERT_EQ(device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
    ASSERT_EQ(queue.queue->Signal(fence.Get(), 1), S_OK);
    wait_for_event(fence.Get(), 1);
    queue.reopen();
  };
  const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, kElements});
  const auto op = dml->compile(dml->binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD).Get());
  ComPtr<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* targets[] = {op.Get()};
  ASSERT_EQ(dml->device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
  ComPtr<IDMLBindingTable> table;
  DML_BINDING_TABLE_DESC desc = table_desc(initializer.Get());
  ASSERT_EQ(dml->device->CreateBindingTable(&desc, IID_PPV_ARGS(&table)), S_OK) << anydml_last_error();
  set_heap();
  dml->recorder->RecordDispatch(queue.list.Get(), initializer.Get(), table.Get());
  close_execute_reset_wait();

  for (int i = 0; i < 100; ++i) {
    desc = table_desc(op.Get());
    ASSERT_EQ(table->Reset(&desc), S_OK) << anydml_last_error();
    const auto upload_buffer = staging(numbers(static_cast<float>(i)));
    const auto input = committed(kCopyDest);
    const auto output = committed(kUav);
    queue.list->CopyBufferRegion(input.Get(), 0, upload_buffer.Get(), 0, kBytes);
    barrier(transition(input.Get(), kCopyDest, kUav));
    set_heap();
    bind_inputs(table.Get(), {binding({input.Get()}), binding({input.Get()})});
    bind_output(table.Get(), binding({output.Get()}));
    dml->recorder->RecordDispatch(queue.list.Get(), op.Get(), table.Get());
    close_execute_reset_wait();
    const auto readback = create_buffer(device(), kBytes, D3D12_HEAP_TYPE_READBACK);
    barrier(transition(output.Get(), kUav, kCopySource));
    queue.list->CopyResource(readback.Get(), output.Get());
    close_execute_reset_wait();
    const D3D12_RANGE range{0, kBytes};
    void* data = nullptr;
    ASSERT_EQ(readback->Map(0, &range, &data), S_OK);
    Floats values(kElements);
    std::memcpy(values.data(), data, kBytes);
    const D3D12_RANGE nothing{0, 0};
    readback->Unmap(0, &nothing);
    ASSERT_EQ(values, scaled(numbers(static_cast<float>(i)), 2));
  }
}

TEST_F(DebugClients, PyDirectML) {
  const Network network(*dml);
  Queue queue(device(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
  constexpr std::uint64_t kX = 16;
  constexpr std::uint64_t kW = kX + Network::kBytes + 48;
  constexpr std::uint64_t kInputs = kW + Network::kBytes;
  const auto inputs = committed(kCommon, kInputs);
  const auto output = committed(kCommon, Network::kBytes);
  const auto temporary = committed(kCommon, network.temporary_bytes());
  const auto persistent = committed(kCommon, network.needs.PersistentResourceSize);
  const auto upload_buffer = create_buffer(device(), kInputs, D3D12_HEAP_TYPE_UPLOAD);
  write(upload_buffer.Get(), Network::x(), kX);
  write(upload_buffer.Get(), Network::w(), kW);
  const auto readback = create_buffer(device(), Network::kBytes, D3D12_HEAP_TYPE_READBACK);

  ComPtr<ID3D12Device3> device3;
  ASSERT_EQ(dml->d3d12.As(&device3), S_OK);
  ComPtr<ID3D12Fence> resident;
  ASSERT_EQ(device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&resident)), S_OK);
  ID3D12Pageable* pageables[] = {inputs.Get(), output.Get(), temporary.Get(), persistent.Get()};
  ASSERT_EQ(device3->EnqueueMakeResident(D3D12_RESIDENCY_FLAG_NONE, 4, pageables, resident.Get(), 1), S_OK);
  ASSERT_EQ(queue.queue->Wait(resident.Get(), 1), S_OK);

  const auto views = create_heap(device(), 8);
  const auto cpu_views = create_heap(device(), 8, false);
  const UINT step = device()->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  UINT next_view = 0;
  const auto fill = [&](ID3D12Resource* buffer) {
    ID3D12DescriptorHeap* heaps[] = {views.Get()};
    queue.list->SetDescriptorHeaps(1, heaps);
    D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
    view.Format = DXGI_FORMAT_R32_TYPELESS;
    view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
    view.Buffer.NumElements = static_cast<UINT>(buffer->GetDesc().Width / sizeof(UINT));
    view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
    const std::size_t offset = std::size_t{next_view++ % 8} * step;
    const D3D12_CPU_DESCRIPTOR_HANDLE visible{views->GetCPUDescriptorHandleForHeapStart().ptr + offset};
    const D3D12_CPU_DESCRIPTOR_HANDLE cpu{cpu_views->GetCPUDescriptorHandleForHeapStart().ptr + offset};
    device()->CreateUnorderedAccessView(buffer, nullptr, &view, visible);
    device()->CreateUnorderedAccessView(buffer, nullptr, &view, cpu);
    constexpr UINT kOnes[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    queue.list->ClearUnorderedAccessViewUint({views->GetGPUDescriptorHandleForHeapStart().ptr + offset}, cpu, buffer,
                                             kOnes, 0, nullptr);
  };
  ComPtr<IDMLBindingTable> table;
  ASSERT_EQ(dml->device->CreateBindingTable(nullptr, IID_PPV_ARGS(&table)), S_OK);

  for (ID3D12Resource* buffer : {inputs.Get(), temporary.Get(), persistent.Get()}) {
    fill(buffer);
  }
  barriers(queue.list.Get(), {uav(nullptr), transition(inputs.Get(), kUav, kCopyDest)});
  queue.list->CopyBufferRegion(inputs.Get(), kX, upload_buffer.Get(), kX, kInputs - kX);
  barriers(queue.list.Get(), {transition(inputs.Get(), kCopyDest, kUav)});
  DML_BINDING_TABLE_DESC desc = table_desc(network.initializer.Get());
  ASSERT_EQ(table->Reset(&desc), S_OK) << anydml_last_error();
  network.bind_first(table.Get(), {inputs.Get(), kW, Network::kBytes}, persistent.Get(), temporary.Get());
  set_heap(queue.list.Get());
  dml->recorder->RecordDispatch(queue.list.Get(), network.initializer.Get(), table.Get());
  queue.finish();

  for (int i = 0; i < 3; ++i) {
    fill(temporary.Get());
    fill(output.Get());
    barriers(queue.list.Get(), {uav(nullptr)});
    desc = table_desc(network.compiled.Get());
    ASSERT_EQ(table->Reset(&desc), S_OK) << anydml_last_error();
    network.bind(table.Get(), {inputs.Get(), kX, Network::kBytes}, {output.Get(), 0, Network::kBytes}, persistent.Get(),
                 temporary.Get());
    set_heap(queue.list.Get());
    dml->recorder->RecordDispatch(queue.list.Get(), network.compiled.Get(), table.Get());
    barriers(queue.list.Get(), {uav(nullptr), transition(output.Get(), kUav, kCopySource)});
    queue.list->CopyBufferRegion(readback.Get(), 0, output.Get(), 0, Network::kBytes);
    barriers(queue.list.Get(), {transition(output.Get(), kCopySource, kUav)});
    queue.finish();
    expect_alive();
    EXPECT_EQ(read(readback.Get()), Network::expected());
  }
}

TEST_F(DebugClients, TensorFlow) {
  constexpr std::size_t kRounds = 8;
  Queue& queue = dml->queue;
  D3D12_HEAP_DESC heap_desc{};
  heap_desc.SizeInBytes = 65536;
  heap_desc.Properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  heap_desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ComPtr<ID3D12Heap> memory;
  ASSERT_EQ(device()->CreateHeap(&heap_desc, IID_PPV_ARGS(&memory)), S_OK);
  const auto desc = buffer_desc(65536, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  const auto place = [&](D3D12_RESOURCE_STATES state) {
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(device()->CreatePlacedResource(memory.Get(), 0, &desc, state, nullptr, IID_PPV_ARGS(&buffer)), S_OK);
    return buffer;
  };
  const auto storage = place(kUav);
  const auto source = place(kCopySource);
  const auto destination = place(kCopyDest);
  const auto upload_chunk = create_buffer(device(), kRounds * kBytes, D3D12_HEAP_TYPE_UPLOAD);
  const auto readback_chunk = create_buffer(device(), kRounds * kBytes, D3D12_HEAP_TYPE_READBACK);
  void* uploaded = nullptr;  // this buffer stays mapped
  ASSERT_EQ(upload_chunk->Map(0, nullptr, &uploaded), S_OK);

  struct {
    ComPtr<ID3D12CommandAllocator> allocator;
    std::uint64_t last = 0;
  } ring[2] = {{allocator(), 0}, {allocator(), 0}};
  const std::uint64_t first_value = queue.submitted + 1;
  std::uint64_t started = 0;
  ComPtr<ID3D12GraphicsCommandList> list;
  const auto submit_round = [&] {
    auto& slot = ring[started % 2];
    if (queue.fence->GetCompletedValue() >= slot.last) {
      ASSERT_EQ(slot.allocator->Reset(), S_OK);
    }
    if (list == nullptr) {
      list = open_list(slot.allocator.Get());
    } else {
      ASSERT_EQ(list->Reset(slot.allocator.Get(), nullptr), S_OK);
    }
    const std::uint64_t offset = started * kBytes;
    const Floats values = numbers(static_cast<float>(started));
    std::memcpy(static_cast<char*>(uploaded) + offset, values.data(), kBytes);
    list->CopyBufferRegion(destination.Get(), offset, upload_chunk.Get(), offset, kBytes);
    barriers(list.Get(), {aliasing()});
    set_heap(list.Get());
    // The dispatch works in place, and the binding table is released at once.
    add(list.Get(), {storage.Get(), offset}, {storage.Get(), offset}, {storage.Get(), offset});
    barriers(list.Get(), {uav(nullptr), aliasing()});
    list->CopyBufferRegion(readback_chunk.Get(), offset, source.Get(), offset, kBytes);
    barriers(list.Get(), {aliasing(source.Get(), storage.Get())});
    ASSERT_EQ(list->Close(), S_OK) << anydml_last_error();
    ID3D12CommandList* lists[] = {list.Get()};
    queue.queue->ExecuteCommandLists(1, lists);
    slot.last = first_value + started++;
    ASSERT_EQ(queue.queue->Signal(queue.fence.Get(), slot.last), S_OK);
    expect_alive();
  };
  for (std::size_t i = 0; i < kRounds / 2; ++i) {
    submit_round();
  }
  ComPtr<ID3D12Fence> done;
  ASSERT_EQ(device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&done)), S_OK);
  std::vector<Floats> results(kRounds);
  std::thread reader([&] {
    for (std::size_t i = 0; i < kRounds; ++i) {
      wait_for_event(queue.fence.Get(), first_value + i);
      // Only this part of the chunk is read. Other parts may belong to work that is still running.
      void* data = nullptr;
      EXPECT_EQ(readback_chunk->Map(0, nullptr, &data), S_OK);
      results[i].resize(kElements);
      std::memcpy(results[i].data(), static_cast<char*>(data) + i * kBytes, kBytes);
      readback_chunk->Unmap(0, nullptr);
      EXPECT_EQ(done->Signal(i + 1), S_OK);
    }
  });
  for (std::size_t i = kRounds / 2; i < kRounds; ++i) {
    submit_round();
  }
  ASSERT_EQ(done->SetEventOnCompletion(kRounds, nullptr), S_OK);
  reader.join();
  for (std::size_t i = 0; i < kRounds; ++i) {
    EXPECT_EQ(results[i], scaled(numbers(static_cast<float>(i)), 2));
  }
}

TEST_F(DebugClients, OnnxRuntime) {
  Queue& queue = dml->queue;
  Queue copies(device());
  const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, kElements});
  const auto op = dml->compile(dml->binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD).Get(),
                               DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  dml->initialize(op.Get());
  // The reused list is closed before anything is bound.
  const auto reused_allocator = allocator();
  const auto reused = open_list(reused_allocator.Get());
  const auto table = dml->table(op.Get(), heap.Get());
  set_heap(reused.Get());
  dml->recorder->RecordDispatch(reused.Get(), op.Get(), table.Get());
  barriers(reused.Get(), {uav(nullptr)});
  ASSERT_EQ(reused->Close(), S_OK) << anydml_last_error();

  const auto upload_buffer = create_buffer(device(), kBytes, D3D12_HEAP_TYPE_UPLOAD);
  const auto readback = create_buffer(device(), kBytes, D3D12_HEAP_TYPE_READBACK);
  for (int i = 0; i < 6; ++i) {
    write(upload_buffer.Get(), numbers(static_cast<float>(i)));
    queue.list->CopyBufferRegion(a.Get(), 0, upload_buffer.Get(), 0, kBytes);
    barriers(queue.list.Get(), {transition(a.Get(), kCopyDest, kUav), uav(nullptr)});
    ASSERT_EQ(queue.list->Close(), S_OK);
    // Bind whole resources, although the tensors are smaller.
    ID3D12Resource* output = i % 2 == 0 ? c.Get() : d.Get();
    bind_inputs(table.Get(), {{a.Get(), 0, 4 * kBytes}, {a.Get(), 0, 4 * kBytes}});
    bind_output(table.Get(), {output, 0, 4 * kBytes});
    ID3D12CommandList* lists[] = {queue.list.Get(), reused.Get()};
    queue.queue->ExecuteCommandLists(2, lists);
    ASSERT_EQ(queue.queue->Signal(queue.fence.Get(), ++queue.submitted), S_OK);
    expect_alive();
    ASSERT_EQ(copies.queue->Wait(queue.fence.Get(), queue.submitted), S_OK);
    barriers(copies.list.Get(), {transition(output, kUav, kCopySource)});
    copies.list->CopyBufferRegion(readback.Get(), 0, output, 0, kBytes);
    barriers(copies.list.Get(), {transition(output, kCopySource, kUav)});
    copies.submit();
    ASSERT_EQ(queue.queue->Wait(copies.fence.Get(), copies.submitted), S_OK);
    while (copies.fence->GetCompletedValue() < copies.submitted) {
      std::this_thread::yield();
    }
    copies.reopen();
    queue.reopen();
    EXPECT_EQ(read(readback.Get()), scaled(numbers(static_cast<float>(i)), 2));
  }
  // Use the same bindings again and again, without waits in between.
  ID3D12CommandList* again[] = {reused.Get()};
  for (int i = 0; i < 20; ++i) {
    queue.queue->ExecuteCommandLists(1, again);
  }
  ASSERT_EQ(queue.queue->Signal(queue.fence.Get(), ++queue.submitted), S_OK);
  queue.wait();
}

TEST_F(DebugClients, ChromiumWebNN) {
  Queue& queue = dml->queue;
  const auto input = committed(kCommon, kBytes, device()->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_UPLOAD));
  const auto output = committed(kCommon, kBytes, device()->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_READBACK));
  const auto middle = committed(kUav);
  write(input.Get(), numbers(1));
  const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, kElements});
  auto op = dml->compile(dml->binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD).Get(),
                         DML_EXECUTION_FLAG_DISABLE_META_COMMANDS);
  ComPtr<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* targets[] = {op.Get()};
  ASSERT_EQ(dml->device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
  {
    DML_BINDING_TABLE_DESC desc{};
    desc.Dispatchable = initializer.Get();
    desc.CPUDescriptorHandle.ptr = SIZE_MAX;
    desc.GPUDescriptorHandle.ptr = UINT64_MAX;
    ASSERT_EQ(initializer->GetBindingProperties().RequiredDescriptorCount, 0U);
    ComPtr<IDMLBindingTable> empty;
    ASSERT_EQ(dml->device->CreateBindingTable(&desc, IID_PPV_ARGS(&empty)), S_OK) << anydml_last_error();
    dml->recorder->RecordDispatch(queue.list.Get(), initializer.Get(), empty.Get());
  }
  queue.submit();
  // The list records the graph with a second allocator while the initializer runs.
  auto second_allocator = allocator();
  ASSERT_EQ(queue.list->Reset(second_allocator.Get(), nullptr), S_OK);
  set_heap();
  {
    const auto first = dml->table(op.Get(), heap.Get(), 0);
    bind_inputs(first.Get(), {binding({input.Get()}), binding({input.Get()})});
    bind_output(first.Get(), binding({middle.Get()}));
    dml->recorder->RecordDispatch(queue.list.Get(), op.Get(), first.Get());
    barrier(uav(middle.Get()));
    const auto second = dml->table(op.Get(), heap.Get(), 8);
    bind_inputs(second.Get(), {binding({middle.Get()}), binding({input.Get()})});
    bind_output(second.Get(), binding({output.Get()}));
    dml->recorder->RecordDispatch(queue.list.Get(), op.Get(), second.Get());
  }
  queue.submit();
  queue.wait();
  initializer = nullptr;
  EXPECT_EQ(read(output.Get()), scaled(numbers(1), 3));
  for (int i = 2; i < 10; ++i) {
    write(input.Get(), numbers(static_cast<float>(i)));
    queue.execute();
    wait_for_event(queue.fence.Get(), queue.submitted);
    EXPECT_EQ(read(output.Get()), scaled(numbers(static_cast<float>(i)), 3));
  }
  op = nullptr;
  second_allocator = nullptr;
  expect_alive();
}

TEST_F(DebugClients, DirectMLX) {
  for (unsigned order = 0; order < 8; ++order) {
    Network network(*dml);
    auto queue = std::make_unique<Queue>(device());
    auto input = committed(kUav, Network::kBytes);
    auto owned = committed(kUav, Network::kBytes);
    auto output = committed(kUav, Network::kBytes);
    auto temporary = committed(kUav, network.temporary_bytes());
    auto persistent = committed(kUav, network.needs.PersistentResourceSize);
    auto own_heap = create_heap(device(), 2 * network.descriptors());
    ID3D12DescriptorHeap* heaps[] = {own_heap.Get()};
    upload(*queue, input.Get(), Network::x().data(), Network::kBytes);
    upload(*queue, owned.Get(), Network::w().data(), Network::kBytes);
    auto first_table = dml->table(network.initializer.Get(), own_heap.Get());
    auto table = dml->table(network.compiled.Get(), own_heap.Get(), network.descriptors());
    network.bind_first(first_table.Get(), {owned.Get(), 0, Network::kBytes}, persistent.Get(), temporary.Get());
    network.bind(table.Get(), {input.Get(), 0, Network::kBytes}, {output.Get(), 0, Network::kBytes}, persistent.Get(),
                 temporary.Get());
    queue->list->SetDescriptorHeaps(1, heaps);
    dml->recorder->RecordDispatch(queue->list.Get(), network.initializer.Get(), first_table.Get());
    barriers(queue->list.Get(), {uav(nullptr)});
    dml->recorder->RecordDispatch(queue->list.Get(), network.compiled.Get(), table.Get());
    queue->finish();
    // The owned tensor is in the persistent resource now.
    owned = nullptr;
    network.initializer = nullptr;
    queue->list->SetDescriptorHeaps(1, heaps);
    for (int i = 0; i < 3; ++i) {
      dml->recorder->RecordDispatch(queue->list.Get(), network.compiled.Get(), table.Get());
      barriers(queue->list.Get(), {uav(temporary.Get()), uav(output.Get())});
    }
    queue->submit();
    for (int i = 0; i < 5; ++i) {
      queue->execute();
    }
    queue->wait();
    queue->reopen();
    EXPECT_EQ(values_of<float>(download(*queue, output.Get())), Network::expected());

    std::vector<ComPtr<IUnknown>> objects;
    const auto move_in = [&](auto& object) {
      ComPtr<IUnknown> unknown;
      ASSERT_EQ(object.As(&unknown), S_OK);
      objects.push_back(unknown);
      object = nullptr;
    };
    move_in(input);
    move_in(output);
    move_in(temporary);
    move_in(persistent);
    move_in(own_heap);
    move_in(first_table);
    move_in(table);
    move_in(network.compiled);
    move_in(queue->queue);
    move_in(queue->allocator);
    move_in(queue->list);
    move_in(queue->fence);
    if (order == 7) {  // the last round also releases the devices
      move_in(dml->recorder);
      move_in(dml->device);
      move_in(dml->queue.list);
      move_in(dml->queue.queue);
      move_in(dml->d3d12);
      move_in(compiled);
      move_in(a);
    }
    queue = nullptr;
    std::ranges::shuffle(objects, std::mt19937(order));
    while (!objects.empty()) {
      objects.pop_back();
    }
    expect_none();
  }
}

// A program on two queues that is correct by construction. It tracks every state and records a barrier after every
// dispatch, and each queue waits for the other one before it begins.
TEST_F(DebugClients, RandomProgramsOnTwoQueues) {
  constexpr std::size_t kSlots = 4;  // the number of slots in each buffer
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t end) { return random() % end; };
    std::vector<ComPtr<ID3D12Resource>> buffers;
    for (int i = 0; i < 4; ++i) {
      buffers.push_back(committed(kCommon, kSlots * kBytes));
      upload(dml->queue, buffers.back().Get(), Floats(kSlots * kElements).data(), kSlots * kBytes);
    }
    std::vector<std::vector<Floats>> expected(buffers.size(), std::vector<Floats>(kSlots, Floats(kElements)));
    Queue queues[2] = {Queue(device()), Queue(device(), D3D12_COMMAND_LIST_TYPE_COMPUTE)};
    std::vector<ComPtr<IUnknown>> kept;
    for (int submission = 0; submission < 12; ++submission) {
      const std::size_t chosen = below(2);
      Queue& queue = queues[chosen];
      Queue& other = queues[1 - chosen];
      const auto type = chosen == 0 ? D3D12_COMMAND_LIST_TYPE_DIRECT : D3D12_COMMAND_LIST_TYPE_COMPUTE;
      kept.emplace_back(queue.allocator.Get());
      queue.allocator = allocator(type);
      if (queue.submitted == 0) {
        ASSERT_EQ(queue.list->Close(), S_OK);
      }
      ASSERT_EQ(queue.list->Reset(queue.allocator.Get(), nullptr), S_OK);
      kept.emplace_back(heap.Get());
      heap = create_heap(device(), kDescriptors);
      next_descriptor = 0;
      set_heap(queue.list.Get());
      std::vector<D3D12_RESOURCE_STATES> states(buffers.size(), kCommon);
      const auto need = [&](std::size_t buffer, D3D12_RESOURCE_STATES state) {
        // A buffer in the state COMMON is promoted, and its transition may name any StateBefore.
        if (states[buffer] != state && (states[buffer] != kCommon || below(2) == 0)) {
          barriers(queue.list.Get(), {transition(buffers[buffer].Get(), states[buffer], state)});
        }
        states[buffer] = state;
      };
      for (std::size_t command = 1 + below(6); command != 0; --command) {
        const std::size_t from = below(buffers.size());
        const std::size_t to = (from + 1 + below(buffers.size() - 1)) % buffers.size();
        const std::size_t slots[3] = {below(kSlots), below(kSlots), below(kSlots)};
        if (below(2) == 0) {
          need(from, kUav);
          need(to, kUav);
          ID3D12Resource* output = buffers[to].Get();
          add(queue.list.Get(), {buffers[from].Get(), slots[0] * kBytes}, {output, slots[1] * kBytes},
              {output, slots[2] * kBytes});
          for (std::size_t i = 0; i < kElements; ++i) {
            expected[to][slots[2]][i] = expected[from][slots[0]][i] + expected[to][slots[1]][i];
          }
          barriers(queue.list.Get(),
                   below(2) == 0 ? std::vector{uav(nullptr)} : std::vector{uav(buffers[from].Get()), uav(output)});
        } else if (below(2) == 0) {
          need(from, kCopySource);
          need(to, kCopyDest);
          queue.list->CopyBufferRegion(buffers[to].Get(), slots[1] * kBytes, buffers[from].Get(), slots[0] * kBytes,
                                       kBytes);
          expected[to][slots[1]] = expected[from][slots[0]];
        } else {
          expected[to][slots[1]] = numbers(static_cast<float>(below(100)));
          const auto source = staging(expected[to][slots[1]]);
          need(to, kCopyDest);
          queue.list->CopyBufferRegion(buffers[to].Get(), slots[1] * kBytes, source.Get(), 0, kBytes);
          kept.emplace_back(source.Get());
        }
      }
      switch (below(4)) {
        case 0:
          other.wait();
          break;
        case 1:
          while (other.fence->GetCompletedValue() < other.submitted) {
            std::this_thread::yield();
          }
          break;
        case 2:
          wait_for_event(other.fence.Get(), other.submitted);
          break;
        default:
          ASSERT_EQ(queue.queue->Wait(other.fence.Get(), other.submitted), S_OK);
          break;
      }
      queue.submit();
    }
    for (Queue& queue : queues) {
      queue.wait();
    }
    std::ranges::shuffle(kept, random);
    kept.clear();
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const auto found = download_as<float>(dml->queue, buffers[i].Get());
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        const auto begin = found.begin() + static_cast<std::ptrdiff_t>(slot * kElements);
        EXPECT_EQ(Floats(begin, begin + kElements), expected[i][slot]) << seed;
      }
    }
    expect_none();
  }
}

}  // namespace
}  // namespace anydml::test
