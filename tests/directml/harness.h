// SPDX-License-Identifier: MIT
// The basics of a small DirectML program for tests: a device, a queue, buffers, and access to their bytes. Like a
// client, it uses only the public headers.
#pragma once

#include <gtest/gtest.h>

// clang-format off
#include <wsl/winadapter.h>
#include <wsl/wrladapter.h>
#include <directx/d3d12.h>
#include <directx/d3d12sdklayers.h>
#include <directx/dxcore.h>
#include <dxguids/dxguids.h>
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on

#include <anydml/anydml.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace anydml::test {

using Microsoft::WRL::ComPtr;

inline constexpr HRESULT kUnsupported = static_cast<HRESULT>(0x887A0004);    // DXGI_ERROR_UNSUPPORTED
inline constexpr HRESULT kDeviceRemoved = static_cast<HRESULT>(0x887A0005);  // DXGI_ERROR_DEVICE_REMOVED
inline constexpr HRESULT kNotFound = static_cast<HRESULT>(0x887A0002);       // DXGI_ERROR_NOT_FOUND
inline constexpr HRESULT kMoreData = static_cast<HRESULT>(0x887A0003);       // DXGI_ERROR_MORE_DATA

inline D3D12_RESOURCE_DESC buffer_desc(std::uint64_t bytes, D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_NONE) {
  D3D12_RESOURCE_DESC desc{};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = bytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = flags;
  return desc;
}

inline D3D12_HEAP_PROPERTIES heap_properties(D3D12_HEAP_TYPE type) {
  D3D12_HEAP_PROPERTIES properties{};
  properties.Type = type;
  if (type == D3D12_HEAP_TYPE_CUSTOM) {
    properties.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE;
    properties.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
  }
  return properties;
}

// Whether every device of this process has the debug layer, which changes what devices offer and print.
inline bool debug_layer_is_forced_on() {
  const char* setting = std::getenv("ANYDML_DEBUG");
  return setting != nullptr && *setting != '\0' && *setting != '0';
}

inline ComPtr<ID3D12Device> create_d3d12_device() {
  ComPtr<ID3D12Device> device;
  EXPECT_EQ(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)), S_OK) << anydml_last_error();
  return device;
}

inline ComPtr<ID3D12Resource> create_buffer(ID3D12Device* device, std::uint64_t bytes,
                                            D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT) {
  const bool upload = type == D3D12_HEAP_TYPE_UPLOAD;
  const bool readback = type == D3D12_HEAP_TYPE_READBACK;
  const auto properties = heap_properties(type);
  const auto desc =
      buffer_desc(bytes, upload || readback ? D3D12_RESOURCE_FLAG_NONE : D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                            upload     ? D3D12_RESOURCE_STATE_GENERIC_READ
                                            : readback ? D3D12_RESOURCE_STATE_COPY_DEST
                                                       : D3D12_RESOURCE_STATE_COMMON,
                                            nullptr, IID_PPV_ARGS(&buffer)),
            S_OK)
      << anydml_last_error();
  return buffer;
}

inline ComPtr<ID3D12DescriptorHeap> create_heap(ID3D12Device* device, UINT count, bool visible = true) {
  D3D12_DESCRIPTOR_HEAP_DESC desc{};
  desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  desc.NumDescriptors = count;
  desc.Flags = visible ? D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE : D3D12_DESCRIPTOR_HEAP_FLAG_NONE;
  ComPtr<ID3D12DescriptorHeap> heap;
  EXPECT_EQ(device->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&heap)), S_OK);
  return heap;
}

inline void write_bytes(ID3D12Resource* buffer, const void* bytes, std::size_t count, std::size_t offset = 0) {
  void* mapped = nullptr;
  ASSERT_EQ(buffer->Map(0, nullptr, &mapped), S_OK) << anydml_last_error();
  std::memcpy(static_cast<char*>(mapped) + offset, bytes, count);
  buffer->Unmap(0, nullptr);
}

inline std::vector<std::uint8_t> read_bytes(ID3D12Resource* buffer) {
  std::vector<std::uint8_t> bytes(buffer->GetDesc().Width);
  void* mapped = nullptr;
  EXPECT_EQ(buffer->Map(0, nullptr, &mapped), S_OK) << anydml_last_error();
  if (mapped != nullptr) {
    std::memcpy(bytes.data(), mapped, bytes.size());
    buffer->Unmap(0, nullptr);
  }
  return bytes;
}

// Dispatches after the barrier may use memory that earlier dispatches wrote.
inline void uav_barrier(ID3D12GraphicsCommandList* list) {
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  list->ResourceBarrier(1, &barrier);
}

inline void transition(ID3D12GraphicsCommandList* list, ID3D12Resource* buffer, D3D12_RESOURCE_STATES before,
                       D3D12_RESOURCE_STATES after) {
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition = {buffer, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, before, after};
  list->ResourceBarrier(1, &barrier);
}

// A queue with a list, and a fence for its submissions.
struct Queue {
  explicit Queue(ID3D12Device* of_device, D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT)
      : device(of_device) {
    D3D12_COMMAND_QUEUE_DESC desc{};
    desc.Type = type;
    EXPECT_EQ(device->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)), S_OK);
    EXPECT_EQ(device->CreateCommandAllocator(type, IID_PPV_ARGS(&allocator)), S_OK);
    EXPECT_EQ(device->CreateCommandList(0, type, allocator.Get(), nullptr, IID_PPV_ARGS(&list)), S_OK);
    EXPECT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  }

  void submit() {
    EXPECT_EQ(list->Close(), S_OK) << anydml_last_error();
    execute();
  }
  void execute() {
    ID3D12CommandList* lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);
    EXPECT_EQ(queue->Signal(fence.Get(), ++submitted), S_OK) << anydml_last_error();
  }
  void wait() { EXPECT_EQ(fence->SetEventOnCompletion(submitted, nullptr), S_OK) << anydml_last_error(); }
  void reopen() {
    EXPECT_EQ(allocator->Reset(), S_OK);
    EXPECT_EQ(list->Reset(allocator.Get(), nullptr), S_OK) << anydml_last_error();
  }
  // Closes and runs the list, waits, and reopens the list.
  void finish() {
    submit();
    wait();
    reopen();
  }

  ComPtr<ID3D12Device> device;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  std::uint64_t submitted = 0;
};

// Copies into a DEFAULT buffer and out of it, through the queue.
inline void upload(Queue& queue, ID3D12Resource* to, const void* bytes, std::size_t count, std::uint64_t offset = 0) {
  const auto staging = create_buffer(queue.device.Get(), count, D3D12_HEAP_TYPE_UPLOAD);
  write_bytes(staging.Get(), bytes, count);
  queue.list->CopyBufferRegion(to, offset, staging.Get(), 0, count);
  queue.finish();
}

inline std::vector<std::uint8_t> download(Queue& queue, ID3D12Resource* from) {
  const auto staging = create_buffer(queue.device.Get(), from->GetDesc().Width, D3D12_HEAP_TYPE_READBACK);
  queue.list->CopyResource(staging.Get(), from);
  queue.finish();
  return read_bytes(staging.Get());
}

template <class T>
std::vector<T> download_as(Queue& queue, ID3D12Resource* from) {
  const auto bytes = download(queue, from);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// A tensor description that owns its arrays.
struct Tensor {
  Tensor(DML_TENSOR_DATA_TYPE type, std::vector<UINT> of_sizes, std::vector<UINT> with_strides = {},
         DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE)
      : sizes(std::move(of_sizes)), strides(std::move(with_strides)) {
    buffer.DataType = type;
    buffer.Flags = flags;
    buffer.DimensionCount = static_cast<UINT>(sizes.size());
    buffer.TotalTensorSizeInBytes = implied_bytes();
    point();
  }
  Tensor(const Tensor& other) : sizes(other.sizes), strides(other.strides), buffer(other.buffer) { point(); }
  Tensor& operator=(const Tensor&) = delete;

  [[nodiscard]] std::uint64_t implied_bytes() const {
    std::uint64_t last = 0;
    std::uint64_t packed = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      last += (sizes[i] - std::uint64_t{1}) * (strides.empty() ? packed : strides[i]);
      packed *= sizes[i];
    }
    const bool four_bits =
        buffer.DataType == DML_TENSOR_DATA_TYPE_UINT4 || buffer.DataType == DML_TENSOR_DATA_TYPE_INT4;
    return ((four_bits ? last / 2 + 1 : (last + 1) * element_bytes()) + 3) & ~std::uint64_t{3};
  }
  [[nodiscard]] std::uint64_t element_bytes() const {
    switch (buffer.DataType) {
      case DML_TENSOR_DATA_TYPE_FLOAT64:
      case DML_TENSOR_DATA_TYPE_UINT64:
      case DML_TENSOR_DATA_TYPE_INT64:
        return 8;
      case DML_TENSOR_DATA_TYPE_FLOAT16:
      case DML_TENSOR_DATA_TYPE_UINT16:
      case DML_TENSOR_DATA_TYPE_INT16:
        return 2;
      case DML_TENSOR_DATA_TYPE_UINT8:
      case DML_TENSOR_DATA_TYPE_INT8:
        return 1;
      default:
        return 4;
    }
  }
  void point() {
    buffer.Sizes = sizes.data();
    buffer.Strides = strides.empty() ? nullptr : strides.data();
    desc = {DML_TENSOR_TYPE_BUFFER, &buffer};
  }

  std::vector<UINT> sizes;
  std::vector<UINT> strides;
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC desc{};
};

// A device with everything needed to run operators with two inputs.
struct Dml {
  explicit Dml(DML_CREATE_DEVICE_FLAGS flags = DML_CREATE_DEVICE_FLAG_NONE,
               D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT)
      : d3d12(create_d3d12_device()), queue(d3d12.Get(), type) {
    EXPECT_EQ(DMLCreateDevice(d3d12.Get(), flags, IID_PPV_ARGS(&device)), S_OK) << anydml_last_error();
    EXPECT_EQ(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), S_OK);
  }

  // Creates its own queue and recorder on a shared device.
  Dml(ID3D12Device* shared_d3d12, IDMLDevice* shared) : d3d12(shared_d3d12), queue(shared_d3d12), device(shared) {
    EXPECT_EQ(device->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), S_OK);
  }

  HRESULT create_operator(DML_OPERATOR_TYPE type, const void* desc, ComPtr<IDMLOperator>& op) const {
    const DML_OPERATOR_DESC described{type, desc};
    return device->CreateOperator(&described, IID_PPV_ARGS(&op));
  }

  [[nodiscard]] bool supports(int type) const {
    const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{static_cast<DML_TENSOR_DATA_TYPE>(type)};
    DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT data{};
    EXPECT_EQ(
        device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof(query), &query, sizeof(data), &data),
        S_OK);
    return data.IsSupported != FALSE;
  }

  // Creates MODULUS_FLOOR by default. The struct is the same for every operator with two inputs.
  ComPtr<IDMLOperator> binary(const Tensor& a, const Tensor& b, const Tensor& out,
                              DML_OPERATOR_TYPE type = DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR) const {
    const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC desc{&a.desc, &b.desc, &out.desc};
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(create_operator(type, &desc, op), S_OK) << anydml_last_error();
    return op;
  }

  ComPtr<IDMLCompiledOperator> compile(IDMLOperator* op, DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE) const {
    ComPtr<IDMLCompiledOperator> compiled;
    EXPECT_EQ(device->CompileOperator(op, flags, IID_PPV_ARGS(&compiled)), S_OK) << anydml_last_error();
    return compiled;
  }

  ComPtr<IDMLBindingTable> table(IDMLDispatchable* dispatchable, ID3D12DescriptorHeap* heap, UINT first = 0) const {
    const UINT step = d3d12->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    DML_BINDING_TABLE_DESC desc{};
    desc.Dispatchable = dispatchable;
    desc.SizeInDescriptors = dispatchable->GetBindingProperties().RequiredDescriptorCount;
    if (heap != nullptr) {
      desc.CPUDescriptorHandle.ptr = heap->GetCPUDescriptorHandleForHeapStart().ptr + first * step;
      desc.GPUDescriptorHandle.ptr = heap->GetGPUDescriptorHandleForHeapStart().ptr + first * step;
    }
    ComPtr<IDMLBindingTable> result;
    EXPECT_EQ(device->CreateBindingTable(&desc, IID_PPV_ARGS(&result)), S_OK) << anydml_last_error();
    return result;
  }

  // Initializes an operator that owns no tensors.
  void initialize(IDMLCompiledOperator* compiled) {
    ComPtr<IDMLOperatorInitializer> initializer;
    IDMLCompiledOperator* targets[] = {compiled};
    EXPECT_EQ(device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
    const auto empty = table(initializer.Get(), nullptr);
    recorder->RecordDispatch(queue.list.Get(), initializer.Get(), empty.Get());
    queue.finish();
  }

  ComPtr<ID3D12Device> d3d12;
  Queue queue;
  ComPtr<IDMLDevice> device;
  ComPtr<IDMLCommandRecorder> recorder;
};

inline DML_BINDING_DESC bind(const DML_BUFFER_BINDING& buffer) { return {DML_BINDING_TYPE_BUFFER, &buffer}; }

inline void bind_inputs(IDMLBindingTable* table, const std::vector<DML_BUFFER_BINDING>& buffers) {
  std::vector<DML_BINDING_DESC> descs;
  for (const auto& buffer : buffers) {
    descs.push_back(bind(buffer));
  }
  table->BindInputs(static_cast<UINT>(descs.size()), descs.data());
}

inline void bind_output(IDMLBindingTable* table, const DML_BUFFER_BINDING& buffer) {
  const DML_BINDING_DESC desc = bind(buffer);
  table->BindOutputs(1, &desc);
}

}  // namespace anydml::test
