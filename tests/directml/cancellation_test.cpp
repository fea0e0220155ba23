// SPDX-License-Identifier: MIT
// Tests thread cancellation and signals during calls. A canceled thread finishes its current call; after a signal
// handler has run, the call continues.
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "directml/harness.h"
#include "support/process_counts.h"

namespace anydml::test {
namespace {

// Runs the body on a thread that has already been canceled, so the thread ends at the first cancellation point that it
// reaches with cancellation enabled. Returns whether the body ran to its end, which it does unless one of our calls
// contains a cancellation point. (A cancellation point inside a noexcept function would terminate the process.)
bool ends_when_cancelled(const std::function<void()>& body) {
  struct Start {
    const std::function<void()>* body;
    std::atomic<bool> ended{false};
  } start{&body};
  pthread_t thread{};
  EXPECT_EQ(pthread_create(
                &thread, nullptr,
                [](void* given) -> void* {
                  auto& all = *static_cast<Start*>(given);
                  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
                  pthread_cancel(pthread_self());
                  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
                  (*all.body)();
                  all.ended = true;
                  pthread_testcancel();
                  return nullptr;
                },
                &start),
            0);
  void* result = nullptr;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  return start.ended;
}

// Blocks a thread in the call, cancels the thread there, and then ends the wait. The call must return, and the thread
// must end after the call.
bool ends_when_cancelled_in(const std::function<void()>& call, const std::function<void()>& end_of_wait) {
  struct Start {
    const std::function<void()>* call;
    std::atomic<bool> entered{false};
    std::atomic<bool> ended{false};
  } start{&call};
  pthread_t thread{};
  EXPECT_EQ(pthread_create(
                &thread, nullptr,
                [](void* given) -> void* {
                  auto& all = *static_cast<Start*>(given);
                  all.entered = true;
                  (*all.call)();
                  all.ended = true;
                  pthread_testcancel();
                  return nullptr;
                },
                &start),
            0);
  EXPECT_TRUE(soon([&] { return start.entered.load(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pthread_cancel(thread);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(start.ended);
  end_of_wait();
  void* result = nullptr;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  return start.ended && result == PTHREAD_CANCELED;
}

struct Cancellation : testing::Test {
  ComPtr<ID3D12Device> device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence() const {
    ComPtr<ID3D12Fence> built;
    EXPECT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&built)), S_OK);
    return built;
  }
  static HANDLE handle_of(int number) { return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(number)); }
};

TEST_F(Cancellation, InEveryCallThatBlocks) {
  const auto one = fence();
  const auto other = fence();
  EXPECT_TRUE(ends_when_cancelled_in([&] { EXPECT_EQ(one->SetEventOnCompletion(1, nullptr), S_OK); },
                                     [&] { EXPECT_EQ(one->Signal(1), S_OK); }));
  ComPtr<ID3D12Device1> device1;
  ASSERT_EQ(device.As(&device1), S_OK);
  for (const auto flags : {D3D12_MULTIPLE_FENCE_WAIT_FLAG_NONE, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY}) {
    const UINT64 value = one->GetCompletedValue() + 1;
    EXPECT_TRUE(ends_when_cancelled_in(
        [&] {
          ID3D12Fence* fences[] = {one.Get(), other.Get()};
          const UINT64 values[] = {value, value};
          EXPECT_EQ(device1->SetEventOnMultipleFenceCompletion(fences, values, 2, flags, nullptr), S_OK);
        },
        [&] {
          EXPECT_EQ(one->Signal(value), S_OK);
          EXPECT_EQ(other->Signal(value), S_OK);
        }));
  }
}

// Unregistering a callback waits until no thread is running it.
TEST_F(Cancellation, InUnregisteringACallback) {
  ComPtr<ID3D12Debug> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  ComPtr<ID3D12InfoQueue1> messages;
  ASSERT_EQ(device.As(&messages), S_OK);
  struct Gate {
    std::atomic<bool> entered{false};
    std::atomic<bool> open{false};
  } gate;
  DWORD cookie = 0;
  ASSERT_EQ(messages->RegisterMessageCallback(
                [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR, void* given) {
                  auto& held = *static_cast<Gate*>(given);
                  held.entered = true;
                  soon([&] { return held.open.load(); });
                },
                D3D12_MESSAGE_CALLBACK_FLAG_NONE, &gate, &cookie),
            S_OK);
  std::thread speaker([&] { EXPECT_EQ(fence()->SetEventOnCompletion(1, handle_of(2)), E_INVALIDARG); });
  EXPECT_TRUE(soon([&] { return gate.entered.load(); }));
  EXPECT_TRUE(ends_when_cancelled_in([&] { EXPECT_EQ(messages->UnregisterMessageCallback(cookie), S_OK); },
                                     [&] { gate.open = true; }));
  speaker.join();
}

// Tests every call that a DirectML program makes, each on a thread that was already canceled and ends at the first
// opportunity.
TEST_F(Cancellation, InEveryCall) {
  const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 64});
  const Tensor wrong(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 65});
  const int event = eventfd(0, EFD_CLOEXEC);
  ComPtr<IDMLDevice> dml;
  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLBindingTable> table;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<ID3D12Resource> buffers[3];
  std::unique_ptr<Queue> queue;
  ComPtr<ID3D12Fence> later;
  const std::function<void()> steps[] = {
      [&] { device = create_d3d12_device(); },
      [&] { queue = std::make_unique<Queue>(device.Get()); },
      [&] { later = fence(); },
      [&] { EXPECT_EQ(DMLCreateDevice(device.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, IID_PPV_ARGS(&dml)), S_OK); },
      [&] { EXPECT_EQ(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), S_OK); },
      [&] {
        for (auto& buffer : buffers) {
          buffer = create_buffer(device.Get(), 256);
        }
      },
      [&] { EXPECT_NE(create_buffer(device.Get(), 8 << 20), nullptr); },  // released immediately
      [&] { heap = create_heap(device.Get(), 8); },
      [&] {  // this prints a message to standard error, which is a cancellation point
        const DML_ELEMENT_WISE_ADD_OPERATOR_DESC desc{&tensor.desc, &wrong.desc, &tensor.desc};
        const DML_OPERATOR_DESC described{DML_OPERATOR_ELEMENT_WISE_ADD, &desc};
        EXPECT_EQ(dml->CreateOperator(&described, IID_PPV_ARGS(&op)), E_INVALIDARG);
      },
      [&] {
        const DML_ELEMENT_WISE_ADD_OPERATOR_DESC desc{&tensor.desc, &tensor.desc, &tensor.desc};
        const DML_OPERATOR_DESC described{DML_OPERATOR_ELEMENT_WISE_ADD, &desc};
        EXPECT_EQ(dml->CreateOperator(&described, IID_PPV_ARGS(&op)), S_OK);
      },
      [&] { EXPECT_EQ(dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)), S_OK); },
      [&] {
        IDMLCompiledOperator* targets[] = {compiled.Get()};
        EXPECT_EQ(dml->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
      },
      [&] {
        DML_BINDING_TABLE_DESC desc{compiled.Get(), heap->GetCPUDescriptorHandleForHeapStart(),
                                    heap->GetGPUDescriptorHandleForHeapStart(),
                                    compiled->GetBindingProperties().RequiredDescriptorCount};
        EXPECT_EQ(dml->CreateBindingTable(&desc, IID_PPV_ARGS(&table)), S_OK);
        bind_inputs(table.Get(), {{buffers[0].Get(), 0, 256}, {buffers[1].Get(), 0, 256}});
        bind_output(table.Get(), {buffers[2].Get(), 0, 256});
      },
      [&] {
        ID3D12DescriptorHeap* heaps[] = {heap.Get()};
        queue->list->SetDescriptorHeaps(1, heaps);
        recorder->RecordDispatch(queue->list.Get(), compiled.Get(), table.Get());
        queue->submit();
      },
      [&] { EXPECT_EQ(later->SetEventOnCompletion(1, handle_of(event)), S_OK); },
      [&] { EXPECT_EQ(later->SetEventOnCompletion(2, handle_of(2)), E_INVALIDARG); },  // not an eventfd
      [&] { EXPECT_EQ(later->Signal(1), S_OK); },                                      // this writes to the event
      [&] { queue->wait(); },
      [&] {
        queue->reopen();
        EXPECT_EQ(download_as<float>(*queue, buffers[2].Get()).size(), 64U);
      },
      [&] {
        IUnknown* none = nullptr;
        EXPECT_EQ(device->QueryInterface(__uuidof(IDMLDevice), reinterpret_cast<void**>(&none)), E_NOINTERFACE);
      },
      [&] {
        UINT64 gpu = 0;
        UINT64 cpu = 0;
        EXPECT_EQ(queue->queue->GetClockCalibration(&gpu, &cpu), S_OK);
      },
      [&] {
        EXPECT_EQ(later->SetEventOnCompletion(9, handle_of(event)), S_OK);
        later.Reset();  // this closes the fence's duplicate of the event
      },
      [&] {
        queue->queue->UpdateTileMappings(nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, {});
      },
      [&] { EXPECT_TRUE(FAILED(device->GetDeviceRemovedReason())); },
      [&] {
        table.Reset();
        initializer.Reset();
        compiled.Reset();
        op.Reset();
        recorder.Reset();
        dml.Reset();
      },
      [&] { queue.reset(); },
      [&] { device.Reset(); },
  };
  int index = 0;
  for (const auto& step : steps) {
    ASSERT_TRUE(ends_when_cancelled(step)) << "step " << index;
    ++index;
  }
  close(event);
}

TEST_F(Cancellation, InTheCApi) {
  std::vector<float> a(100'000, 7.0F);
  std::vector<float> out(a.size());
  const std::int64_t sizes[] = {static_cast<std::int64_t>(a.size())};
  const anydml_tensor ta = {ANYDML_FLOAT32, 1, sizes, nullptr, a.data()};
  const anydml_tensor to = {ANYDML_FLOAT32, 1, sizes, nullptr, out.data()};
  EXPECT_TRUE(ends_when_cancelled([&] { EXPECT_EQ(anydml_modulus_floor(&ta, &ta, &to), ANYDML_OK); }));
  EXPECT_TRUE(
      ends_when_cancelled([&] { EXPECT_EQ(anydml_modulus_floor(&ta, nullptr, &to), ANYDML_INVALID_ARGUMENT); }));
  EXPECT_TRUE(ends_when_cancelled([&] { EXPECT_GE(anydml_device_count(), 1U); }));
  EXPECT_TRUE(ends_when_cancelled([&] { EXPECT_EQ(anydml_find_device("abacus"), nullptr); }));
}

// A handler that does not restart system calls runs repeatedly on waiting threads.
TEST_F(Cancellation, SignalsEndNoWait) {
  struct sigaction handler {};
  struct sigaction before {};
  handler.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &handler, &before), 0);
  ComPtr<ID3D12Device1> device1;
  ASSERT_EQ(device.As(&device1), S_OK);
  const auto one = fence();
  const auto other = fence();
  std::atomic<int> returned{0};
  std::vector<std::thread> waiting;
  waiting.emplace_back([&] {
    EXPECT_EQ(one->SetEventOnCompletion(1, nullptr), S_OK);
    ++returned;
  });
  for (const auto flags : {D3D12_MULTIPLE_FENCE_WAIT_FLAG_NONE, D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY}) {
    waiting.emplace_back([&, flags] {
      ID3D12Fence* fences[] = {one.Get(), other.Get()};
      const UINT64 values[] = {1, 1};
      EXPECT_EQ(device1->SetEventOnMultipleFenceCompletion(fences, values, 2, flags, nullptr), S_OK);
      ++returned;
    });
  }
  for (int i = 0; i < 200; ++i) {
    for (auto& thread : waiting) {
      pthread_kill(thread.native_handle(), SIGUSR1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(one->Signal(1), S_OK);
  EXPECT_EQ(other->Signal(1), S_OK);
  for (auto& thread : waiting) {
    thread.join();
  }
  ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

}  // namespace
}  // namespace anydml::test
