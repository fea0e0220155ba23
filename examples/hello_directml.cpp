// SPDX-License-Identifier: MIT
// The final program of docs/porting.md: a small DirectML program for Windows, ported to Linux. It copies a 1x2x3x4
// FLOAT32 tensor through ELEMENT_WISE_IDENTITY, with an upload heap, a default heap and a readback heap.
// clang-format off
#define INITGUID                            // DXCore's attributes are defined here; or link DirectX-Guids
#include <wsl/winadapter.h>                 // instead of windows.h
#include <wsl/wrladapter.h>                 // instead of wrl/client.h
#include <directx/d3d12.h>
#include <directx/d3dx12.h>
#include <directx/dxcore.h>                 // instead of dxgi1_6.h
#include <dxguids/dxguids.h>
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>

using Microsoft::WRL::ComPtr;

// Instead of WIL's THROW_IF_FAILED: prints which call failed and where.
#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    if (const HRESULT result = (call); FAILED(result)) {                                                     \
      std::fprintf(stderr, "%s:%d: %s: 0x%08X\n", __FILE__, __LINE__, #call, static_cast<unsigned>(result)); \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (false)

// Instead of DXGI: the first DXCore adapter that supports D3D12.
static ComPtr<IDXCoreAdapter> first_adapter() {
  ComPtr<IDXCoreAdapterFactory> factory;
  CHECK(DXCoreCreateAdapterFactory(IID_PPV_ARGS(&factory)));
  ComPtr<IDXCoreAdapterList> list;
  const GUID compute = DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE;
  CHECK(factory->CreateAdapterList(1, &compute, IID_PPV_ARGS(&list)));
  ComPtr<IDXCoreAdapter> adapter;
  CHECK(list->GetAdapter(0, IID_PPV_ARGS(&adapter)));
  char description[256] = {};
  CHECK(adapter->GetProperty(DXCoreAdapterProperty::DriverDescription, sizeof(description), description));
  std::printf("adapter: %s\n", description);
  return adapter;
}

// Instead of DirectMLX's DMLCalcBufferTensorSize: the bytes of a packed tensor, a multiple of four.
template <std::size_t kRank>
static UINT64 packed_bytes(const UINT (&sizes)[kRank], UINT64 element) {
  const UINT64 count = std::accumulate(std::begin(sizes), std::end(sizes), UINT64{1}, std::multiplies<UINT64>());
  return (count * element + 3) & ~UINT64{3};
}

static ComPtr<ID3D12Resource> create_buffer(ID3D12Device* device, D3D12_HEAP_TYPE type, UINT64 bytes,
                                            D3D12_RESOURCE_FLAGS flags, D3D12_RESOURCE_STATES state) {
  // A named variable: g++ and clang do not allow taking the address of a temporary, as in
  // &CD3DX12_HEAP_PROPERTIES(type).
  const CD3DX12_HEAP_PROPERTIES heap(type);
  const CD3DX12_RESOURCE_DESC desc = CD3DX12_RESOURCE_DESC::Buffer(bytes, flags);
  ComPtr<ID3D12Resource> buffer;
  CHECK(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_PPV_ARGS(&buffer)));
  return buffer;
}

struct Queue {
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  UINT64 value = 0;

  // Instead of CreateEvent and WaitForSingleObject: an eventfd as the handle. With a null handle, the call itself would
  // wait.
  void run_and_wait() {
    CHECK(list->Close());
    ID3D12CommandList* const lists[] = {list.Get()};
    queue->ExecuteCommandLists(static_cast<UINT>(std::size(lists)), lists);  // instead of ARRAYSIZE
    CHECK(queue->Signal(fence.Get(), ++value));
    const int event = eventfd(0, EFD_CLOEXEC);
    CHECK(fence->SetEventOnCompletion(value, reinterpret_cast<HANDLE>(static_cast<intptr_t>(event))));
    pollfd waited = {event, POLLIN, 0};
    poll(&waited, 1, -1);
    close(event);
    CHECK(allocator->Reset());
    CHECK(list->Reset(allocator.Get(), nullptr));
  }
};

int main() {
  ComPtr<ID3D12Device> d3d12;
  CHECK(D3D12CreateDevice(first_adapter().Get(), D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)));
  ComPtr<IDMLDevice> dml;
  CHECK(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)));
  Queue work;
  D3D12_COMMAND_QUEUE_DESC queue_desc = {};
  queue_desc.Type = D3D12_COMMAND_LIST_TYPE_DIRECT;
  CHECK(d3d12->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&work.queue)));
  CHECK(d3d12->CreateCommandAllocator(queue_desc.Type, IID_PPV_ARGS(&work.allocator)));
  CHECK(d3d12->CreateCommandList(0, queue_desc.Type, work.allocator.Get(), nullptr, IID_PPV_ARGS(&work.list)));
  CHECK(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&work.fence)));
  CHECK(work.queue->SetName(L"the queue"));  // L"..." has four bytes per character here, as SetName expects

  const UINT sizes[] = {1, 2, 3, 4};
  const UINT64 bytes = packed_bytes(sizes, sizeof(float));
  const DML_BUFFER_TENSOR_DESC buffer_desc = {DML_TENSOR_DATA_TYPE_FLOAT32,
                                              DML_TENSOR_FLAG_NONE,
                                              static_cast<UINT>(std::size(sizes)),
                                              sizes,
                                              nullptr,
                                              bytes,
                                              0};
  const DML_TENSOR_DESC tensor = {DML_TENSOR_TYPE_BUFFER, &buffer_desc};
  const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity = {&tensor, &tensor, nullptr};
  const DML_OPERATOR_DESC operator_desc = {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity};
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  CHECK(dml->CreateOperator(&operator_desc, IID_PPV_ARGS(&op)));
  CHECK(dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)));

  // Descriptors for both dispatchables, then the initializer.
  IDMLCompiledOperator* const operators[] = {compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  CHECK(dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer)));
  const DML_BINDING_PROPERTIES first = initializer->GetBindingProperties();
  const DML_BINDING_PROPERTIES second = compiled->GetBindingProperties();
  D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
  heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  heap_desc.NumDescriptors = std::max(first.RequiredDescriptorCount, second.RequiredDescriptorCount);
  heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  ComPtr<ID3D12DescriptorHeap> heap;
  CHECK(d3d12->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)));
  ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
  DML_BINDING_TABLE_DESC table_desc = {initializer.Get(), heap->GetCPUDescriptorHandleForHeapStart(),
                                       heap->GetGPUDescriptorHandleForHeapStart(), first.RequiredDescriptorCount};
  ComPtr<IDMLBindingTable> table;
  CHECK(dml->CreateBindingTable(&table_desc, IID_PPV_ARGS(&table)));
  ComPtr<IDMLCommandRecorder> recorder;
  CHECK(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)));
  work.list->SetDescriptorHeaps(1, heaps);
  recorder->RecordDispatch(work.list.Get(), initializer.Get(), table.Get());
  work.run_and_wait();

  // Upload the input, run the operator, read back the output.
  const ComPtr<ID3D12Resource> up = create_buffer(d3d12.Get(), D3D12_HEAP_TYPE_UPLOAD, bytes, D3D12_RESOURCE_FLAG_NONE,
                                                  D3D12_RESOURCE_STATE_GENERIC_READ);
  const ComPtr<ID3D12Resource> down = create_buffer(d3d12.Get(), D3D12_HEAP_TYPE_READBACK, bytes,
                                                    D3D12_RESOURCE_FLAG_NONE, D3D12_RESOURCE_STATE_COPY_DEST);
  const ComPtr<ID3D12Resource> input =
      create_buffer(d3d12.Get(), D3D12_HEAP_TYPE_DEFAULT, bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                    D3D12_RESOURCE_STATE_COPY_DEST);
  const ComPtr<ID3D12Resource> output =
      create_buffer(d3d12.Get(), D3D12_HEAP_TYPE_DEFAULT, bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
                    D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  float numbers[24];
  std::iota(std::begin(numbers), std::end(numbers), 0.5F);
  void* mapped = nullptr;
  CHECK(up->Map(0, nullptr, &mapped));
  std::memcpy(mapped, numbers, sizeof(numbers));
  up->Unmap(0, nullptr);
  work.list->CopyBufferRegion(input.Get(), 0, up.Get(), 0, bytes);
  const CD3DX12_RESOURCE_BARRIER to_input = CD3DX12_RESOURCE_BARRIER::Transition(
      input.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  work.list->ResourceBarrier(1, &to_input);
  table_desc.Dispatchable = compiled.Get();
  table_desc.SizeInDescriptors = second.RequiredDescriptorCount;
  CHECK(table->Reset(&table_desc));
  const DML_BUFFER_BINDING input_buffer = {input.Get(), 0, bytes};
  const DML_BUFFER_BINDING output_buffer = {output.Get(), 0, bytes};
  const DML_BINDING_DESC input_binding = {DML_BINDING_TYPE_BUFFER, &input_buffer};
  const DML_BINDING_DESC output_binding = {DML_BINDING_TYPE_BUFFER, &output_buffer};
  table->BindInputs(1, &input_binding);
  table->BindOutputs(1, &output_binding);
  work.list->SetDescriptorHeaps(1, heaps);
  recorder->RecordDispatch(work.list.Get(), compiled.Get(), table.Get());
  CHECK(dml->GetDeviceRemovedReason());  // binding and recording return nothing, so errors appear here
  const CD3DX12_RESOURCE_BARRIER to_copy = CD3DX12_RESOURCE_BARRIER::Transition(
      output.Get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
  work.list->ResourceBarrier(1, &to_copy);
  work.list->CopyBufferRegion(down.Get(), 0, output.Get(), 0, bytes);
  work.run_and_wait();

  CHECK(down->Map(0, nullptr, &mapped));
  const bool same = std::memcmp(mapped, numbers, sizeof(numbers)) == 0;
  std::printf("%zu numbers: %s\n", std::size(numbers), same ? "the same" : "different");
  down->Unmap(0, nullptr);
  return same ? 0 : 1;
}
