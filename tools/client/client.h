// SPDX-License-Identifier: MIT
// The setup that every DirectML program needs before it can run an operator: a device with a queue, buffers, and an
// operator with its bindings. Uses only the public headers, like any client. Failures are reported as exceptions.
#pragma once

// clang-format off
#include <wsl/winadapter.h>
#include <wsl/wrladapter.h>
#include <directx/d3d12.h>
#include <directx/dxcore.h>
#include <dxguids/dxguids.h>
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace anydml::client {

using Microsoft::WRL::ComPtr;

class Failure : public std::runtime_error {
 public:
  Failure(HRESULT result, const std::string& message) : std::runtime_error(message), result_(result) {}
  [[nodiscard]] HRESULT result() const { return result_; }

 private:
  HRESULT result_;
};

// Throws the library's message for its last failure, or the call's name and the HRESULT.
void check(HRESULT result, const char* call);

// The properties of a heap type that needs no further parameters.
[[nodiscard]] inline D3D12_HEAP_PROPERTIES heap_of(D3D12_HEAP_TYPE type) {
  D3D12_HEAP_PROPERTIES properties{};
  properties.Type = type;
  return properties;
}

struct Adapter {
  ComPtr<IDXCoreAdapter> adapter;
  std::string description;
  std::uint64_t driver_version = 0;
  std::uint64_t dedicated_memory = 0;
  std::uint64_t shared_memory = 0;
  bool is_hardware = false;
  bool is_integrated = false;
  std::int32_t luid_high = 0;
  std::uint32_t luid_low = 0;
};

[[nodiscard]] std::vector<Adapter> list_adapters();

struct DeviceOptions {
  IUnknown* adapter = nullptr;  // null: the first
  D3D12_COMMAND_LIST_TYPE list_type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
  DML_FEATURE_LEVEL minimum_level = DML_FEATURE_LEVEL_1_0;
  bool debug = false;
  bool custom_heaps = true;  // use memory shared by CPU and device, if the device supports it
};

// A device, and a command list that can be recorded, executed and waited for.
class Device {
 public:
  explicit Device(const DeviceOptions& options = {});

  [[nodiscard]] ID3D12Device* d3d12() const { return d3d12_.Get(); }
  [[nodiscard]] IDMLDevice* dml() const { return dml_.Get(); }
  [[nodiscard]] ID3D12GraphicsCommandList* list() const { return list_.Get(); }
  [[nodiscard]] IDMLCommandRecorder* recorder() const { return recorder_.Get(); }
  [[nodiscard]] DML_FEATURE_LEVEL feature_level() const;  // the highest level that the device offers
  [[nodiscard]] std::uint64_t timestamp_frequency() const;
  [[nodiscard]] bool shares_memory() const { return shared_memory_; }  // with the CPU; then nothing is copied

  void close();    // closes the list; throws recording errors
  void execute();  // executes the closed list, which can be executed again
  void wait() const;
  void poll() const;  // waits by polling
  void reopen();      // reopens the list, empty
  void run() {        // runs the recorded work to its end
    close();
    execute();
    wait();
    reopen();
  }

  // A buffer for tensors.
  [[nodiscard]] ComPtr<ID3D12Resource> create_buffer(std::uint64_t bytes);
  // `write` calls fill, and `read` calls use, with a span of all bytes that is valid only during the call.
  template <class Fill>
  void write(ID3D12Resource* buffer, Fill fill);
  template <class Use>
  void read(ID3D12Resource* buffer, Use use);

  [[nodiscard]] ComPtr<ID3D12Resource> create_committed(const D3D12_HEAP_PROPERTIES& heap, std::uint64_t bytes,
                                                        D3D12_RESOURCE_STATES state, D3D12_RESOURCE_FLAGS flags) const;

 private:
  void copy(ID3D12Resource* to, ID3D12Resource* from, std::uint64_t bytes);

  ComPtr<ID3D12Device> d3d12_;
  ComPtr<IDMLDevice> dml_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  ComPtr<ID3D12Fence> fence_;
  ComPtr<IDMLCommandRecorder> recorder_;
  std::uint64_t submitted_ = 0;
  bool shared_memory_ = false;
};

// A buffer's bytes while they are mapped.
class Mapped {
 public:
  explicit Mapped(ID3D12Resource* buffer);
  ~Mapped() { buffer_->Unmap(0, nullptr); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  ID3D12Resource* buffer_;
  std::span<std::byte> bytes_;
};

// The memory that an operator needs in addition to its tensors.
struct OperationNeeds {
  UINT64 persistent = 0;  // for its lifetime, like `temporary`
  UINT64 temporary = 0;
  UINT64 initial = 0;  // only during initialization
};
[[nodiscard]] OperationNeeds needs_of(Device& device, IDMLCompiledOperator* compiled);

[[nodiscard]] ComPtr<IDMLOperator> create_operator(Device& device, const DML_OPERATOR_DESC& desc);

// A compiled and initialized operator or graph, with its own descriptors and memory.
class Operation {
 public:
  // `owned`: the bindings of the inputs that DirectML owns. It contains one binding for each input, with a null buffer
  // for inputs that DirectML does not own, or is empty if DirectML owns none.
  Operation(Device& device, const DML_OPERATOR_DESC& desc, DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE,
            std::span<const DML_BUFFER_BINDING> owned = {});
  Operation(Device& device, ComPtr<IDMLCompiledOperator> compiled, std::span<const DML_BUFFER_BINDING> owned);

  // A binding with a null buffer means no binding.
  void bind(std::span<const DML_BUFFER_BINDING> inputs, std::span<const DML_BUFFER_BINDING> outputs);
  // Records a UAV barrier between any two of the dispatches, since all of them write the same memory.
  void record(Device& device, std::uint64_t times = 1) const;

 private:
  void initialize(Device& device, std::span<const DML_BUFFER_BINDING> owned);
  void create_heap(const Device& device, UINT descriptors);
  [[nodiscard]] DML_BINDING_TABLE_DESC table_desc(IDMLDispatchable* dispatchable) const;

  ComPtr<IDMLCompiledOperator> compiled_;
  ComPtr<ID3D12DescriptorHeap> heap_;
  ComPtr<IDMLBindingTable> table_;
  ComPtr<ID3D12Resource> persistent_;
  ComPtr<ID3D12Resource> temporary_;
  UINT64 persistent_bytes_ = 0;
  UINT64 temporary_bytes_ = 0;
};

template <class Fill>
void Device::write(ID3D12Resource* buffer, Fill fill) {
  if (shared_memory_) {
    fill(Mapped(buffer).bytes());
    return;
  }
  const std::uint64_t bytes = buffer->GetDesc().Width;
  const auto staging = create_committed(heap_of(D3D12_HEAP_TYPE_UPLOAD), bytes, D3D12_RESOURCE_STATE_GENERIC_READ,
                                        D3D12_RESOURCE_FLAG_NONE);
  fill(Mapped(staging.Get()).bytes());
  copy(buffer, staging.Get(), bytes);
}

template <class Use>
void Device::read(ID3D12Resource* buffer, Use use) {
  if (shared_memory_) {
    use(std::span<const std::byte>(Mapped(buffer).bytes()));
    return;
  }
  const std::uint64_t bytes = buffer->GetDesc().Width;
  const auto staging = create_committed(heap_of(D3D12_HEAP_TYPE_READBACK), bytes, D3D12_RESOURCE_STATE_COPY_DEST,
                                        D3D12_RESOURCE_FLAG_NONE);
  copy(staging.Get(), buffer, bytes);
  use(std::span<const std::byte>(Mapped(staging.Get()).bytes()));
}

}  // namespace anydml::client
