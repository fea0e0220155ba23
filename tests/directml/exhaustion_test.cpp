// SPDX-License-Identifier: MIT
// Tests the exhaustion of threads, mappings and address space. Each must be reported as an error, and the process must
// recover fully.
#include <sys/resource.h>

#include <chrono>
#include <random>

#include "directml/harness.h"
#include "support/process_counts.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

TEST(Exhaustion, AHundredThousandBuffersThrice) {
  const auto device = create_d3d12_device();
  const int count = kSanitized ? 5'000 : 100'000;
  const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  const auto before = process_counts();
  for (int round = 0; round < 3; ++round) {
    std::vector<ComPtr<ID3D12Resource>> buffers(static_cast<std::size_t>(count));
    std::mt19937 random(static_cast<unsigned>(round));
    for (auto& buffer : buffers) {
      const auto desc = buffer_desc(1 + random() % 4096, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
      ASSERT_EQ(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                                nullptr, IID_PPV_ARGS(&buffer)),
                S_OK)
          << round << ": " << anydml_last_error();
    }
    EXPECT_LT(process_counts().mappings, before.mappings + count / 100 + 100);
    std::ranges::shuffle(buffers, random);
  }
  EXPECT_LE(process_counts().mappings, before.mappings + (kSanitized ? 200 : 10));
}

// Limits the address space to the current usage plus the given number of bytes.
class NoAddressSpace {
 public:
  explicit NoAddressSpace(std::uint64_t more) {
    getrlimit(RLIMIT_AS, &before_);
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    statm >> pages;
    const rlimit now{.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + more,
                     .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_AS, &now);
  }
  ~NoAddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  NoAddressSpace(const NoAddressSpace&) = delete;
  NoAddressSpace& operator=(const NoAddressSpace&) = delete;

 private:
  rlimit before_{};
};

TEST(Exhaustion, AQueueWithoutAThreadIsAnError) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers need extra address space";
  }
  const auto device = create_d3d12_device();
  { const Queue warm(device.Get()); }
  const auto before = process_counts();
  HRESULT result = S_OK;
  std::string message;
  {
    D3D12_COMMAND_QUEUE_DESC desc{};
    desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    std::vector<ComPtr<ID3D12CommandQueue>> queues;
    const NoAddressSpace none(20 << 20);  // a thread's stack takes 8 MiB
    for (int i = 0; i < 64 && result == S_OK; ++i) {
      ComPtr<ID3D12CommandQueue> queue;
      result = device->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue));
      message = anydml_last_error();
      queues.push_back(queue);
    }
  }
  EXPECT_EQ(result, E_OUTOFMEMORY);
  EXPECT_NE(message.find("ID3D12Device::CreateCommandQueue: the queue's thread could not be started: "),
            std::string::npos)
      << message;
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
  EXPECT_TRUE(soon([&] { return process_counts().threads <= before.threads; }));
  Queue again(device.Get());
  again.finish();
}

TEST(Exhaustion, BuffersWithoutAddressSpaceAreErrors) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers need extra address space";
  }
  const auto device = create_d3d12_device();
  const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  for (const std::uint64_t bytes : {std::uint64_t{1000}, std::uint64_t{100'000'000}}) {
    std::vector<ComPtr<ID3D12Resource>> buffers(100'000);
    const NoAddressSpace none(std::uint64_t{1} << 30);
    HRESULT result = S_OK;
    for (std::size_t i = 0; i < buffers.size() && result == S_OK; ++i) {
      const auto desc = buffer_desc(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
      result = device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                               nullptr, IID_PPV_ARGS(&buffers[i]));
    }
    EXPECT_EQ(result, E_OUTOFMEMORY);
    EXPECT_NE(std::string(anydml_last_error()).find("allocation failed"), std::string::npos);
    buffers.resize(1);
    ComPtr<ID3D12Resource> again = create_buffer(device.Get(), bytes);
    EXPECT_NE(again, nullptr);
  }
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

// One initializer has many operators. Checking them together must not take quadratic time.
TEST(Exhaustion, AnInitializerOfManyOperators) {
  Dml dml;
  const UINT count = kSanitized ? 2'000 : 20'000;
  const Tensor a(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 4});
  const Tensor b(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 4}, {}, DML_TENSOR_FLAG_OWNED_BY_DML);
  const auto op = dml.binary(a, b, a);
  std::vector<ComPtr<IDMLCompiledOperator>> compiled(count);
  std::vector<IDMLCompiledOperator*> targets;
  for (auto& one : compiled) {
    one = dml.compile(op.Get());
    targets.push_back(one.Get());
  }
  const auto start = std::chrono::steady_clock::now();
  ComPtr<IDMLOperatorInitializer> initializer;
  ASSERT_EQ(dml.device->CreateOperatorInitializer(count, targets.data(), IID_PPV_ARGS(&initializer)), S_OK);
  const auto heap = create_heap(dml.d3d12.Get(), 2 * count);
  const auto table = dml.table(initializer.Get(), heap.Get());
  const auto weights = create_buffer(dml.d3d12.Get(), 16);
  const auto persistent = create_buffer(dml.d3d12.Get(), std::uint64_t{256} * count);
  std::vector<DML_BUFFER_BINDING> inputs(std::size_t{2} * count);
  std::vector<DML_BUFFER_ARRAY_BINDING> arrays(count);
  std::vector<DML_BUFFER_BINDING> outputs(count);
  std::vector<DML_BINDING_DESC> input_descs;
  std::vector<DML_BINDING_DESC> output_descs;
  for (UINT i = 0; i < count; ++i) {
    inputs[2 * i + 1] = {weights.Get(), 0, 16};
    arrays[i] = {2, &inputs[std::size_t{2} * i]};
    outputs[i] = {persistent.Get(), std::uint64_t{256} * i, 256};
    input_descs.push_back({DML_BINDING_TYPE_BUFFER_ARRAY, &arrays[i]});
    output_descs.push_back({DML_BINDING_TYPE_BUFFER, &outputs[i]});
  }
  table->BindInputs(count, input_descs.data());
  table->BindOutputs(count, output_descs.data());
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), table.Get());
  dml.queue.finish();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(seconds.count()));
  std::printf("%u operators initialized in %.3f s\n", count, seconds.count());
}

}  // namespace
}  // namespace anydml::test
