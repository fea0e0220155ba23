// SPDX-License-Identifier: MIT
// Tests the debug layer's checks of fences and lifetimes. Each test makes a mistake, and has a program that avoids the
// mistake.
#include <thread>

#include "directml/debug_program.h"
#include "directml/event.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

constexpr int kMissingFence = 2003;
constexpr int kMappedWhileWritten = 2004;
constexpr int kExecutedAfterReset = 2005;
constexpr int kReleasedBeforeExecution = 2006;
constexpr int kDeleted = D3D12_MESSAGE_ID_OBJECT_DELETED_WHILE_STILL_IN_USE;

using DebugQueues = DebugProgram;
using DebugMapping = DebugProgram;
using DebugLifetimes = DebugProgram;

TEST_F(DebugQueues, AQueueReadsWhatADifferentOneWrites) {
  if (kThreadSanitizer) {
    GTEST_SKIP() << "the mistake is a data race, which ThreadSanitizer reports too";
  }
  Queue other(dml->d3d12.Get());
  set_heap(other.list.Get());
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  add(other.list.Get(), {c.Get()}, {b.Get()}, {d.Get()});
  other.submit();
  other.wait();
  dml->queue.wait();
  expect_one(kMissingFence, {"reads bytes 0 to 64 of buffer 'C'"});
}

TEST_F(DebugQueues, AFenceOrdersQueues) {
  Queue other(dml->d3d12.Get());
  set_heap(other.list.Get());
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  ASSERT_EQ(other.queue->Wait(dml->queue.fence.Get(), dml->queue.submitted), S_OK);
  add(other.list.Get(), {c.Get()}, {b.Get()}, {d.Get()});
  other.submit();
  other.wait();
  expect_none();
}

TEST_F(DebugQueues, TheWaitMayComeBeforeTheSignal) {
  Queue other(dml->d3d12.Get());
  set_heap(other.list.Get());
  ASSERT_EQ(other.queue->Wait(dml->queue.fence.Get(), dml->queue.submitted + 1), S_OK);
  add(other.list.Get(), {c.Get()}, {b.Get()}, {d.Get()});
  other.submit();
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  other.wait();
  expect_none();
}

// A wait for the fence's initial value does not depend on later signals.
TEST_F(DebugQueues, AWaitMayBeOverAlready) {
  Queue other(dml->d3d12.Get());
  ComPtr<ID3D12Fence> gate;
  ComPtr<ID3D12Fence> ring;
  ASSERT_EQ(dml->d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)), S_OK);
  ASSERT_EQ(dml->d3d12->CreateFence(3, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&ring)), S_OK);
  ASSERT_EQ(other.queue->Wait(gate.Get(), 1), S_OK);
  ASSERT_EQ(other.queue->Signal(ring.Get(), 5), S_OK);
  ASSERT_EQ(dml->queue.queue->Wait(ring.Get(), 3), S_OK);
  add({a.Get()}, {b.Get()}, {c.Get()});
  finish();
  c.Reset();
  ASSERT_EQ(gate->Signal(1), S_OK);
  expect_none();
}

// A signal with a higher value also ends a wait.
TEST_F(DebugQueues, AWaitMayEndWithAHigherValue) {
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(dml->d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  ASSERT_EQ(dml->queue.queue->Signal(fence.Get(), 7), S_OK);
  ASSERT_EQ(fence->SetEventOnCompletion(5, nullptr), S_OK);
  c.Reset();
  expect_none();
}

TEST_F(DebugQueues, TheCpuMayOrderQueues) {
  Queue other(dml->d3d12.Get());
  for (const int way : {0, 1, 2}) {
    set_heap(other.list.Get());
    add({a.Get()}, {b.Get()}, {c.Get()});
    dml->queue.submit();
    if (way == 0) {
      dml->queue.wait();
    } else if (way == 1) {
      while (dml->queue.fence->GetCompletedValue() < dml->queue.submitted) {
      }
    } else {
      const Event event;
      ASSERT_EQ(dml->queue.fence->SetEventOnCompletion(dml->queue.submitted, event.handle()), S_OK);
      while (event.take() == 0) {
      }
    }
    dml->queue.reopen();
    set_heap();
    add(other.list.Get(), {c.Get()}, {b.Get()}, {d.Get()});
    other.finish();
    expect_none();
  }
}

TEST_F(DebugQueues, AProgramMayBeThousandsOfSubmissionsAhead) {
  std::vector<ComPtr<ID3D12Resource>> outputs;
  ASSERT_EQ(dml->queue.list->Close(), S_OK);
  dml->queue.reopen();
  for (int i = 0; i < 5000; ++i) {
    set_heap();
    if (i < 8) {
      outputs.push_back(create_buffer(dml->d3d12.Get(), kBytes));
      add({a.Get()}, {b.Get()}, {outputs.back().Get()});
    }
    dml->queue.submit();
    ASSERT_EQ(dml->queue.list->Reset(dml->queue.allocator.Get(), nullptr), S_OK);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {  // submission i + 1 used the buffer
    ASSERT_EQ(dml->queue.fence->SetEventOnCompletion(i + 2, nullptr), S_OK);
    outputs[i] = nullptr;
  }
  dml->queue.wait();
  expect_none();
}

// A message callback may wait for a thread that uses the same queue.
TEST_F(DebugQueues, CallbacksHoldNoLock) {
  struct Context {
    Queue* queue;
    int calls = 0;
  } context{&dml->queue};
  DWORD second = 0;
  ASSERT_EQ(info->RegisterMessageCallback(
                [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR, void* given) {
                  auto& of = *static_cast<Context*>(given);
                  ++of.calls;
                  std::thread([&] { of.queue->queue->Signal(of.queue->fence.Get(), ++of.queue->submitted); }).join();
                },
                D3D12_MESSAGE_CALLBACK_FLAG_NONE, &context, &second),
            S_OK);
  add({a.Get()}, {b.Get()}, {c.Get()});
  add({c.Get()}, {b.Get()}, {d.Get()});
  dml->queue.submit();
  dml->queue.wait();
  info->UnregisterMessageCallback(second);
  EXPECT_EQ(context.calls, 1);
  expect_one(2001);
}

TEST_F(DebugQueues, ManyQueuesMayComeAndGo) {
  for (int i = 0; i < 300; ++i) {
    Queue other(dml->d3d12.Get());
    other.list->CopyBufferRegion(c.Get(), 0, a.Get(), 0, kBytes);
    other.finish();
  }
  expect_none();
}

TEST_F(DebugQueues, ReadsOnTwoQueuesNeedNoFence) {
  Queue other(dml->d3d12.Get());
  set_heap(other.list.Get());
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  add(other.list.Get(), {a.Get()}, {b.Get()}, {d.Get()});
  other.submit();
  other.wait();
  dml->queue.wait();
  expect_none();
}

TEST_F(DebugQueues, AQueueMaySignalForTheCpu) {
  // The third queue's work is submitted first. It waits for a fence that the second queue signals after the CPU has
  // waited for the first queue.
  Queue second(dml->d3d12.Get());
  Queue third(dml->d3d12.Get());
  set_heap(third.list.Get());
  ASSERT_EQ(third.queue->Wait(second.fence.Get(), 1), S_OK);
  add(third.list.Get(), {c.Get()}, {b.Get()}, {d.Get()});
  third.submit();
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  dml->queue.wait();
  ASSERT_EQ(second.queue->Signal(second.fence.Get(), 1), S_OK);
  third.wait();
  expect_none();
}

TEST_F(DebugQueues, TheFirstWaitMayBeForTheInitialValue) {
  // Two queues take turns. The first queue waits for the second. In the first round, the second queue waits only for
  // the initial value.
  Queue second(dml->d3d12.Get());
  set_heap(second.list.Get());
  ComPtr<ID3D12Fence> turns;
  ASSERT_EQ(dml->d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&turns)), S_OK);
  auto out = create_buffer(dml->d3d12.Get(), kBytes);
  for (std::uint64_t turn = 0; turn < 4; ++turn) {
    next_descriptor = 0;
    ASSERT_EQ(dml->queue.queue->Wait(second.fence.Get(), turn + 1), S_OK);
    add({c.Get()}, {b.Get()}, {out.Get()});
    dml->queue.submit();
    ASSERT_EQ(dml->queue.queue->Signal(turns.Get(), turn + 1), S_OK);
    ASSERT_EQ(second.queue->Wait(turns.Get(), turn), S_OK);
    add(second.list.Get(), {a.Get()}, {b.Get()}, {c.Get()});
    second.submit();
    dml->queue.wait();
    dml->queue.reopen();
    second.reopen();
    set_heap();
    set_heap(second.list.Get());
  }
  out = nullptr;
  expect_none();
}

TEST(DebugQueuesLate, ASignalMayBeOlderThanTheDebugLayer) {
  for (const bool through_event : {false, true}) {
    ComPtr<ID3D12Debug4> debug;
    ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
    debug->DisableDebugLayer();
    const Dml plain;
    ComPtr<ID3D12Fence> start;
    ASSERT_EQ(plain.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&start)), S_OK);
    ASSERT_EQ(plain.queue.queue->Wait(start.Get(), 1), S_OK);
    ASSERT_EQ(plain.queue.queue->Signal(plain.queue.fence.Get(), 1), S_OK);
    debug->EnableDebugLayer();
    ComPtr<ID3D12InfoQueue1> stored;
    ASSERT_EQ(plain.d3d12->QueryInterface(IID_PPV_ARGS(&stored)), S_OK);
    stored->ClearStoredMessages();  // an earlier test's device may still be alive, with its messages
    Queue other(plain.d3d12.Get());
    auto from = create_buffer(plain.d3d12.Get(), 64);
    const auto to = create_buffer(plain.d3d12.Get(), 64);
    ASSERT_EQ(other.queue->Wait(plain.queue.fence.Get(), 1), S_OK);
    other.list->CopyResource(to.Get(), from.Get());
    other.submit();
    const Event event;
    ASSERT_EQ(start->Signal(1), S_OK);
    if (through_event) {
      ASSERT_EQ(other.fence->SetEventOnCompletion(1, event.handle()), S_OK);
      while (event.take() == 0) {
      }
    } else {
      other.wait();
    }
    from = nullptr;
    EXPECT_EQ(stored->GetNumStoredMessages(), 0U);
  }
}

TEST_F(DebugMapping, TheDeviceMayStillBeWriting) {
  const auto readback = create_buffer(dml->d3d12.Get(), kBytes, D3D12_HEAP_TYPE_READBACK);
  readback->SetName(L"results");
  dml->queue.list->CopyBufferRegion(readback.Get(), 0, a.Get(), 0, kBytes);
  dml->queue.submit();
  void* mapped = nullptr;
  const D3D12_RANGE nothing{0, 0};
  ASSERT_EQ(readback->Map(0, &nothing, &mapped), S_OK);
  readback->Unmap(0, &nothing);
  expect_none();
  ASSERT_EQ(readback->Map(0, nullptr, &mapped), S_OK);
  readback->Unmap(0, &nothing);
  expect_one(kMappedWhileWritten, {"ID3D12Resource::Map 'results'"});
  dml->queue.wait();
  ASSERT_EQ(readback->Map(0, nullptr, &mapped), S_OK);
  readback->Unmap(0, &nothing);
  expect_none();
}

TEST_F(DebugMapping, TheProgramMayReadWhatIsFinished) {
  const auto readback = create_buffer(dml->d3d12.Get(), 2 * kBytes, D3D12_HEAP_TYPE_READBACK);
  const auto map = [&](const D3D12_RANGE* range) {
    void* mapped = nullptr;
    ASSERT_EQ(readback->Map(0, range, &mapped), S_OK);
    readback->Unmap(0, nullptr);
  };
  dml->queue.list->CopyBufferRegion(readback.Get(), 0, a.Get(), 0, kBytes);
  finish();
  dml->queue.list->CopyBufferRegion(readback.Get(), kBytes, a.Get(), 0, kBytes);
  dml->queue.submit();
  const D3D12_RANGE first{0, kBytes};
  map(&first);
  map(nullptr);
  expect_none();
  const D3D12_RANGE second{kBytes, 2 * kBytes};
  map(&second);
  expect_one(kMappedWhileWritten);
  dml->queue.wait();
  dml->queue.reopen();
  dml->queue.list->CopyBufferRegion(readback.Get(), 0, a.Get(), 0, 2 * kBytes);
  dml->queue.submit();
  map(nullptr);
  expect_one(kMappedWhileWritten);
  dml->queue.wait();
}

TEST_F(DebugMapping, TheCpuMayWriteElsewhereInACustomHeap) {
  const auto custom = create_buffer(dml->d3d12.Get(), 2 * kBytes, D3D12_HEAP_TYPE_CUSTOM);
  for (const bool all : {false, true}) {
    add({a.Get()}, {b.Get()}, {custom.Get(), 0});
    if (all) {
      add({a.Get()}, {b.Get()}, {custom.Get(), kBytes});
    }
    dml->queue.submit();
    void* mapped = nullptr;
    ASSERT_EQ(custom->Map(0, nullptr, &mapped), S_OK);
    custom->Unmap(0, nullptr);
    all ? expect_one(kMappedWhileWritten) : expect_none();
    dml->queue.wait();
    dml->queue.reopen();
    set_heap();
  }
}

TEST_F(DebugLifetimes, AnEventCountsAfterItsFenceIsReleased) {
  auto out = create_buffer(dml->d3d12.Get(), kBytes);
  add({a.Get()}, {b.Get()}, {out.Get()});
  dml->queue.submit();
  std::vector<ComPtr<ID3D12Fence>> fences(200);  // more released fences than the debug layer keeps
  for (std::size_t i = 0; i < fences.size(); ++i) {
    ASSERT_EQ(dml->d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fences[i])), S_OK);
    ASSERT_EQ(dml->queue.queue->Signal(fences[i].Get(), 1), S_OK);
    if (i == 0) {
      const Event event;
      ASSERT_EQ(fences[i]->SetEventOnCompletion(1, event.handle()), S_OK);
      while (event.take() == 0) {
      }
      fences[i] = nullptr;
    }
  }
  out = nullptr;
  expect_none();
}

TEST_F(DebugLifetimes, AResourceIsNeededUntilTheWorkIsFinished) {
  for (const bool waits : {false, true}) {
    auto out = create_buffer(dml->d3d12.Get(), kBytes);
    out->SetName(L"out");
    add({a.Get()}, {b.Get()}, {out.Get()});
    dml->queue.submit();
    if (waits) {
      dml->queue.wait();
    }
    out = nullptr;
    waits ? expect_none() : expect_one(kDeleted, {"ID3D12Resource 'out' was released"});
    dml->queue.wait();
    dml->queue.reopen();
    set_heap();
  }
}

TEST_F(DebugLifetimes, ADescriptorHeapIsNeeded) {
  for (const bool waits : {false, true}) {
    heap = create_heap(dml->d3d12.Get(), kDescriptors);
    next_descriptor = 0;
    set_heap();
    add({a.Get()}, {b.Get()}, {c.Get()});
    dml->queue.submit();
    if (waits) {
      dml->queue.wait();
    }
    heap = nullptr;
    waits ? expect_none() : expect_one(kDeleted, {"ID3D12DescriptorHeap"});
    dml->queue.wait();
    dml->queue.reopen();
  }
}

TEST_F(DebugLifetimes, AnOperatorIsNeeded) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  compiled = nullptr;
  expect_one(kDeleted, {"'sum'"});
  dml->queue.wait();
}

TEST_F(DebugLifetimes, AnOperatorMustNotBeReleasedBeforeItsListRuns) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  ASSERT_EQ(dml->queue.list->Close(), S_OK);
  compiled = nullptr;
  expect_none();
  dml->queue.execute();
  dml->queue.wait();
  expect_one(kReleasedBeforeExecution, {"'sum'"});
}

TEST_F(DebugLifetimes, AnOperatorMayBeReleasedAfterTheWork) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  finish();
  compiled = nullptr;
  expect_none();
}

TEST_F(DebugLifetimes, AnInitializerIsNeeded) {
  const auto fresh = dml->compile([&] {
    const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, kElements});
    return dml->binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD);
  }()
                                      .Get());
  ComPtr<IDMLOperatorInitializer> initializer;
  IDMLCompiledOperator* targets[] = {fresh.Get()};
  ASSERT_EQ(dml->device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
  dml->recorder->RecordDispatch(dml->queue.list.Get(), initializer.Get(), dml->table(initializer.Get(), nullptr).Get());
  dml->queue.submit();
  ASSERT_EQ(initializer->Reset(0, nullptr), S_OK);
  expect_one(kDeleted, {"initializer"});
  dml->queue.wait();
  initializer = nullptr;
  expect_none();
}

TEST_F(DebugLifetimes, ABindingTableMayBeReleasedOnceRecorded) {
  auto table = bound({a.Get()}, {b.Get()}, {c.Get()});
  dml->recorder->RecordDispatch(dml->queue.list.Get(), compiled.Get(), table.Get());
  table = nullptr;
  finish();
  expect_none();
}

TEST_F(DebugLifetimes, DescriptorsMustNotChangeWhileTheyAreNeeded) {
  const auto table = bound({a.Get()}, {b.Get()}, {c.Get()});
  dml->recorder->RecordDispatch(dml->queue.list.Get(), compiled.Get(), table.Get());
  dml->queue.submit();
  bind_output(table.Get(), binding({d.Get()}));
  expect_one(D3D12_MESSAGE_ID_STATIC_DESCRIPTOR_INVALID_DESCRIPTOR_CHANGE, {"IDMLBindingTable"});
  dml->queue.execute();
  dml->d3d12->CopyDescriptorsSimple(1, heap->GetCPUDescriptorHandleForHeapStart(),
                                    heap->GetCPUDescriptorHandleForHeapStart(), D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  expect_one(D3D12_MESSAGE_ID_STATIC_DESCRIPTOR_INVALID_DESCRIPTOR_CHANGE, {"CopyDescriptors"});
  dml->queue.wait();
  bind_output(table.Get(), binding({c.Get()}));
  const auto elsewhere = bound({a.Get()}, {b.Get()}, {d.Get()});
  expect_none();
}

TEST_F(DebugLifetimes, AnAllocatorMustNotBeResetWhileItsListsRun) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  ASSERT_EQ(dml->queue.allocator->Reset(), S_OK);
  expect_one(D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_SYNC, {"ID3D12CommandAllocator::Reset"});
  dml->queue.wait();
  ASSERT_EQ(dml->queue.allocator->Reset(), S_OK);
  expect_none();
}

TEST_F(DebugLifetimes, AListMayRecordAgainWhileItsLastCommandsRun) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  ASSERT_EQ(dml->queue.list->Reset(dml->queue.allocator.Get(), nullptr), S_OK);
  set_heap();
  add({a.Get()}, {b.Get()}, {d.Get()});
  dml->queue.submit();
  dml->queue.wait();
  expect_none();
}

TEST_F(DebugLifetimes, AResetAllocatorHasLostItsCommands) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  ASSERT_EQ(dml->queue.list->Close(), S_OK);
  ASSERT_EQ(dml->queue.allocator->Reset(), S_OK);
  dml->queue.execute();
  dml->queue.wait();
  expect_one(kExecutedAfterReset, {"was reset"});
}

TEST_F(DebugLifetimes, AnAllocatorIsNeeded) {
  add({a.Get()}, {b.Get()}, {c.Get()});
  dml->queue.submit();
  dml->queue.allocator = nullptr;
  expect_one(kDeleted, {"ID3D12CommandAllocator"});
  dml->queue.wait();
}

TEST_F(DebugLifetimes, AQueryHeapIsNeeded) {
  D3D12_QUERY_HEAP_DESC desc{};
  desc.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
  desc.Count = 1;
  for (const bool waits : {false, true}) {
    ComPtr<ID3D12QueryHeap> queries;
    ASSERT_EQ(dml->d3d12->CreateQueryHeap(&desc, IID_PPV_ARGS(&queries)), S_OK);
    dml->queue.list->EndQuery(queries.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0);
    dml->queue.submit();
    if (waits) {
      dml->queue.wait();
    }
    queries = nullptr;
    waits ? expect_none() : expect_one(kDeleted, {"ID3D12QueryHeap"});
    dml->queue.wait();
    dml->queue.reopen();
  }
}

TEST_F(DebugLifetimes, ManySubmissionsDoNotCollectMemory) {
  for (int i = 0; i < 5000; ++i) {
    next_descriptor = 0;
    auto out = create_buffer(dml->d3d12.Get(), kBytes);
    add({a.Get()}, {b.Get()}, {out.Get(), 0});
    finish();
  }
  expect_none();
}

}  // namespace
}  // namespace anydml::test
