// SPDX-License-Identifier: MIT
// Makes every allocation on a DirectML program's own thread fail once, from device creation to the result. Each time, a
// call must report the failure or a device must be removed. No exception may cross the API, nothing may leak, and the
// next program must work. Also tests that a program in its steady state allocates nothing, whatever the number of
// dispatches in its lists.
#include <chrono>
#include <cstdio>
#include <thread>

#include "directml/harness.h"
#include "support/failing_new.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

// Allocates nothing unless the result is an unexpected error.
#define TRY(expression)                                      \
  if (const HRESULT tried = (expression); FAILED(tried)) {   \
    if (tried != E_OUTOFMEMORY && tried != kDeviceRemoved) { \
      t_until_failure = -1;                                  \
      ADD_FAILURE() << #expression << " gave " << tried;     \
    }                                                        \
    return false;                                            \
  }

ID3D12Resource* buffer(ID3D12Device* device, ComPtr<ID3D12Resource>& built) {
  const auto properties = heap_properties(D3D12_HEAP_TYPE_CUSTOM);
  const auto desc = buffer_desc(1024, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  return FAILED(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                                nullptr, IID_PPV_ARGS(&built)))
             ? nullptr
             : built.Get();
}

int g_early_releases = 0;  // the number that the debug layer reported in the program's last run

void count_early_releases(D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID id, LPCSTR, void*) {
  g_early_releases += id == D3D12_MESSAGE_ID_OBJECT_DELETED_WHILE_STILL_IN_USE ? 1 : 0;
}

// A program with an owned tensor. Returns true if it finished with the right result. After a failure it gives up and
// releases everything without waiting for submitted work, against D3D12's rules.
bool run_program(DML_CREATE_DEVICE_FLAGS flags = DML_CREATE_DEVICE_FLAG_DEBUG) {
  g_early_releases = 0;
  ComPtr<ID3D12Device> d3d12;
  ComPtr<IDMLDevice> dml;
  TRY(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)));
  TRY(DMLCreateDevice(d3d12.Get(), flags, IID_PPV_ARGS(&dml)));
  if (flags == DML_CREATE_DEVICE_FLAG_DEBUG) {
    ComPtr<ID3D12InfoQueue1> messages;
    DWORD cookie = 0;
    TRY(d3d12.As(&messages));
    TRY(messages->RegisterMessageCallback(&count_early_releases, D3D12_MESSAGE_CALLBACK_FLAG_NONE, nullptr, &cookie));
  }
  D3D12_COMMAND_QUEUE_DESC queue_desc{};
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  TRY(d3d12->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&queue)));
  TRY(d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator)));
  TRY(d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr, IID_PPV_ARGS(&list)));
  TRY(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  TRY(queue->SetName(L"queue"));

  static const UINT sizes[] = {1, 1, 1, 4};
  DML_BUFFER_TENSOR_DESC plain{DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 16, 0};
  DML_BUFFER_TENSOR_DESC owned{DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_FLAG_OWNED_BY_DML, 4, sizes, nullptr, 16, 0};
  const DML_TENSOR_DESC plain_desc{DML_TENSOR_TYPE_BUFFER, &plain};
  const DML_TENSOR_DESC owned_desc{DML_TENSOR_TYPE_BUFFER, &owned};
  const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC modulus{&plain_desc, &owned_desc, &plain_desc};
  const DML_OPERATOR_DESC desc{DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &modulus};
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLCommandRecorder> recorder;
  TRY(dml->CreateOperator(&desc, IID_PPV_ARGS(&op)));
  TRY(dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));
  IDMLCompiledOperator* targets[] = {compiled.Get()};
  TRY(dml->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)));
  TRY(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));

  ComPtr<ID3D12Resource> a;
  ComPtr<ID3D12Resource> b;
  ComPtr<ID3D12Resource> out;
  ComPtr<ID3D12Resource> persistent;
  if (buffer(d3d12.Get(), a) == nullptr || buffer(d3d12.Get(), b) == nullptr || buffer(d3d12.Get(), out) == nullptr ||
      buffer(d3d12.Get(), persistent) == nullptr) {
    return false;
  }
  int* mapped = nullptr;
  TRY(a->Map(0, nullptr, reinterpret_cast<void**>(&mapped)));
  std::fill_n(mapped, 4, -7);
  TRY(b->Map(0, nullptr, reinterpret_cast<void**>(&mapped)));
  std::fill_n(mapped, 4, 3);
  D3D12_DESCRIPTOR_HEAP_DESC heap_desc{};
  heap_desc.NumDescriptors = 8;
  heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  ComPtr<ID3D12DescriptorHeap> heap;
  TRY(d3d12->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)));
  const auto cpu = heap->GetCPUDescriptorHandleForHeapStart();
  const auto gpu = heap->GetGPUDescriptorHandleForHeapStart();
  const UINT step = d3d12->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  const DML_BINDING_TABLE_DESC first{initializer.Get(), cpu, gpu, 4};
  const DML_BINDING_TABLE_DESC second{compiled.Get(), {cpu.ptr + 4 * step}, {gpu.ptr + 4 * step}, 4};
  ComPtr<IDMLBindingTable> tables[2];
  TRY(dml->CreateBindingTable(&first, IID_PPV_ARGS(&tables[0])));
  TRY(dml->CreateBindingTable(&second, IID_PPV_ARGS(&tables[1])));
  const DML_BUFFER_BINDING weights[] = {{nullptr, 0, 0}, {b.Get(), 0, 16}};
  const DML_BUFFER_ARRAY_BINDING array{2, weights};
  const DML_BINDING_DESC init_input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  const DML_BUFFER_BINDING kept{persistent.Get(), 0, 1024};
  const DML_BINDING_DESC kept_desc{DML_BINDING_TYPE_BUFFER, &kept};
  tables[0]->BindInputs(1, &init_input);
  tables[0]->BindOutputs(1, &kept_desc);
  const DML_BUFFER_BINDING in{a.Get(), 0, 16};
  const DML_BUFFER_BINDING result{out.Get(), 0, 16};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &in}, {DML_BINDING_TYPE_NONE, nullptr}};
  const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &result};
  tables[1]->BindInputs(2, inputs);
  tables[1]->BindOutputs(1, &output);
  tables[1]->BindPersistentResource(&kept_desc);
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  list->SetDescriptorHeaps(1, heaps);
  recorder->RecordDispatch(list.Get(), initializer.Get(), tables[0].Get());
  uav_barrier(list.Get());
  recorder->RecordDispatch(list.Get(), compiled.Get(), tables[1].Get());
  TRY(dml->GetDeviceRemovedReason());
  TRY(list->Close());
  ID3D12CommandList* lists[] = {list.Get()};
  queue->ExecuteCommandLists(1, lists);
  TRY(queue->Signal(fence.Get(), 1));
  TRY(fence->SetEventOnCompletion(1, nullptr));
  TRY(d3d12->GetDeviceRemovedReason());
  TRY(dml->GetDeviceRemovedReason());
  TRY(out->Map(0, nullptr, reinterpret_cast<void**>(&mapped)));
  EXPECT_EQ(mapped[0], 2);
  EXPECT_EQ(mapped[3], 2);
  return true;
}

// Queue threads release their objects a moment after the program does.
long settled_live() {
  long live = g_live;
  for (int quiet = 0; quiet < 20;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    quiet = g_live == live ? quiet + 1 : 0;
    live = g_live;
  }
  return live;
}

// A library with its own operator new cannot be made to fail from here.
bool is_out_of_reach() {
  const auto device = create_d3d12_device();
  ComPtr<ID3D12Fence> fence;
  t_until_failure = 0;
  const HRESULT result = device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence));
  t_until_failure = -1;
  return result == S_OK;
}
constexpr const char* kOutOfReach = "the libraries do not use this program's operator new";

TEST(AllocationFailure, EachOfADirectMLProgram) {
  ASSERT_TRUE(run_program());
  if (is_out_of_reach()) {
    GTEST_SKIP() << kOutOfReach;
  }
  EXPECT_NE(anydml_find_device(""), anydml_device_at(0));  // this is an error, and each thread keeps its message buffer
  const long before = settled_live();
  for (const auto flags : {DML_CREATE_DEVICE_FLAG_NONE, DML_CREATE_DEVICE_FLAG_DEBUG}) {
    long failures = 0;
    for (long n = 0;; ++n) {
      ASSERT_LT(n, 10'000);
      t_until_failure = n;
      const bool done = run_program(flags);
      const bool reached = t_until_failure < 0;
      t_until_failure = -1;
      EXPECT_EQ(done ? g_early_releases : 0, 0) << n;
      if (!reached) {
        EXPECT_TRUE(done);
        break;
      }
      ++failures;
      ASSERT_TRUE(run_program(flags)) << "after failure " << n << ": " << anydml_last_error();
      if (n % 16 == 0) {
        EXPECT_EQ(settled_live(), before) << "failure " << n << " leaks";
      }
    }
    // Here every allocation from the n-th on fails, so there is not even memory for a message.
    for (long n = 0; n < failures; ++n) {
      t_all_from_there = true;
      t_until_failure = n;
      const bool done = run_program(flags);
      // The number of allocations depends slightly on which thread runs the queue's work, so the last one may not
      // happen.
      const bool reached = t_until_failure == 0;
      t_all_from_there = false;
      t_until_failure = -1;
      EXPECT_EQ(done ? g_early_releases : 0, 0) << n;
      if (flags == DML_CREATE_DEVICE_FLAG_NONE && n + 3 < failures) {  // the debug layer can do without its memory
        EXPECT_FALSE(done && reached) << n;
      }
    }
    ASSERT_TRUE(run_program(flags));
    EXPECT_EQ(settled_live(), before);
    std::printf("%ld allocations failed, each once\n", failures);
    EXPECT_GT(failures, 40);
  }
}

// Returns the number of allocations by all threads during a hundred submissions of a list with this many dispatches.
// The program waits for each submission.
long allocations_of_lists(int dispatches) {
  Dml dml;
  const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 16});
  const auto op = dml.binary(tensor, tensor, tensor);
  const auto compiled = dml.compile(op.Get());
  dml.initialize(compiled.Get());
  const auto heap = create_heap(dml.d3d12.Get(), 3);
  const auto table = dml.table(compiled.Get(), heap.Get());
  const auto a = create_buffer(dml.d3d12.Get(), 64);
  const auto b = create_buffer(dml.d3d12.Get(), 64);
  const auto out = create_buffer(dml.d3d12.Get(), 64);
  bind_inputs(table.Get(), {{a.Get(), 0, 64}, {b.Get(), 0, 64}});
  bind_output(table.Get(), {out.Get(), 0, 64});
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  for (int i = 0; i < dispatches; ++i) {
    uav_barrier(dml.queue.list.Get());
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  }
  dml.queue.submit();
  dml.queue.wait();
  const long before = g_allocations;
  for (int i = 0; i < 100; ++i) {
    dml.queue.execute();
    dml.queue.wait();
  }
  const long built = g_allocations - before;
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
  return built;
}

TEST(Allocation, NoneForASubmissionOrADispatch) {
  if (is_out_of_reach()) {
    GTEST_SKIP() << kOutOfReach;
  }
  EXPECT_EQ(allocations_of_lists(1), 0);
  EXPECT_EQ(allocations_of_lists(10), 0);
  EXPECT_EQ(allocations_of_lists(1000), 0);
}

}  // namespace
}  // namespace anydml::test
