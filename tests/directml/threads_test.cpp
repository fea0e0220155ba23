// SPDX-License-Identifier: MIT
// Eight threads create, bind, record, execute and wait at the same time, on their own queues and on a shared one, while
// another thread releases and removes devices. The test also runs under ThreadSanitizer.
#include <atomic>
#include <mutex>
#include <thread>

#include "directml/harness.h"

namespace anydml::test {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 12;

// Goes through the whole lifetime of one operator on a queue.
void one_round(Dml& dml, int seed) {
  const UINT width = 64 + static_cast<UINT>(seed % 7) * 1000;
  const Tensor tensor(DML_TENSOR_DATA_TYPE_INT32, {1, 1, 1, width});
  const auto op = dml.binary(tensor, tensor, tensor);
  const auto compiled = dml.compile(op.Get());
  dml.initialize(compiled.Get());
  const auto heap = create_heap(dml.d3d12.Get(), 3);
  const auto table = dml.table(compiled.Get(), heap.Get());
  const UINT64 bytes = UINT64{width} * 4;
  std::vector<int> a(width);
  std::vector<int> b(width);
  for (UINT i = 0; i < width; ++i) {
    a[i] = static_cast<int>(i) * seed - 500;
    b[i] = static_cast<int>(i % 11) - 5;
  }
  const auto a_buffer = create_buffer(dml.d3d12.Get(), bytes);
  const auto b_buffer = create_buffer(dml.d3d12.Get(), bytes);
  const auto out_buffer = create_buffer(dml.d3d12.Get(), bytes);
  upload(dml.queue, a_buffer.Get(), a.data(), bytes);
  upload(dml.queue, b_buffer.Get(), b.data(), bytes);
  bind_inputs(table.Get(), {{a_buffer.Get(), 0, bytes}, {b_buffer.Get(), 0, bytes}});
  bind_output(table.Get(), {out_buffer.Get(), 0, bytes});
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  for (int repeat = 0; repeat < 3; ++repeat) {
    uav_barrier(dml.queue.list.Get());
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  }
  dml.queue.finish();
  const auto out = download_as<int>(dml.queue, out_buffer.Get());
  for (UINT i = 0; i < width; ++i) {
    const int m = b[i] == 0 ? 0 : a[i] % b[i];
    ASSERT_EQ(out[i], m != 0 && (m < 0) != (b[i] < 0) ? m + b[i] : m) << i;
  }
}

TEST(Threads, EachWithDevicesAndAQueueOfItsOwn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < kRounds; ++round) {
        Dml dml(DML_CREATE_DEVICE_FLAG_NONE,
                t % 2 == 0 ? D3D12_COMMAND_LIST_TYPE_DIRECT : D3D12_COMMAND_LIST_TYPE_COMPUTE);
        one_round(dml, t * 100 + round);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

TEST(Threads, OneDeviceOneQueueAndOneOperatorForAll) {
  Dml shared;
  const Tensor tensor(DML_TENSOR_DATA_TYPE_INT32, {1, 1, 1, 1024});
  const auto op = shared.binary(tensor, tensor, tensor);
  const auto compiled = shared.compile(op.Get());
  shared.initialize(compiled.Get());
  const auto all_views = create_heap(shared.d3d12.Get(), kThreads * 3);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ComPtr<ID3D12CommandAllocator> allocator;
      ComPtr<ID3D12GraphicsCommandList> list;
      ComPtr<ID3D12Fence> fence;
      auto* device = shared.d3d12.Get();
      ASSERT_EQ(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)), S_OK);
      ASSERT_EQ(
          device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr, IID_PPV_ARGS(&list)),
          S_OK);
      ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
      const auto table = shared.table(compiled.Get(), all_views.Get(), static_cast<UINT>(t) * 3);
      const auto a = create_buffer(device, 4096, D3D12_HEAP_TYPE_CUSTOM);
      const auto b = create_buffer(device, 4096, D3D12_HEAP_TYPE_CUSTOM);
      const auto out = create_buffer(device, 4096, D3D12_HEAP_TYPE_CUSTOM);
      std::vector<int> values(1024);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int>(i) + t;
      }
      write_bytes(a.Get(), values.data(), 4096);
      std::fill(values.begin(), values.end(), 7 + t);
      write_bytes(b.Get(), values.data(), 4096);
      bind_inputs(table.Get(), {{a.Get(), 0, 4096}, {b.Get(), 0, 4096}});
      bind_output(table.Get(), {out.Get(), 0, 4096});
      ID3D12DescriptorHeap* heaps[] = {all_views.Get()};
      list->SetDescriptorHeaps(1, heaps);
      shared.recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
      ASSERT_EQ(list->Close(), S_OK);
      for (UINT64 round = 1; round <= kRounds; ++round) {
        ID3D12CommandList* lists[] = {list.Get()};
        shared.queue.queue->ExecuteCommandLists(1, lists);
        ASSERT_EQ(shared.queue.queue->Signal(fence.Get(), round), S_OK);
        if (round % 3 == 0) {
          ASSERT_EQ(fence->SetEventOnCompletion(round, nullptr), S_OK);
        }
      }
      ASSERT_EQ(fence->SetEventOnCompletion(kRounds, nullptr), S_OK);
      std::memcpy(values.data(), read_bytes(out.Get()).data(), 4096);
      for (int i = 0; i < 1024; ++i) {
        ASSERT_EQ(values[static_cast<std::size_t>(i)], (i + t) % (7 + t));
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(shared.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
}

TEST(Threads, ARingOfQueuesThatWaitForOneAnother) {
  const auto device = create_d3d12_device();
  std::vector<std::unique_ptr<Queue>> queues;
  ComPtr<ID3D12Fence> ring;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&ring)), S_OK);
  const auto counter = create_buffer(device.Get(), 8192);
  for (int t = 0; t < kThreads; ++t) {
    queues.push_back(std::make_unique<Queue>(device.Get()));
  }
  std::vector<std::thread> threads;
  for (UINT64 t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Queue& queue = *queues[t];
      const auto source = create_buffer(device.Get(), 8, D3D12_HEAP_TYPE_UPLOAD);
      write_bytes(source.Get(), &t, 8);
      queue.list->CopyBufferRegion(counter.Get(), t * 8, source.Get(), 0, 8);
      EXPECT_EQ(queue.list->Close(), S_OK);
      for (UINT64 round = 0; round < kRounds; ++round) {
        // Each thread waits for its neighbor's value before signaling its own.
        EXPECT_EQ(queue.queue->Wait(ring.Get(), round * kThreads + t), S_OK);
        queue.execute();
        EXPECT_EQ(queue.queue->Signal(ring.Get(), round * kThreads + t + 1), S_OK);
      }
      queue.wait();
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(ring->SetEventOnCompletion(kRounds * kThreads, nullptr), S_OK);
  EXPECT_EQ(ring->GetCompletedValue(), UINT64{kRounds} * kThreads);
}

TEST(Threads, DevicesThatComeAndGoAndAreRemoved) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 50; ++round) {
        const auto device = create_d3d12_device();
        if (t == 0 && round % 10 == 9) {
          ComPtr<ID3D12Device5> device5;
          device.As(&device5);
          device5->RemoveDevice();  // the next caller gets a new device
        }
        ComPtr<IDMLDevice> dml;
        const HRESULT result = DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml));
        if (result != S_OK) {  // the device was removed while this thread was using it
          ASSERT_EQ(result, kDeviceRemoved);
          ASSERT_NE(device->GetDeviceRemovedReason(), S_OK);
        }
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace anydml::test
