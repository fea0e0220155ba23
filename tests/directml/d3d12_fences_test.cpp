// SPDX-License-Identifier: MIT
// Tests D3D12 fences, and that device removal signals every fence.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "directml/harness.h"

namespace anydml::test {
namespace {

TEST(Fences, NullEventBlocksUntilReached) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(3, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  EXPECT_EQ(fence->GetCompletedValue(), 3U);
  EXPECT_EQ(fence->SetEventOnCompletion(3, nullptr), S_OK);
  std::atomic<bool> signalled = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    signalled = true;
    fence->Signal(10);
  });
  EXPECT_EQ(fence->SetEventOnCompletion(10, nullptr), S_OK);
  EXPECT_TRUE(signalled);
  other.join();
}

TEST(Fences, ValuesOnlyRise) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  EXPECT_EQ(fence->Signal(5), S_OK);
  EXPECT_EQ(fence->Signal(5), S_OK);
  EXPECT_EQ(fence->Signal(4), E_INVALIDARG);
  EXPECT_EQ(queue.queue->Signal(fence.Get(), 2), S_OK);  // rejected later, on the queue; the value stays
  queue.submit();
  queue.wait();
  EXPECT_EQ(fence->GetCompletedValue(), 5U);
}

TEST(Fences, EventsAreEventfds) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  const auto handle = [](int descriptor) { return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(descriptor)); };
  const auto is_set = [](int descriptor) {
    pollfd ready{descriptor, POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  };
  const int late = eventfd(0, 0);
  const int early = eventfd(0, 0);
  ASSERT_EQ(fence->SetEventOnCompletion(2, handle(late)), S_OK);
  ASSERT_EQ(fence->SetEventOnCompletion(0, handle(early)), S_OK);  // already reached, so set immediately
  EXPECT_TRUE(is_set(early));
  EXPECT_FALSE(is_set(late));
  fence->Signal(1);
  EXPECT_FALSE(is_set(late));
  fence->Signal(2);
  EXPECT_TRUE(is_set(late));
  // The caller may close its descriptor while the wait is pending.
  const int gone = eventfd(0, 0);
  ASSERT_EQ(fence->SetEventOnCompletion(9, handle(gone)), S_OK);
  close(gone);
  fence->Signal(9);
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  EXPECT_EQ(fence->SetEventOnCompletion(20, handle(pipes[1])), E_INVALIDARG);
  EXPECT_EQ(fence->SetEventOnCompletion(20, handle(987654)), E_INVALIDARG);
  for (const int descriptor : {late, early, pipes[0], pipes[1]}) {
    close(descriptor);
  }
}

TEST(Fences, SeveralAtOnce) {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Device1> device1;
  ASSERT_EQ(device.As(&device1), S_OK);
  ComPtr<ID3D12Fence> fences[2];
  ID3D12Fence* pointers[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fences[i])), S_OK);
    pointers[i] = fences[i].Get();
  }
  const UINT64 values[] = {1, 1};
  fences[1]->Signal(1);
  EXPECT_EQ(
      device1->SetEventOnMultipleFenceCompletion(pointers, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, nullptr),
      S_OK);
  const int event = eventfd(0, 0);
  EXPECT_EQ(device1->SetEventOnMultipleFenceCompletion(pointers, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL,
                                                       reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(event))),
            S_OK);
  fences[0]->Signal(1);
  UINT64 count = 0;
  EXPECT_EQ(read(event, &count, sizeof(count)), 8);  // blocks until the event is set
  EXPECT_EQ(
      device1->SetEventOnMultipleFenceCompletion(pointers, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ALL, nullptr),
      S_OK);
  close(event);
}

TEST(Removal, EveryFenceIsReachedAndNothingIsCreated) {
  auto device = create_d3d12_device();
  Queue queue(device.Get());
  ComPtr<ID3D12Fence> never;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&never)), S_OK);
  ASSERT_EQ(queue.queue->Wait(never.Get(), 1), S_OK);
  queue.submit();
  std::thread waiting([&] { never->SetEventOnCompletion(7, nullptr); });
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(device.As(&device5), S_OK);
  device5->RemoveDevice();
  waiting.join();
  EXPECT_EQ(never->GetCompletedValue(), UINT64_MAX);
  EXPECT_EQ(queue.fence->GetCompletedValue(), UINT64_MAX);
  EXPECT_EQ(device->GetDeviceRemovedReason(), kDeviceRemoved);
  void* nothing = &nothing;
  EXPECT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &nothing), kDeviceRemoved);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(queue.queue->Signal(queue.fence.Get(), 9), kDeviceRemoved);
  // Creating a device must now return a new one.
  const auto another = create_d3d12_device();
  EXPECT_NE(another.Get(), device.Get());
  EXPECT_EQ(another->GetDeviceRemovedReason(), S_OK);
}

TEST(Removal, FencesMadeMeanwhileAreReachedToo) {
  for (int round = 0; round < 50; ++round) {
    const auto device = create_d3d12_device();
    std::vector<ComPtr<ID3D12Fence>> fences;
    std::thread making([&] {
      for (;;) {
        ComPtr<ID3D12Fence> fence;
        if (device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)) != S_OK) {
          return;
        }
        fences.push_back(fence);
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ComPtr<ID3D12Device5> device5;
    device.As(&device5);
    device5->RemoveDevice();
    making.join();
    for (const auto& fence : fences) {
      ASSERT_EQ(fence->GetCompletedValue(), UINT64_MAX);
    }
  }
}

TEST(Removal, WrongUseOfAQueueRemovesTheDevice) {
  enum class Mistake { open_list, spoilt_list, null_list, wrong_type, released_buffer };
  for (const Mistake mistake :
       {Mistake::open_list, Mistake::spoilt_list, Mistake::null_list, Mistake::wrong_type, Mistake::released_buffer}) {
    const auto device = create_d3d12_device();
    Queue queue(device.Get());
    Queue compute(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
    ID3D12CommandList* lists[] = {queue.list.Get()};
    if (mistake == Mistake::spoilt_list) {
      queue.list->CopyResource(nullptr, nullptr);
      EXPECT_EQ(queue.list->Close(), E_INVALIDARG);
    } else if (mistake == Mistake::null_list) {
      lists[0] = nullptr;
    } else if (mistake == Mistake::wrong_type) {
      EXPECT_EQ(compute.list->Close(), S_OK);
      lists[0] = compute.list.Get();
    } else if (mistake == Mistake::released_buffer) {
      const auto from = create_buffer(device.Get(), 16);
      const auto to = create_buffer(device.Get(), 16);
      queue.list->CopyResource(to.Get(), from.Get());
      EXPECT_EQ(queue.list->Close(), S_OK);
    }
    EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
    queue.queue->ExecuteCommandLists(1, lists);
    EXPECT_EQ(device->GetDeviceRemovedReason(), E_INVALIDARG) << static_cast<int>(mistake);
    EXPECT_NE(std::string(anydml_last_error()).find("ExecuteCommandLists"), std::string::npos);
  }
}

}  // namespace
}  // namespace anydml::test
