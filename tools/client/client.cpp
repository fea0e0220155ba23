// SPDX-License-Identifier: MIT
#include "client.h"

#include <anydml/anydml.h>

#include <cstdio>

namespace anydml::client {
namespace {

// DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE. Using that name would require linking a DirectX-Headers library.
constexpr GUID kCoreCompute = {0x248e2800, 0xa793, 0x4724, {0xab, 0xaa, 0x23, 0xa6, 0xde, 0x1b, 0xe0, 0x90}};

std::vector<DML_BINDING_DESC> binding_descs(std::span<const DML_BUFFER_BINDING> buffers) {
  std::vector<DML_BINDING_DESC> descs;
  for (const DML_BUFFER_BINDING& buffer : buffers) {
    descs.push_back(buffer.Buffer == nullptr ? DML_BINDING_DESC{DML_BINDING_TYPE_NONE, nullptr}
                                             : DML_BINDING_DESC{DML_BINDING_TYPE_BUFFER, &buffer});
  }
  return descs;
}

ComPtr<IDMLCompiledOperator> compile(Device& device, const DML_OPERATOR_DESC& desc, DML_EXECUTION_FLAGS flags) {
  ComPtr<IDMLCompiledOperator> compiled;
  check(device.dml()->CompileOperator(create_operator(device, desc).Get(), flags, IID_PPV_ARGS(&compiled)),
        "CompileOperator");
  return compiled;
}

ComPtr<IDMLOperatorInitializer> create_initializer(Device& device, IDMLCompiledOperator* compiled) {
  ComPtr<IDMLOperatorInitializer> initializer;
  check(device.dml()->CreateOperatorInitializer(1, &compiled, IID_PPV_ARGS(&initializer)), "CreateOperatorInitializer");
  return initializer;
}

template <class Value>
Value property(IDXCoreAdapter* adapter, DXCoreAdapterProperty which) {
  Value value{};
  check(adapter->GetProperty(which, sizeof(value), &value), "GetProperty");
  return value;
}

}  // namespace

void check(HRESULT result, const char* call) {
  if (!FAILED(result)) {
    return;
  }
  const char* said = anydml_last_error();
  char text[128];
  std::snprintf(text, sizeof(text), "%s failed with 0x%08x", call, static_cast<unsigned>(result));
  throw Failure(result, said != nullptr && *said != '\0' ? said : text);
}

std::vector<Adapter> list_adapters() {
  ComPtr<IDXCoreAdapterFactory> factory;
  check(DXCoreCreateAdapterFactory(IID_PPV_ARGS(&factory)), "DXCoreCreateAdapterFactory");
  ComPtr<IDXCoreAdapterList> list;
  check(factory->CreateAdapterList(1, &kCoreCompute, IID_PPV_ARGS(&list)), "CreateAdapterList");
  std::vector<Adapter> adapters(list->GetAdapterCount());
  for (std::uint32_t i = 0; i < adapters.size(); ++i) {
    Adapter& one = adapters[i];
    check(list->GetAdapter(i, IID_PPV_ARGS(&one.adapter)), "GetAdapter");
    IDXCoreAdapter* adapter = one.adapter.Get();
    std::size_t bytes = 0;
    check(adapter->GetPropertySize(DXCoreAdapterProperty::DriverDescription, &bytes), "GetPropertySize");
    one.description.resize(bytes);
    check(adapter->GetProperty(DXCoreAdapterProperty::DriverDescription, bytes, one.description.data()), "GetProperty");
    one.description.resize(one.description.find('\0') == std::string::npos ? bytes : one.description.find('\0'));
    one.driver_version = property<std::uint64_t>(adapter, DXCoreAdapterProperty::DriverVersion);
    one.dedicated_memory = property<std::uint64_t>(adapter, DXCoreAdapterProperty::DedicatedAdapterMemory);
    one.shared_memory = property<std::uint64_t>(adapter, DXCoreAdapterProperty::SharedSystemMemory);
    one.is_hardware = property<bool>(adapter, DXCoreAdapterProperty::IsHardware);
    one.is_integrated = property<bool>(adapter, DXCoreAdapterProperty::IsIntegrated);
    const auto luid = property<LUID>(adapter, DXCoreAdapterProperty::InstanceLuid);
    one.luid_high = luid.HighPart;
    one.luid_low = luid.LowPart;
  }
  return adapters;
}

Device::Device(const DeviceOptions& options) {
  // Every adapter supports core compute, including adapters that support nothing else.
  check(D3D12CreateDevice(options.adapter, D3D_FEATURE_LEVEL_1_0_CORE, IID_PPV_ARGS(&d3d12_)), "D3D12CreateDevice");
  check(DMLCreateDevice1(d3d12_.Get(), options.debug ? DML_CREATE_DEVICE_FLAG_DEBUG : DML_CREATE_DEVICE_FLAG_NONE,
                         options.minimum_level, IID_PPV_ARGS(&dml_)),
        "DMLCreateDevice1");
  D3D12_FEATURE_DATA_ARCHITECTURE architecture{};
  check(d3d12_->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE, &architecture, sizeof(architecture)),
        "CheckFeatureSupport");
  shared_memory_ = options.custom_heaps && architecture.CacheCoherentUMA != FALSE;
  D3D12_COMMAND_QUEUE_DESC queue_desc{};
  queue_desc.Type = options.list_type;
  check(d3d12_->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&queue_)), "CreateCommandQueue");
  check(d3d12_->CreateCommandAllocator(options.list_type, IID_PPV_ARGS(&allocator_)), "CreateCommandAllocator");
  check(d3d12_->CreateCommandList(0, options.list_type, allocator_.Get(), nullptr, IID_PPV_ARGS(&list_)),
        "CreateCommandList");
  check(d3d12_->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence_)), "CreateFence");
  check(dml_->CreateCommandRecorder(IID_PPV_ARGS(&recorder_)), "CreateCommandRecorder");
}

DML_FEATURE_LEVEL Device::feature_level() const {
  constexpr DML_FEATURE_LEVEL kLevels[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_2_0, DML_FEATURE_LEVEL_2_1,
                                           DML_FEATURE_LEVEL_3_0, DML_FEATURE_LEVEL_3_1, DML_FEATURE_LEVEL_4_0,
                                           DML_FEATURE_LEVEL_4_1, DML_FEATURE_LEVEL_5_0, DML_FEATURE_LEVEL_5_1,
                                           DML_FEATURE_LEVEL_5_2, DML_FEATURE_LEVEL_6_0, DML_FEATURE_LEVEL_6_1,
                                           DML_FEATURE_LEVEL_6_2, DML_FEATURE_LEVEL_6_3, DML_FEATURE_LEVEL_6_4};
  const DML_FEATURE_QUERY_FEATURE_LEVELS query{static_cast<UINT>(std::size(kLevels)), kLevels};
  DML_FEATURE_DATA_FEATURE_LEVELS data{};
  check(dml_->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof(query), &query, sizeof(data), &data),
        "CheckFeatureSupport");
  return data.MaxSupportedFeatureLevel;
}

std::uint64_t Device::timestamp_frequency() const {
  UINT64 frequency = 0;
  check(queue_->GetTimestampFrequency(&frequency), "GetTimestampFrequency");
  return frequency;
}

void Device::close() {
  check(list_->Close(), "Close");
  check(dml_->GetDeviceRemovedReason(), "binding and recording");
}

void Device::execute() {
  ID3D12CommandList* lists[] = {list_.Get()};
  queue_->ExecuteCommandLists(1, lists);
  check(queue_->Signal(fence_.Get(), ++submitted_), "Signal");
}

void Device::wait() const { check(fence_->SetEventOnCompletion(submitted_, nullptr), "SetEventOnCompletion"); }

void Device::poll() const {
  while (fence_->GetCompletedValue() < submitted_) {
  }
}

void Device::reopen() {
  check(d3d12_->GetDeviceRemovedReason(), "executing");
  check(allocator_->Reset(), "Reset");
  check(list_->Reset(allocator_.Get(), nullptr), "Reset");
}

ComPtr<ID3D12Resource> Device::create_committed(const D3D12_HEAP_PROPERTIES& heap, std::uint64_t bytes,
                                                D3D12_RESOURCE_STATES state, D3D12_RESOURCE_FLAGS flags) const {
  D3D12_RESOURCE_DESC desc{};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = bytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = flags;
  ComPtr<ID3D12Resource> buffer;
  check(d3d12_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_PPV_ARGS(&buffer)),
        "CreateCommittedResource");
  return buffer;
}

ComPtr<ID3D12Resource> Device::create_buffer(std::uint64_t bytes) {
  const D3D12_HEAP_PROPERTIES heap =
      shared_memory_ ? d3d12_->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_READBACK) : heap_of(D3D12_HEAP_TYPE_DEFAULT);
  return create_committed(heap, bytes, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
}

void Device::copy(ID3D12Resource* to, ID3D12Resource* from, std::uint64_t bytes) {
  list_->CopyBufferRegion(to, 0, from, 0, bytes);
  run();
}

Mapped::Mapped(ID3D12Resource* buffer) : buffer_(buffer) {
  void* mapped = nullptr;
  check(buffer->Map(0, nullptr, &mapped), "Map");
  bytes_ = {static_cast<std::byte*>(mapped), static_cast<std::size_t>(buffer->GetDesc().Width)};
}

ComPtr<IDMLOperator> create_operator(Device& device, const DML_OPERATOR_DESC& desc) {
  ComPtr<IDMLOperator> op;
  check(device.dml()->CreateOperator(&desc, IID_PPV_ARGS(&op)), "CreateOperator");
  return op;
}

OperationNeeds needs_of(Device& device, IDMLCompiledOperator* compiled) {
  const DML_BINDING_PROPERTIES needs = compiled->GetBindingProperties();
  return {.persistent = needs.PersistentResourceSize,
          .temporary = needs.TemporaryResourceSize,
          .initial = create_initializer(device, compiled)->GetBindingProperties().TemporaryResourceSize};
}

Operation::Operation(Device& device, const DML_OPERATOR_DESC& desc, DML_EXECUTION_FLAGS flags,
                     std::span<const DML_BUFFER_BINDING> owned)
    : Operation(device, compile(device, desc, flags), owned) {}

Operation::Operation(Device& device, ComPtr<IDMLCompiledOperator> compiled, std::span<const DML_BUFFER_BINDING> owned)
    : compiled_(std::move(compiled)) {
  initialize(device, owned);
  const DML_BINDING_PROPERTIES needs = compiled_->GetBindingProperties();
  temporary_bytes_ = needs.TemporaryResourceSize;
  if (temporary_bytes_ != 0) {
    temporary_ = device.create_buffer(temporary_bytes_);
  }
  create_heap(device, needs.RequiredDescriptorCount);
}

void Operation::create_heap(const Device& device, UINT descriptors) {
  D3D12_DESCRIPTOR_HEAP_DESC desc{};
  desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  desc.NumDescriptors = descriptors == 0 ? 1 : descriptors;
  desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  check(device.d3d12()->CreateDescriptorHeap(&desc, IID_PPV_ARGS(heap_.ReleaseAndGetAddressOf())),
        "CreateDescriptorHeap");
}

DML_BINDING_TABLE_DESC Operation::table_desc(IDMLDispatchable* dispatchable) const {
  return {dispatchable, heap_->GetCPUDescriptorHandleForHeapStart(), heap_->GetGPUDescriptorHandleForHeapStart(),
          dispatchable->GetBindingProperties().RequiredDescriptorCount};
}

void Operation::initialize(Device& device, std::span<const DML_BUFFER_BINDING> owned) {
  const auto initializer = create_initializer(device, compiled_.Get());
  const DML_BINDING_PROPERTIES needs = initializer->GetBindingProperties();
  create_heap(device, needs.RequiredDescriptorCount);
  const DML_BINDING_TABLE_DESC desc = table_desc(initializer.Get());
  check(device.dml()->CreateBindingTable(&desc, IID_PPV_ARGS(&table_)), "CreateBindingTable");

  ComPtr<ID3D12Resource> temporary;
  if (needs.TemporaryResourceSize != 0) {
    temporary = device.create_buffer(needs.TemporaryResourceSize);
    const DML_BUFFER_BINDING buffer{temporary.Get(), 0, needs.TemporaryResourceSize};
    const DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &buffer};
    table_->BindTemporaryResource(&binding);
  }
  persistent_bytes_ = compiled_->GetBindingProperties().PersistentResourceSize;
  if (persistent_bytes_ != 0) {
    persistent_ = device.create_buffer(persistent_bytes_);
    const DML_BUFFER_BINDING buffer{persistent_.Get(), 0, persistent_bytes_};
    const DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &buffer};
    table_->BindOutputs(1, &binding);
  }
  if (!owned.empty()) {
    const DML_BUFFER_ARRAY_BINDING all{static_cast<UINT>(owned.size()), owned.data()};
    const DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER_ARRAY, &all};
    table_->BindInputs(1, &binding);
  }
  ID3D12DescriptorHeap* heaps[] = {heap_.Get()};
  device.list()->SetDescriptorHeaps(1, heaps);
  device.recorder()->RecordDispatch(device.list(), initializer.Get(), table_.Get());
  device.run();
}

void Operation::bind(std::span<const DML_BUFFER_BINDING> inputs, std::span<const DML_BUFFER_BINDING> outputs) {
  const DML_BINDING_TABLE_DESC desc = table_desc(compiled_.Get());
  check(table_->Reset(&desc), "Reset");
  const auto input_descs = binding_descs(inputs);
  const auto output_descs = binding_descs(outputs);
  table_->BindInputs(static_cast<UINT>(input_descs.size()), input_descs.data());
  table_->BindOutputs(static_cast<UINT>(output_descs.size()), output_descs.data());
  if (temporary_) {
    const DML_BUFFER_BINDING buffer{temporary_.Get(), 0, temporary_bytes_};
    const DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &buffer};
    table_->BindTemporaryResource(&binding);
  }
  if (persistent_) {
    const DML_BUFFER_BINDING buffer{persistent_.Get(), 0, persistent_bytes_};
    const DML_BINDING_DESC binding{DML_BINDING_TYPE_BUFFER, &buffer};
    table_->BindPersistentResource(&binding);
  }
}

void Operation::record(Device& device, std::uint64_t times) const {
  ID3D12DescriptorHeap* heaps[] = {heap_.Get()};
  device.list()->SetDescriptorHeaps(1, heaps);
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  for (std::uint64_t i = 0; i < times; ++i) {
    if (i != 0) {
      device.list()->ResourceBarrier(1, &barrier);
    }
    device.recorder()->RecordDispatch(device.list(), compiled_.Get(), table_.Get());
  }
}

}  // namespace anydml::client
