// SPDX-License-Identifier: MIT
// Tests waits that never end, and the resources that waiting leaves behind: queues that wait for released fences,
// events registered with several fences, and one event registered repeatedly.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>

#include "directml/event.h"
#include "directml/harness.h"
#include "support/process_counts.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

struct Waiting : testing::Test {
  ComPtr<ID3D12Device> device = create_d3d12_device();

  ComPtr<ID3D12CommandQueue> queue() const {
    D3D12_COMMAND_QUEUE_DESC desc{};
    desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    ComPtr<ID3D12CommandQueue> built;
    EXPECT_EQ(device->CreateCommandQueue(&desc, IID_PPV_ARGS(&built)), S_OK) << anydml_last_error();
    return built;
  }
  ComPtr<ID3D12Fence> fence() const {
    ComPtr<ID3D12Fence> built;
    EXPECT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&built)), S_OK);
    return built;
  }
};

// Whether the process is back to this many threads. Queue threads end when their work is done.
bool back_to(std::int64_t threads) {
  return soon([threads] { return process_counts().threads <= threads; });
}

struct Abandoned : Waiting {
  Abandoned() { warm_up(); }
  void warm_up() {  // starts the process-wide threads
    const auto first = queue();
    const auto reached = fence();
    EXPECT_EQ(first->Signal(reached.Get(), 1), S_OK);
    EXPECT_EQ(reached->SetEventOnCompletion(1, nullptr), S_OK);
  }
};

// Breaks D3D12's rules by releasing objects that submitted work needs. The work can never run, since its fence is gone.
TEST_F(Abandoned, AQueueReleasedWithItsFenceEnds) {
  const auto before = process_counts();
  for (int i = 0; i < 50; ++i) {
    Queue filled(device.Get(), D3D12_COMMAND_LIST_TYPE_COMPUTE);
    const auto target = create_buffer(device.Get(), 1 << 20);
    const auto source = create_buffer(device.Get(), 1 << 20, D3D12_HEAP_TYPE_UPLOAD);
    const auto never = fence();
    EXPECT_EQ(filled.queue->Wait(never.Get(), 1), S_OK);
    filled.list->CopyResource(target.Get(), source.Get());
    EXPECT_EQ(filled.list->Close(), S_OK);
    ID3D12CommandList* lists[] = {filled.list.Get()};
    filled.queue->ExecuteCommandLists(1, lists);
  }
  EXPECT_TRUE(back_to(before.threads)) << process_counts();
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST_F(Abandoned, WhoeverIsToSignalStillDoes) {
  const auto held = fence();
  const auto last = fence();
  const auto first = queue();
  const auto second = queue();
  {
    const auto between = fence();
    EXPECT_EQ(first->Wait(held.Get(), 1), S_OK);
    EXPECT_EQ(first->Signal(between.Get(), 7), S_OK);
    EXPECT_EQ(second->Wait(between.Get(), 5), S_OK);  // a value of 7 ends the wait too
    EXPECT_EQ(second->Signal(last.Get(), 1), S_OK);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(last->GetCompletedValue(), 0U);
  EXPECT_EQ(held->Signal(1), S_OK);
  EXPECT_EQ(last->SetEventOnCompletion(1, nullptr), S_OK);
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST_F(Abandoned, QueuesThatStandBeforeOneAnotherEnd) {
  const auto before = process_counts();
  {
    const auto one = fence();
    const auto other = fence();
    const auto first = queue();
    const auto second = queue();
    const auto third = queue();
    EXPECT_EQ(first->Wait(one.Get(), 1), S_OK);
    EXPECT_EQ(first->Signal(other.Get(), 1), S_OK);
    EXPECT_EQ(second->Wait(other.Get(), 1), S_OK);
    EXPECT_EQ(second->Signal(one.Get(), 1), S_OK);
    EXPECT_EQ(third->Wait(one.Get(), 1), S_OK);
    EXPECT_EQ(third->Wait(other.Get(), 1), S_OK);
  }
  EXPECT_TRUE(back_to(before.threads)) << process_counts();
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST_F(Abandoned, ALowerSignalIsNotEnough) {
  const auto before = process_counts();
  {
    const auto held = fence();
    const auto value = fence();
    const auto first = queue();
    const auto second = queue();
    const auto self = queue();
    EXPECT_EQ(second->Wait(value.Get(), 2), S_OK);
    EXPECT_EQ(first->Wait(held.Get(), 1), S_OK);
    EXPECT_EQ(first->Signal(value.Get(), 1), S_OK);
    EXPECT_EQ(self->Wait(value.Get(), 3), S_OK);
    EXPECT_EQ(self->Signal(value.Get(), 3), S_OK);  // behind the queue's own wait
    EXPECT_EQ(held->Signal(1), S_OK);
  }
  EXPECT_TRUE(back_to(before.threads)) << process_counts();
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

TEST_F(Abandoned, TheDeviceIsRemovedWhereSomebodyDependsOnIt) {
  const auto awaited = fence();
  const auto stuck = queue();
  {
    const auto never = fence();
    EXPECT_EQ(stuck->Wait(never.Get(), 1), S_OK);
  }
  EXPECT_EQ(stuck->Signal(awaited.Get(), 1), S_OK);
  EXPECT_EQ(awaited->SetEventOnCompletion(1, nullptr), kDeviceRemoved);           // instead of waiting forever
  EXPECT_EQ(device->GetDeviceRemovedReason(), static_cast<HRESULT>(0x887A0006));  // DXGI_ERROR_DEVICE_HUNG
}

// A thread waiting for an event may already have released the fence.
TEST_F(Abandoned, AnEventOfAReleasedFenceIsWaitedForToo) {
  const Event event;
  {
    const auto stuck = queue();
    const auto never = fence();
    const auto last = fence();
    EXPECT_EQ(stuck->Wait(never.Get(), 1), S_OK);
    EXPECT_EQ(stuck->Signal(last.Get(), 1), S_OK);
    EXPECT_EQ(last->SetEventOnCompletion(1, event.handle()), S_OK);
  }
  EXPECT_TRUE(soon([&] { return event.take() == 1; }));
  EXPECT_EQ(device->GetDeviceRemovedReason(), static_cast<HRESULT>(0x887A0006));
}

// The library must not use objects that the application has released, including callbacks and their context.
TEST_F(Abandoned, NoCallbackComesAfterTheDeviceWasReleased) {
  ComPtr<ID3D12Debug> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  const auto before = process_counts();
  std::atomic<int> heard{0};
  {
    ComPtr<ID3D12InfoQueue1> messages;
    ASSERT_EQ(device.As(&messages), S_OK);
    DWORD cookie = 0;
    ASSERT_EQ(messages->RegisterMessageCallback([](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID,
                                                   LPCSTR, void* count) { ++*static_cast<std::atomic<int>*>(count); },
                                                D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie),
              S_OK);
    const auto never = fence();
    EXPECT_EQ(queue()->Wait(never.Get(), 1), S_OK);
  }
  device.Reset();
  const int then = heard;
  EXPECT_TRUE(back_to(before.threads)) << process_counts();
  EXPECT_EQ(heard, then);
}

// ---- Leftovers of waiting ----

TEST_F(Waiting, ForAnyOfSeveralLeavesNothing) {
  ComPtr<ID3D12Device1> device1;
  ASSERT_EQ(device.As(&device1), S_OK);
  const auto reached = fence();
  const auto unreached = fence();
  EXPECT_EQ(reached->Signal(1), S_OK);
  const Event event;
  const int rounds = kSanitized ? 20'000 : 300'000;
  ProcessCounts before;
  for (int i = 0; i < rounds; ++i) {
    if (i == rounds / 10) {
      before = process_counts();
    }
    ID3D12Fence* fences[] = {unreached.Get(), reached.Get()};
    const UINT64 values[] = {1, 1};
    ASSERT_EQ(device1->SetEventOnMultipleFenceCompletion(fences, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY,
                                                         i % 2 == 0 ? event.handle() : nullptr),
              S_OK);
  }
  EXPECT_EQ(event.take(), static_cast<std::uint64_t>(rounds / 2));
  const auto after = process_counts();
  if (!kSanitized) {  // sanitizers hold on to freed memory
    EXPECT_LE(after.resident_bytes, before.resident_bytes + (4 << 20)) << before << "; then " << after;
  }
  EXPECT_EQ(after.descriptors, before.descriptors);
}

TEST_F(Waiting, OneEventTakesOneDescriptor) {
  const auto later = fence();
  const auto before = process_counts();
  {
    const Event event;
    constexpr int kTimes = 5000;
    for (int i = 0; i < kTimes; ++i) {
      ASSERT_EQ(later->SetEventOnCompletion(static_cast<UINT64>(i % 3 + 1), event.handle()), S_OK) << i;
    }
    EXPECT_LE(process_counts().descriptors, before.descriptors + 2);
    EXPECT_EQ(event.take(), 0U);
    EXPECT_EQ(later->Signal(2), S_OK);
    EXPECT_EQ(event.take(), static_cast<std::uint64_t>(kTimes - kTimes / 3));
    EXPECT_EQ(later->Signal(3), S_OK);
    EXPECT_EQ(event.take(), static_cast<std::uint64_t>(kTimes / 3));
  }
  EXPECT_EQ(process_counts().descriptors, before.descriptors);
}

// One event uses only one descriptor even if the kernel refuses to compare descriptors, as in many containers.
TEST_F(Waiting, OneEventTakesOneDescriptorInAContainer) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{.len = 4, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      _exit(77);
    }
    const auto later = fence();
    const auto before = process_counts();
    const Event event;
    bool good = true;
    for (int i = 0; i < 200; ++i) {
      good = good && later->SetEventOnCompletion(1, event.handle()) == S_OK;
    }
    _exit(good && process_counts().descriptors <= before.descriptors + 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "this machine has no seccomp filters";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// A descriptor number that now belongs to another event must not be mistaken for the old event.
TEST_F(Waiting, NumbersOfEventsAreUsedAgain) {
  const auto later = fence();
  auto first = std::make_unique<Event>();
  const Event kept;  // a duplicate descriptor of the first event
  ASSERT_EQ(dup2(first->number, kept.number), kept.number);
  const int number = first->number;
  ASSERT_EQ(later->SetEventOnCompletion(1, first->handle()), S_OK);
  first.reset();
  const Event second;
  ASSERT_EQ(second.number, number);
  ASSERT_EQ(later->SetEventOnCompletion(1, second.handle()), S_OK);
  EXPECT_EQ(later->Signal(1), S_OK);
  EXPECT_EQ(kept.take(), 1U);
  EXPECT_EQ(second.take(), 1U);
}

TEST_F(Waiting, WithoutADescriptorLeftIsAnError) {
  if (kAddressSanitizer) {
    GTEST_SKIP() << "UndefinedBehaviorSanitizer needs file descriptors itself and fails without them";
  }
  const auto later = fence();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  std::vector<std::unique_ptr<Event>> events;
  for (int i = 0; i < 40; ++i) {
    events.push_back(std::make_unique<Event>());
  }
  const auto before = process_counts();
  const rlimit low{.rlim_cur = static_cast<rlim_t>(before.descriptors) + 10, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  int taken = 0;
  int refused = 0;
  for (const auto& event : events) {
    const HRESULT result = later->SetEventOnCompletion(1, event->handle());
    taken += result == S_OK ? 1 : 0;
    refused += result == E_OUTOFMEMORY ? 1 : 0;
  }
  const std::string message = anydml_last_error();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(taken + refused, 40);
  EXPECT_EQ(message, "ID3D12Fence::SetEventOnCompletion: no file descriptor is left for the event");
  EXPECT_EQ(later->Signal(1), S_OK);
  EXPECT_EQ(process_counts().descriptors, before.descriptors);
  EXPECT_EQ(later->SetEventOnCompletion(2, events.front()->handle()), S_OK);  // everything works again
  EXPECT_EQ(later->Signal(2), S_OK);
}

}  // namespace
}  // namespace anydml::test
