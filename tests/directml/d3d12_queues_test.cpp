// SPDX-License-Identifier: MIT
// Tests D3D12 command lists and queues as DirectML programs use them.
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "directml/harness.h"

namespace anydml::test {
namespace {

TEST(Lists, CopiesAndClears) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
  const auto buffer = create_buffer(device.Get(), 256);
  const auto visible = create_heap(device.Get(), 4);
  const auto hidden = create_heap(device.Get(), 4, false);
  EXPECT_EQ(hidden->GetGPUDescriptorHandleForHeapStart().ptr, 0U);  // clients call this, so it must not crash
  const UINT step = device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  ASSERT_GT(step, 0U);

  D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
  view.Format = DXGI_FORMAT_R32_TYPELESS;
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  view.Buffer.FirstElement = 4;
  view.Buffer.NumElements = 8;
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
  D3D12_CPU_DESCRIPTOR_HANDLE cpu{hidden->GetCPUDescriptorHandleForHeapStart().ptr + 3 * step};
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, cpu);
  D3D12_CPU_DESCRIPTOR_HANDLE copy{visible->GetCPUDescriptorHandleForHeapStart().ptr + 2 * step};
  device->CopyDescriptorsSimple(1, copy, cpu, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  const D3D12_GPU_DESCRIPTOR_HANDLE gpu{visible->GetGPUDescriptorHandleForHeapStart().ptr + 2 * step};

  ID3D12DescriptorHeap* heaps[] = {visible.Get()};
  queue.list->SetDescriptorHeaps(1, heaps);
  const UINT pattern[4] = {1, 2, 3, 4};
  queue.list->ClearUnorderedAccessViewUint(gpu, cpu, buffer.Get(), pattern, 0, nullptr);
  D3D12_RESOURCE_BARRIER barriers[3] = {};
  barriers[0].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  barriers[1].Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
  barriers[2].Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barriers[2].Transition = {buffer.Get(), D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
                            D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE};
  queue.list->ResourceBarrier(3, barriers);
  queue.finish();
  const auto words = download_as<UINT>(queue, buffer.Get());
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(words[i], i >= 4 && i < 12 ? i % 4 + 1 : 0) << i;
  }
  // A typed view uses only the first word of the pattern.
  view.Format = DXGI_FORMAT_R32_UINT;
  view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_NONE;
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, cpu);
  device->CreateUnorderedAccessView(buffer.Get(), nullptr, &view, copy);
  queue.list->SetDescriptorHeaps(1, heaps);
  queue.list->ClearUnorderedAccessViewUint(gpu, cpu, buffer.Get(), pattern, 0, nullptr);
  queue.finish();
  EXPECT_EQ(download_as<UINT>(queue, buffer.Get())[7], 1U);
}

TEST(Lists, ExecutedAgainAndResetWhileInFlight) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const auto source = create_buffer(device.Get(), 8 << 20, D3D12_HEAP_TYPE_UPLOAD);
  const auto target = create_buffer(device.Get(), 8 << 20);
  std::vector<std::uint8_t> bytes(8 << 20, 7);
  write_bytes(source.Get(), bytes.data(), bytes.size());
  queue.list->CopyResource(target.Get(), source.Get());
  ASSERT_EQ(queue.list->Close(), S_OK);
  queue.execute();
  queue.execute();  // the first execution may still be running
  // The list is reopened with the same allocator while its submissions are in flight.
  ASSERT_EQ(queue.list->Reset(queue.allocator.Get(), nullptr), S_OK);
  queue.list->CopyBufferRegion(target.Get(), 0, source.Get(), 0, 4);
  ASSERT_EQ(queue.list->Close(), S_OK);
  queue.execute();
  // A new list from the same allocator.
  ComPtr<ID3D12GraphicsCommandList> another;
  ASSERT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, queue.allocator.Get(), nullptr,
                                      IID_PPV_ARGS(&another)),
            S_OK);
  another->CopyResource(target.Get(), source.Get());
  ASSERT_EQ(another->Close(), S_OK);
  ID3D12CommandList* both[] = {queue.list.Get(), another.Get()};
  queue.queue->ExecuteCommandLists(2, both);
  ASSERT_EQ(queue.queue->Signal(queue.fence.Get(), ++queue.submitted), S_OK);
  queue.wait();
  queue.reopen();
  EXPECT_EQ(download(queue, target.Get()), bytes);
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

// If each submission grew its storage by exactly one list, moving the commands would take minutes.
TEST(Lists, HundredsOfThousandsInOneCall) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const auto source = create_buffer(device.Get(), 64);
  const auto target = create_buffer(device.Get(), 64);
  queue.list->CopyBufferRegion(target.Get(), 0, source.Get(), 32, 4);
  ASSERT_EQ(queue.list->Close(), S_OK);
  std::vector<ID3D12CommandList*> lists(300'000, queue.list.Get());
  queue.queue->ExecuteCommandLists(static_cast<UINT>(lists.size()), lists.data());
  ASSERT_EQ(queue.queue->Signal(queue.fence.Get(), ++queue.submitted), S_OK);
  queue.wait();
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST(Lists, AnAllocatorServesOneOpenList) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  EXPECT_EQ(queue.allocator->Reset(), E_FAIL);  // the allocator's list is open
  void* nothing = &nothing;
  EXPECT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, queue.allocator.Get(), nullptr,
                                      __uuidof(ID3D12GraphicsCommandList), &nothing),
            E_INVALIDARG);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(queue.list->Reset(queue.allocator.Get(), nullptr), E_FAIL);  // already open
  EXPECT_EQ(queue.list->Close(), S_OK);
  EXPECT_EQ(queue.list->Close(), E_FAIL);
  queue.list.Reset();  // a list released while open frees its allocator
  ASSERT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, queue.allocator.Get(), nullptr,
                                      IID_PPV_ARGS(&queue.list)),
            S_OK);
  queue.list.Reset();
  EXPECT_EQ(queue.allocator->Reset(), S_OK);
  ComPtr<ID3D12Device4> device4;
  ASSERT_EQ(device.As(&device4), S_OK);
  ComPtr<ID3D12GraphicsCommandList> closed;
  ASSERT_EQ(device4->CreateCommandList1(0, D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_FLAG_NONE,
                                        IID_PPV_ARGS(&closed)),
            S_OK);
  EXPECT_EQ(closed->Reset(queue.allocator.Get(), nullptr), S_OK);
}

TEST(Lists, WrongCallsMakeCloseFail) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const auto buffer = create_buffer(device.Get(), 64);
  const auto other = create_buffer(device.Get(), 32);
  const auto fails = [&](HRESULT expected, auto call) {
    call(queue.list.Get());
    EXPECT_EQ(queue.list->Close(), expected) << anydml_last_error();
    EXPECT_NE(std::string(anydml_last_error()).find("ID3D12GraphicsCommandList::Close"), std::string::npos);
    queue.reopen();
  };
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(buffer.Get(), 60, other.Get(), 0, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(buffer.Get(), UINT64_MAX, other.Get(), 0, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(nullptr, 0, other.Get(), 0, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyBufferRegion(buffer.Get(), 0, buffer.Get(), 4, 8); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyResource(buffer.Get(), other.Get()); });
  fails(E_INVALIDARG, [&](auto* l) { l->CopyResource(buffer.Get(), nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->ResourceBarrier(1, nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->SetDescriptorHeaps(1, nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->ClearUnorderedAccessViewUint({}, {}, buffer.Get(), nullptr, 0, nullptr); });
  fails(E_INVALIDARG, [&](auto* l) { l->EndQuery(nullptr, D3D12_QUERY_TYPE_TIMESTAMP, 0); });
  fails(E_NOTIMPL, [&](auto* l) { l->Dispatch(1, 1, 1); });
  fails(E_NOTIMPL, [&](auto* l) { l->DrawInstanced(3, 1, 0, 0); });
  D3D12_RESOURCE_BARRIER same{};
  same.Transition = {buffer.Get(), 0, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_DEST};
  fails(E_INVALIDARG, [&](auto* l) { l->ResourceBarrier(1, &same); });
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST(Queues, TimestampsAreResolvedIntoABuffer) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  UINT64 frequency = 0;
  ASSERT_EQ(queue.queue->GetTimestampFrequency(&frequency), S_OK);
  EXPECT_GT(frequency, 0U);
  D3D12_QUERY_HEAP_DESC desc{};
  desc.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
  desc.Count = 16384;
  ComPtr<ID3D12QueryHeap> heap;
  ASSERT_EQ(device->CreateQueryHeap(&desc, IID_PPV_ARGS(&heap)), S_OK);
  const auto readback = create_buffer(device.Get(), 16384 * 8, D3D12_HEAP_TYPE_READBACK);
  queue.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
  queue.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 16383);
  queue.list->ResolveQueryData(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 16384, readback.Get(), 0);
  queue.finish();
  const auto bytes = read_bytes(readback.Get());
  std::vector<UINT64> ticks(16384);
  std::memcpy(ticks.data(), bytes.data(), bytes.size());
  EXPECT_GT(ticks[0], 0U);
  EXPECT_GE(ticks[16383], ticks[0]);
}

TEST(Queues, AsynchronousAndInOrderAcrossTwo) {
  const auto device = create_d3d12_device();
  Queue first(device.Get());
  Queue second(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
  EXPECT_EQ(first.queue->GetDesc().Type, D3D12_COMMAND_LIST_TYPE_DIRECT);
  EXPECT_EQ(second.queue->GetDesc().Type, D3D12_COMMAND_LIST_TYPE_COMPUTE);
  ComPtr<ID3D12Fence> gate;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)), S_OK);
  const auto source = create_buffer(device.Get(), 4, D3D12_HEAP_TYPE_UPLOAD);
  const auto middle = create_buffer(device.Get(), 4);
  const auto target = create_buffer(device.Get(), 4, D3D12_HEAP_TYPE_READBACK);
  const UINT value = 42;
  write_bytes(source.Get(), &value, 4);
  // The second queue waits for the first queue, which waits for the CPU. Nothing has run when this function returns.
  ASSERT_EQ(first.queue->Wait(gate.Get(), 1), S_OK);
  first.list->CopyResource(middle.Get(), source.Get());
  first.submit();
  ASSERT_EQ(second.queue->Wait(first.fence.Get(), first.submitted), S_OK);
  second.list->CopyResource(target.Get(), middle.Get());
  second.submit();
  EXPECT_EQ(second.fence->GetCompletedValue(), 0U);
  ASSERT_EQ(gate->Signal(1), S_OK);
  second.wait();
  EXPECT_EQ(read_bytes(target.Get())[0], 42);
}

// This breaks D3D12's rules, but the library must not access released objects.
TEST(Queues, ReleasedWhileWorkIsInFlight) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  const auto source = create_buffer(device.Get(), 32 << 20, D3D12_HEAP_TYPE_UPLOAD);
  auto target = create_buffer(device.Get(), 32 << 20);
  {
    Queue queue(device.Get());
    queue.list->CopyResource(target.Get(), source.Get());
    queue.submit();
    ASSERT_EQ(queue.queue->Signal(fence.Get(), 1), S_OK);
  }
  target.Reset();  // the submitted work keeps its memory alive
  EXPECT_EQ(fence->SetEventOnCompletion(1, nullptr), S_OK);
}

std::size_t thread_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

TEST(Queues, TheirThreadsEndWhoeverDidTheWork) {
  const auto device = create_d3d12_device();
  const std::size_t before = thread_count();
  for (int round = 0; round < 40; ++round) {
    ComPtr<ID3D12Fence> fence;
    ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
    const auto source = create_buffer(device.Get(), 4 << 20, D3D12_HEAP_TYPE_UPLOAD);
    const auto target = create_buffer(device.Get(), 4 << 20);
    auto queue = std::make_unique<Queue>(device.Get());
    queue->list->CopyResource(target.Get(), source.Get());
    queue->submit();
    ASSERT_EQ(queue->queue->Signal(fence.Get(), 1), S_OK);
    const auto allocator = queue->allocator;  // the list needs the allocator until the work is finished
    std::thread waiting([&] { EXPECT_EQ(fence->SetEventOnCompletion(1, nullptr), S_OK); });
    queue.reset();  // the other thread may still be running the queue's work
    waiting.join();
  }
  for (int i = 0; i < 500 && thread_count() > before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(thread_count(), before);
}

// When a caller waits right after every submission, the queue expects another wait and leaves its thread asleep. The
// thread must still pick up work that nobody waits for.
TEST(Queues, WorkGoesOnWhenTheWaitThatWasExpectedNeverComes) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  queue.submit();
  for (int i = 0; i < 200; ++i) {
    queue.execute();
    queue.wait();
  }
  queue.execute();
  // Each fence is checked only once, because checking again would wake the queue's thread.
  bool reached = false;
  std::vector<ComPtr<ID3D12Fence>> fences(1000);
  for (auto& fence : fences) {
    ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
    ASSERT_EQ(queue.queue->Signal(fence.Get(), 1), S_OK);
  }
  for (std::size_t i = 0; i < fences.size() && !reached; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    reached = fences[i]->GetCompletedValue() == 1;
  }
  EXPECT_TRUE(reached);
}

// Observes completion in every other way, right after waits that made the queue expect another wait.
TEST(Queues, WorkGoesOnForThoseWhoDoNotRunIt) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  Queue other(device.Get());
  queue.submit();
  other.submit();
  const int event = eventfd(0, EFD_CLOEXEC);
  ASSERT_GE(event, 0);
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 3; ++i) {
      queue.execute();
      queue.wait();
    }
    queue.execute();
    switch (round % 3) {
      case 0:
        while (queue.fence->GetCompletedValue() < queue.submitted) {
          std::this_thread::yield();
        }
        break;
      case 1: {
        std::uint64_t count = 0;
        ASSERT_EQ(queue.fence->SetEventOnCompletion(queue.submitted, reinterpret_cast<HANDLE>(std::intptr_t{event})),
                  S_OK);
        ASSERT_EQ(read(event, &count, sizeof(count)), static_cast<ssize_t>(sizeof(count)));
        break;
      }
      default:
        ASSERT_EQ(other.queue->Wait(queue.fence.Get(), queue.submitted), S_OK);
        other.execute();
        other.wait();
        break;
    }
    ASSERT_EQ(queue.fence->GetCompletedValue(), queue.submitted);
  }
  close(event);
}

TEST(Queues, AWaitRunsNoWorkThatDoesNotBringIt) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  ComPtr<ID3D12Fence> fence;
  ComPtr<ID3D12Fence> gate;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)), S_OK);
  ASSERT_EQ(queue.queue->Signal(fence.Get(), 1), S_OK);
  ASSERT_EQ(fence->SetEventOnCompletion(1, nullptr), S_OK);
  // The queue has signaled the fence once and will not signal it again; value 2 comes from the CPU.
  ASSERT_EQ(queue.queue->Wait(gate.Get(), 1), S_OK);
  queue.submit();
  std::thread other([&] { fence->Signal(2); });
  EXPECT_EQ(fence->SetEventOnCompletion(2, nullptr), S_OK);
  EXPECT_EQ(queue.fence->GetCompletedValue(), 0U);
  other.join();
  gate->Signal(1);
  queue.wait();
}

}  // namespace
}  // namespace anydml::test
