// SPDX-License-Identifier: MIT
// Tests behavior that only asynchronous devices show: work submitted ahead of the device, queues that wait for one
// another on the device, objects released while the device works, and faults. The same programs also run on other
// devices.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>

#include "directml/harness.h"

namespace anydml::test {
namespace {

constexpr HRESULT kDeviceHung = static_cast<HRESULT>(0x887A0006);  // DXGI_ERROR_DEVICE_HUNG
constexpr std::uint32_t kCount = 1024;
constexpr std::uint64_t kBytes = kCount * sizeof(std::uint32_t);

std::vector<std::uint32_t> numbers(std::uint32_t first) {
  std::vector<std::uint32_t> values(kCount);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// In each round one queue writes, and a second queue waits for it on the device and copies the result. The CPU waits
// only for the second queue.
TEST(Asynchronous, QueuesWaitForOneAnotherOnTheDevice) {
  const auto device = create_d3d12_device();
  Queue first(device.Get());
  Queue second(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
  const auto source = create_buffer(device.Get(), kBytes, D3D12_HEAP_TYPE_UPLOAD);
  const auto between = create_buffer(device.Get(), kBytes);
  const auto result = create_buffer(device.Get(), kBytes, D3D12_HEAP_TYPE_READBACK);
  first.list->CopyResource(between.Get(), source.Get());
  ASSERT_EQ(first.list->Close(), S_OK);
  second.list->CopyResource(result.Get(), between.Get());
  ASSERT_EQ(second.list->Close(), S_OK);
  for (std::uint32_t round = 1; round <= 50; ++round) {
    write_bytes(source.Get(), numbers(round).data(), kBytes);
    first.execute();
    ASSERT_EQ(second.queue->Wait(first.fence.Get(), first.submitted), S_OK);
    second.execute();
    ASSERT_EQ(first.queue->Wait(second.fence.Get(), second.submitted), S_OK);  // so that it writes only after the copy
    second.wait();
    EXPECT_EQ(first.fence->GetCompletedValue(), first.submitted) << "earlier work is not complete";
    std::vector<std::uint32_t> got(kCount);
    std::memcpy(got.data(), read_bytes(result.Get()).data(), kBytes);
    ASSERT_EQ(got, numbers(round));
  }
}

// The wait is enqueued before the signal. Later work is held back until the signal arrives, whoever sends it.
TEST(Asynchronous, AWaitForAValueNobodyHasSignalledHoldsBack) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  Queue other(device.Get());
  const auto source = create_buffer(device.Get(), kBytes, D3D12_HEAP_TYPE_UPLOAD);
  const auto result = create_buffer(device.Get(), kBytes, D3D12_HEAP_TYPE_READBACK);
  ComPtr<ID3D12Fence> gate;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)), S_OK);
  queue.list->CopyResource(result.Get(), source.Get());
  ASSERT_EQ(queue.list->Close(), S_OK);
  ASSERT_EQ(other.list->Close(), S_OK);
  for (std::uint64_t round = 1; round <= 20; ++round) {
    ASSERT_EQ(queue.queue->Wait(gate.Get(), round), S_OK);
    queue.execute();
    std::this_thread::sleep_for(std::chrono::milliseconds(round == 1 ? 20 : 0));
    EXPECT_EQ(queue.fence->GetCompletedValue(), queue.submitted - 1);
    write_bytes(source.Get(), numbers(static_cast<std::uint32_t>(round * 7)).data(), kBytes);
    if (round % 2 == 0) {
      ASSERT_EQ(gate->Signal(round), S_OK);
    } else {
      other.execute();
      ASSERT_EQ(other.queue->Signal(gate.Get(), round), S_OK);
    }
    queue.wait();
    std::vector<std::uint32_t> got(kCount);
    std::memcpy(got.data(), read_bytes(result.Get()).data(), kBytes);
    ASSERT_EQ(got, numbers(static_cast<std::uint32_t>(round * 7)));
  }
}

// A list reads and writes its own output many times, and is submitted many times ahead of the device.
TEST(Asynchronous, WorkGivenAheadKeepsItsOrder) {
  Dml dml;
  const Tensor tensor(DML_TENSOR_DATA_TYPE_UINT32, {kCount});
  const auto op = dml.binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD);
  const auto compiled = dml.compile(op.Get());
  const auto sum = create_buffer(dml.d3d12.Get(), kBytes);
  const auto one = create_buffer(dml.d3d12.Get(), kBytes);
  const std::vector<std::uint32_t> ones(kCount, 1);
  upload(dml.queue, one.Get(), ones.data(), kBytes);
  const auto heap = create_heap(dml.d3d12.Get(), 16);
  const auto table = dml.table(compiled.Get(), heap.Get());
  bind_inputs(table.Get(), {{sum.Get(), 0, kBytes}, {one.Get(), 0, kBytes}});
  bind_output(table.Get(), {sum.Get(), 0, kBytes});
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  for (int i = 0; i < 50; ++i) {
    uav_barrier(dml.queue.list.Get());
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  }
  ASSERT_EQ(dml.queue.list->Close(), S_OK) << anydml_last_error();
  for (int i = 0; i < 40; ++i) {
    dml.queue.execute();
  }
  dml.queue.wait();
  dml.queue.reopen();
  EXPECT_EQ(download_as<std::uint32_t>(dml.queue, sum.Get()), std::vector<std::uint32_t>(kCount, 50 * 40));
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
}

// Everything is released while the device is busy, starting with the devices. This deliberately breaks D3D12's rules.
// Submitted work must keep its memory alive until it has finished.
TEST(Asynchronous, EverythingMayBeReleasedInTheWrongOrder) {
  ComPtr<ID3D12Resource> result;
  ComPtr<ID3D12Fence> fence;
  std::uint64_t submitted = 0;
  {
    auto device = create_d3d12_device();
    auto queue = std::make_unique<Queue>(device.Get());
    auto source = create_buffer(device.Get(), 16 * kBytes, D3D12_HEAP_TYPE_UPLOAD);
    auto between = create_buffer(device.Get(), 16 * kBytes);
    result = create_buffer(device.Get(), 16 * kBytes, D3D12_HEAP_TYPE_READBACK);
    std::vector<std::uint32_t> values(16 * kCount);
    std::iota(values.begin(), values.end(), 5U);
    write_bytes(source.Get(), values.data(), 16 * kBytes);
    queue->list->CopyResource(between.Get(), source.Get());
    transition(queue->list.Get(), between.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_SOURCE);
    queue->list->CopyResource(result.Get(), between.Get());
    queue->submit();
    fence = queue->fence;
    submitted = queue->submitted;
    device.Reset();
    queue->device.Reset();
    between.Reset();
    source.Reset();
    queue->list.Reset();
    queue->allocator.Reset();
    queue->queue.Reset();
  }
  EXPECT_EQ(fence->SetEventOnCompletion(submitted, nullptr), S_OK);
  EXPECT_EQ(fence->GetCompletedValue(), submitted);
  std::vector<std::uint32_t> got(16 * kCount);
  std::memcpy(got.data(), read_bytes(result.Get()).data(), 16 * kBytes);
  EXPECT_EQ(got.front(), 5U);
  EXPECT_EQ(got.back(), 5U + 16 * kCount - 1);
}

TEST(Asynchronous, TimestampsFollowOneAnother) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const D3D12_QUERY_HEAP_DESC desc{D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 8, 0};
  ComPtr<ID3D12QueryHeap> heap;
  ASSERT_EQ(device->CreateQueryHeap(&desc, IID_PPV_ARGS(&heap)), S_OK);
  const auto result = create_buffer(device.Get(), 8 * sizeof(UINT64), D3D12_HEAP_TYPE_READBACK);
  const auto work = create_buffer(device.Get(), 1 << 20);
  const auto more = create_buffer(device.Get(), 1 << 20);
  UINT64 gpu_before = 0;
  UINT64 cpu_before = 0;
  ASSERT_EQ(queue.queue->GetClockCalibration(&gpu_before, &cpu_before), S_OK);
  for (UINT i = 0; i < 8; ++i) {
    queue.list->CopyResource(more.Get(), work.Get());
    queue.list->EndQuery(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, i);
  }
  queue.list->ResolveQueryData(heap.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, 8, result.Get(), 0);
  queue.finish();
  UINT64 gpu_after = 0;
  UINT64 cpu_after = 0;
  ASSERT_EQ(queue.queue->GetClockCalibration(&gpu_after, &cpu_after), S_OK);
  std::vector<UINT64> ticks(8);
  std::memcpy(ticks.data(), read_bytes(result.Get()).data(), 64);
  EXPECT_LE(gpu_before, ticks.front());
  EXPECT_TRUE(std::is_sorted(ticks.begin(), ticks.end()));
  EXPECT_LE(ticks.back(), gpu_after);
  EXPECT_LT(cpu_before, cpu_after);
}

// Makes the device fail. A test device fails if its environment variable is set (for example, ANYDML_LATER_FAILS=1); a
// GPU runs a kernel that traps (ANYDML_TEST_TRAP=library). Returns false if neither variable is set.
bool make_fail() {
  if (const char* library = std::getenv("ANYDML_TEST_TRAP"); library != nullptr) {
    void* loaded = dlopen(library, RTLD_NOW);
    const auto trap = reinterpret_cast<int (*)()>(loaded != nullptr ? dlsym(loaded, "anydml_test_trap") : nullptr);
    EXPECT_NE(trap, nullptr) << library;
    EXPECT_TRUE(trap != nullptr && trap() == 0);
    return true;
  }
  std::string name = anydml_device_get_info(nullptr)->name;
  name.resize(std::min(name.find(':'), name.size()));
  std::ranges::transform(name, name.begin(), [](unsigned char one) { return std::toupper(one); });
  return std::getenv(("ANYDML_" + name + "_FAILS").c_str()) != nullptr;
}

// This test must run in its own process, which has no usable device afterwards.
TEST(AsynchronousFault, RemovesTheDeviceAndHangsNobody) {
  Dml dml;
  const Tensor tensor(DML_TENSOR_DATA_TYPE_UINT32, {kCount});
  const auto op = dml.binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD);
  const auto compiled = dml.compile(op.Get());
  const auto buffer = create_buffer(dml.d3d12.Get(), 3 * kBytes);
  const auto heap = create_heap(dml.d3d12.Get(), 16);
  const auto table = dml.table(compiled.Get(), heap.Get());
  bind_inputs(table.Get(), {{buffer.Get(), 0, kBytes}, {buffer.Get(), kBytes, kBytes}});
  bind_output(table.Get(), {buffer.Get(), 2 * kBytes, kBytes});
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  ASSERT_EQ(dml.queue.list->Close(), S_OK);
  if (!make_fail()) {
    GTEST_SKIP() << "no device failure was requested";
  }
  ID3D12CommandList* lists[] = {dml.queue.list.Get()};
  dml.queue.queue->ExecuteCommandLists(1, lists);
  // The device may have failed already.
  const HRESULT signalled = dml.queue.queue->Signal(dml.queue.fence.Get(), 1);
  EXPECT_TRUE(signalled == S_OK || signalled == kDeviceRemoved) << signalled;
  EXPECT_EQ(dml.queue.fence->SetEventOnCompletion(1, nullptr), kDeviceRemoved);
  EXPECT_EQ(dml.queue.fence->GetCompletedValue(), UINT64_MAX);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), kDeviceHung);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), kDeviceHung);
  // Every later call reports the removal, and nothing waits forever.
  dml.queue.queue->ExecuteCommandLists(1, lists);
  EXPECT_EQ(dml.queue.queue->Signal(dml.queue.fence.Get(), 2), kDeviceRemoved);
  EXPECT_EQ(dml.queue.fence->SetEventOnCompletion(2, nullptr), kDeviceRemoved);
  void* nothing = &nothing;
  const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  const auto desc = buffer_desc(kBytes);
  const HRESULT created =
      dml.d3d12->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                         __uuidof(ID3D12Resource), &nothing);
  EXPECT_EQ(created, kDeviceRemoved);
  EXPECT_EQ(nothing, nullptr);
  std::printf("removed for %#x: %s\n", static_cast<unsigned>(dml.d3d12->GetDeviceRemovedReason()), anydml_last_error());
}

}  // namespace
}  // namespace anydml::test
