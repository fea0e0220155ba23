// SPDX-License-Identifier: MIT
// Exercises everything at the same time, for as long as requested. Threads create and release queues, fences, buffers,
// events and operators in any order, wait, make some invalid calls and are canceled, all under constant signals. The
// results are checked. After each round everything is released, and the process must not have more threads,
// descriptors, mappings or memory than before.
//
// ANYDML_SOAK_SECONDS sets the duration and ANYDML_SOAK_SEED the seed.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "directml/event.h"
#include "directml/harness.h"
#include "support/process_counts.h"
#include "support/sanitizers.h"
#include "support/setting.h"

namespace anydml::test {
namespace {

using Clock = std::chrono::steady_clock;

// The actions of one thread, on a device shared with the other threads.
class Worker {
 public:
  Worker(ComPtr<ID3D12Device> device, std::uint64_t seed) : random_(seed), device_(std::move(device)) {}

  std::uint64_t work_until(Clock::time_point end) {
    std::uint64_t done = 0;
    while (Clock::now() < end && !testing::Test::HasFatalFailure()) {
      switch (random_() % 10) {
        case 0:
          make_buffers();
          break;
        case 1:
          run_operator();
          break;
        case 2:
          call_core();
          break;
        case 3:
          leave_queue_waiting();
          break;
        case 4:
          wait_for_several();
          break;
        case 5:
          register_events();
          break;
        case 6:
          cancel_somebody();
          break;
        case 7:
          be_wrong();
          break;
        case 8:
          pass_by_released_fences();
          break;
        default:
          pass_between_queues();
          break;
      }
      ++done;
    }
    buffers_.clear();
    return done;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  ComPtr<ID3D12Fence> fence() {
    ComPtr<ID3D12Fence> built;
    EXPECT_EQ(device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&built)), S_OK) << anydml_last_error();
    return built;
  }
  ComPtr<ID3D12CommandQueue> queue() {
    D3D12_COMMAND_QUEUE_DESC desc{};
    desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    ComPtr<ID3D12CommandQueue> built;
    EXPECT_EQ(device_->CreateCommandQueue(&desc, IID_PPV_ARGS(&built)), S_OK) << anydml_last_error();
    return built;
  }

  void make_buffers() {
    for (std::uint64_t i = below(8); i-- > 0;) {
      const std::uint64_t bytes = below(8) == 0 ? 1 + below(4 << 20) : 1 + below(100'000);
      const auto buffer = create_buffer(device_.Get(), bytes, D3D12_HEAP_TYPE_UPLOAD);
      ASSERT_NE(buffer, nullptr);
      const std::uint8_t mark = 0xa5;
      std::uint8_t before = 1;
      void* mapped = nullptr;
      ASSERT_EQ(buffer->Map(0, nullptr, &mapped), S_OK);
      auto* data = static_cast<std::uint8_t*>(mapped);
      before = static_cast<std::uint8_t>(data[0] | data[bytes / 2] | data[bytes - 1]);
      ASSERT_EQ(before, 0) << "a fresh buffer holds zeros";
      data[0] = data[bytes / 2] = data[bytes - 1] = mark;
      buffers_.push_back(buffer);
    }
    while (buffers_.size() > 64) {
      buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(below(buffers_.size())));
    }
  }

  void run_operator() {
    Dml dml(below(2) == 0 ? DML_CREATE_DEVICE_FLAG_NONE : DML_CREATE_DEVICE_FLAG_DEBUG);
    const UINT count = 1 + static_cast<UINT>(below(3000));
    const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, count});
    const auto op = dml.binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE);
    const auto compiled = dml.compile(op.Get());
    dml.initialize(compiled.Get());
    const auto heap = create_heap(dml.d3d12.Get(), 4);
    const auto table = dml.table(compiled.Get(), heap.Get());
    std::vector<float> a(count);
    std::vector<float> b(count);
    for (UINT i = 0; i < count; ++i) {
      a[i] = static_cast<float>(static_cast<std::int64_t>(random_() % 20001) - 10000) / 7.0F;
      b[i] = static_cast<float>(1 + random_() % 100) / 3.0F;
    }
    const std::uint64_t bytes = std::uint64_t{count} * 4;
    const auto buffer_a = create_buffer(dml.d3d12.Get(), bytes);
    const auto buffer_b = create_buffer(dml.d3d12.Get(), bytes);
    const auto out = create_buffer(dml.d3d12.Get(), bytes);
    upload(dml.queue, buffer_a.Get(), a.data(), bytes);
    upload(dml.queue, buffer_b.Get(), b.data(), bytes);
    bind_inputs(table.Get(), {{buffer_a.Get(), 0, bytes}, {buffer_b.Get(), 0, bytes}});
    bind_output(table.Get(), {out.Get(), 0, bytes});
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
    dml.queue.finish();
    const auto results = download_as<float>(dml.queue, out.Get());
    for (UINT i = 0; i < count; ++i) {
      ASSERT_EQ(results[i], std::fmod(a[i], b[i])) << a[i] << " mod " << b[i];
    }
  }

  void call_core() {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(below(40));
    const std::int64_t columns = 1 + static_cast<std::int64_t>(below(4000));
    const std::int64_t sizes[] = {rows, columns};
    const std::int64_t strides[] = {columns + 1, 1};
    std::vector<std::int32_t> a(static_cast<std::size_t>(rows * (columns + 1)));
    std::vector<std::int32_t> out(a.size(), -1);
    for (auto& value : a) {
      value = static_cast<std::int32_t>(random_());
    }
    std::int32_t b = 1 + static_cast<std::int32_t>(below(1000));
    const anydml_tensor ta = {ANYDML_INT32, 2, sizes, strides, a.data()};
    const anydml_tensor tb = {ANYDML_INT32, 0, nullptr, nullptr, &b};
    const anydml_tensor to = {ANYDML_INT32, 2, sizes, strides, out.data()};
    ASSERT_EQ(anydml_modulus_truncate(&ta, &tb, &to), ANYDML_OK) << anydml_last_error();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column <= columns; ++column) {
        const auto at = static_cast<std::size_t>(row * (columns + 1) + column);
        ASSERT_EQ(out[at], column == columns ? -1 : a[at] % b);
      }
    }
  }

  // Leaves queues that wait for fences that nobody will signal, alone or one after another.
  void leave_queue_waiting() {
    const auto first = queue();
    const auto second = queue();
    const auto one = fence();
    const auto other = fence();
    EXPECT_EQ(first->Wait(one.Get(), 1), S_OK);
    if (below(2) == 0) {
      EXPECT_EQ(first->Signal(other.Get(), 1), S_OK);
      EXPECT_EQ(second->Wait(other.Get(), 1), S_OK);
      EXPECT_EQ(second->Signal(one.Get(), 1), S_OK);
    }
    if (below(4) == 0) {
      EXPECT_EQ(one->Signal(1), S_OK);
    }
  }

  void wait_for_several() {
    ComPtr<ID3D12Device1> device1;
    ASSERT_EQ(device_.As(&device1), S_OK);
    const auto reached = fence();
    const auto unreached = fence();
    EXPECT_EQ(reached->Signal(1), S_OK);
    const Event event;
    for (std::uint64_t i = below(50); i-- > 0;) {
      ID3D12Fence* fences[] = {unreached.Get(), reached.Get()};
      const UINT64 values[] = {1, 1};
      EXPECT_EQ(device1->SetEventOnMultipleFenceCompletion(fences, values, 2, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY,
                                                           below(2) == 0 ? event.handle() : nullptr),
                S_OK);
    }
  }

  void register_events() {
    const auto later = fence();
    const Event events[3];
    for (std::uint64_t i = below(100); i-- > 0;) {
      EXPECT_EQ(later->SetEventOnCompletion(1 + below(3), events[below(3)].handle()), S_OK) << anydml_last_error();
    }
    EXPECT_EQ(later->Signal(below(4)), S_OK);
  }

  void cancel_somebody() {
    const auto later = fence();
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* given) -> void* {
                    for (;;) {  // this thread runs until it is canceled between two calls
                      static_cast<ID3D12Fence*>(given)->SetEventOnCompletion(1, nullptr);
                      pthread_testcancel();
                    }
                  },
                  later.Get()),
              0);
    if (below(2) == 0) {
      std::this_thread::yield();
    }
    pthread_cancel(thread);
    EXPECT_EQ(later->Signal(1), S_OK);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
  }

  void be_wrong() {
    const Tensor right(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 4});
    Tensor wrong(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 4}, {}, DML_TENSOR_FLAG_OWNED_BY_DML);
    wrong.buffer.TotalTensorSizeInBytes = std::uint64_t{1} << (57 + below(7));
    Dml dml;
    const DML_ELEMENT_WISE_ADD_OPERATOR_DESC desc{&wrong.desc, &wrong.desc, &right.desc};
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_ADD, &desc, op), E_INVALIDARG);
    const auto later = fence();
    EXPECT_EQ(later->Signal(2), S_OK);
    EXPECT_EQ(later->Signal(1), E_INVALIDARG);
    EXPECT_EQ(later->SetEventOnCompletion(3, reinterpret_cast<HANDLE>(std::intptr_t{2})), E_INVALIDARG);
  }

  // Passes work from queue to queue through fences that only the queues still reference. The work must still finish.
  void pass_by_released_fences() {
    std::vector<ComPtr<ID3D12CommandQueue>> queues;
    for (std::uint64_t i = 2 + below(4); i-- > 0;) {
      queues.push_back(queue());
    }
    const auto last = fence();
    const auto start = fence();
    EXPECT_EQ(queues.front()->Wait(start.Get(), 1), S_OK);
    for (std::size_t i = 0; i + 1 < queues.size(); ++i) {
      const auto between = fence();
      EXPECT_EQ(queues[i]->Signal(between.Get(), 1), S_OK);
      EXPECT_EQ(queues[i + 1]->Wait(between.Get(), 1), S_OK);
    }
    EXPECT_EQ(queues.back()->Signal(last.Get(), 1), S_OK);
    queues.clear();
    EXPECT_EQ(start->Signal(1), S_OK);
    EXPECT_EQ(last->SetEventOnCompletion(1, nullptr), S_OK) << anydml_last_error();
  }

  void pass_between_queues() {
    const ComPtr<ID3D12CommandQueue> queues[] = {queue(), queue(), queue()};
    const auto passed = fence();
    UINT64 value = 0;
    for (std::uint64_t i = 1 + below(20); i-- > 0;) {
      const auto& from = queues[below(3)];
      const auto& to = queues[below(3)];
      EXPECT_EQ(from->Signal(passed.Get(), ++value), S_OK);
      EXPECT_EQ(to->Wait(passed.Get(), value), S_OK);
    }
    if (below(3) != 0) {
      EXPECT_EQ(passed->SetEventOnCompletion(value, nullptr), S_OK);
    }
  }

  std::mt19937_64 random_;
  ComPtr<ID3D12Device> device_;
  std::vector<ComPtr<ID3D12Resource>> buffers_;
};

// An asynchronous device keeps one queue, with its own thread, for each thread that was inside the core at the same
// time.
constexpr std::int64_t kWorkers = 4;
constexpr std::int64_t kKeptThreads = kWorkers;

struct Round {
  std::uint64_t done = 0;
  ProcessCounts after;
};

Round soak_for(std::chrono::milliseconds time, std::uint64_t seed, std::int64_t threads_before) {
  std::atomic<std::uint64_t> done{0};
  {
    const auto device = create_d3d12_device();
    const auto end = Clock::now() + time;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < kWorkers; ++i) {
      threads.emplace_back([&, i] { done += Worker(device, seed * 64 + i).work_until(end); });
    }
    while (Clock::now() < end) {
      for (auto& thread : threads) {
        pthread_kill(thread.native_handle(), SIGUSR1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    for (auto& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
  }
  EXPECT_TRUE(threads_before == 0 || soon([&] { return process_counts().threads <= threads_before + kKeptThreads; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return {done, process_counts()};
}

TEST(Soak, NothingIsLeftBehind) {
  struct sigaction handler {};
  handler.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &handler, nullptr), 0);
  const auto seconds = static_cast<double>(setting("ANYDML_SOAK_SECONDS", 3));
  const std::uint64_t seed = setting("ANYDML_SOAK_SEED", 14);
  const auto round_time = std::chrono::milliseconds(static_cast<int>(std::min(seconds / 4, 20.0) * 1000));
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  ProcessCounts before;
  std::uint64_t all = 0;
  std::printf("%8s %12s  %s\n", "seconds", "actions", "after release");
  for (std::uint64_t round = 0; (passed() < seconds || round < 3) && !HasFailure(); ++round) {
    const Round result = soak_for(round_time, seed + round, before.threads);
    all += result.done;
    std::printf("%8.0f %12llu  ", passed(), static_cast<unsigned long long>(all));
    std::fflush(stdout);
    std::cout << result.after << std::endl;
    if (round < 2) {  // some allocations are made once and kept
      before = result.after;
      continue;
    }
    EXPECT_LE(result.after.threads, before.threads + kKeptThreads);
    EXPECT_LE(result.after.descriptors, before.descriptors);
    // The allocator's arenas come and go with threads, and sanitizers hold on to freed memory.
    EXPECT_LE(result.after.mappings, before.mappings + (kSanitized ? 2000 : 100));
    EXPECT_LE(result.after.resident_bytes, before.resident_bytes + (std::int64_t{kSanitized ? 1024 : 64} << 20));
  }
}

}  // namespace
}  // namespace anydml::test
