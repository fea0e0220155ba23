// SPDX-License-Identifier: MIT
// A complete DirectML program: both modulus operators over four numbers, from the device to the printed result.
// clang-format off
#include <wsl/winadapter.h>
#include <wsl/wrladapter.h>
#include <directx/d3d12.h>
#include <dxguids/dxguids.h>
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

using Microsoft::WRL::ComPtr;

static void check(HRESULT result, const char* what) {
  if (FAILED(result)) {
    std::fprintf(stderr, "%s failed: 0x%08x\n", what, static_cast<unsigned>(result));
    std::exit(1);
  }
}

// On a device with unified memory, both DirectML and the CPU can use a CUSTOM heap, so no copies are needed.
static ComPtr<ID3D12Resource> create_buffer(ID3D12Device* device, UINT64 bytes, const void* contents = nullptr) {
  D3D12_HEAP_PROPERTIES heap = device->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_READBACK);
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = bytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  ComPtr<ID3D12Resource> buffer;
  check(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                        IID_PPV_ARGS(&buffer)),
        "CreateCommittedResource");
  if (contents != nullptr) {
    void* mapped = nullptr;
    check(buffer->Map(0, nullptr, &mapped), "Map");
    std::memcpy(mapped, contents, bytes);
    buffer->Unmap(0, nullptr);
  }
  return buffer;
}

int main() {
  ComPtr<ID3D12Device> d3d12;
  check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), "D3D12CreateDevice");
  ComPtr<IDMLDevice> dml;
  check(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), "DMLCreateDevice");

  D3D12_COMMAND_QUEUE_DESC queue_desc = {};
  queue_desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  check(d3d12->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&queue)), "CreateCommandQueue");
  check(d3d12->CreateCommandAllocator(queue_desc.Type, IID_PPV_ARGS(&allocator)), "CreateCommandAllocator");
  check(d3d12->CreateCommandList(0, queue_desc.Type, allocator.Get(), nullptr, IID_PPV_ARGS(&list)),
        "CreateCommandList");
  check(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");

  // Tensors of 1x1x1x4 INT32. The divisor is a single element, repeated by a stride of 0.
  const INT dividends[] = {7, -7, 8, -8};
  const INT divisor = 3;
  const UINT sizes[] = {1, 1, 1, 4};
  const UINT repeated[] = {0, 0, 0, 0};
  DML_BUFFER_TENSOR_DESC whole = {DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 16, 0};
  DML_BUFFER_TENSOR_DESC single = {DML_TENSOR_DATA_TYPE_INT32, DML_TENSOR_FLAG_NONE, 4, sizes, repeated, 4, 0};
  DML_TENSOR_DESC a_desc = {DML_TENSOR_TYPE_BUFFER, &whole};
  DML_TENSOR_DESC b_desc = {DML_TENSOR_TYPE_BUFFER, &single};

  ComPtr<ID3D12Resource> a = create_buffer(d3d12.Get(), 16, dividends);
  ComPtr<ID3D12Resource> b = create_buffer(d3d12.Get(), 4, &divisor);
  ComPtr<ID3D12Resource> out = create_buffer(d3d12.Get(), 16);
  ComPtr<IDMLCommandRecorder> recorder;
  check(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), "CreateCommandRecorder");

  UINT64 submitted = 0;
  for (DML_OPERATOR_TYPE type : {DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE}) {
    // Both operators' descs consist of the same three tensors.
    DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC modulus = {&a_desc, &b_desc, &a_desc};
    DML_OPERATOR_DESC desc = {type, &modulus};
    ComPtr<IDMLOperator> op;
    ComPtr<IDMLCompiledOperator> compiled;
    check(dml->CreateOperator(&desc, IID_PPV_ARGS(&op)), "CreateOperator");
    check(dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)), "CompileOperator");

    // Initialize it, then run it. This operator owns no tensors, so its initializer needs no bindings.
    IDMLCompiledOperator* targets[] = {compiled.Get()};
    ComPtr<IDMLOperatorInitializer> initializer;
    check(dml->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), "CreateOperatorInitializer");
    DML_BINDING_TABLE_DESC table_desc = {};
    table_desc.Dispatchable = initializer.Get();
    ComPtr<IDMLBindingTable> table;
    check(dml->CreateBindingTable(&table_desc, IID_PPV_ARGS(&table)), "CreateBindingTable");
    recorder->RecordDispatch(list.Get(), initializer.Get(), table.Get());

    D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
    heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    heap_desc.NumDescriptors = compiled->GetBindingProperties().RequiredDescriptorCount;
    heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    ComPtr<ID3D12DescriptorHeap> heap;
    check(d3d12->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)), "CreateDescriptorHeap");
    table_desc = {compiled.Get(), heap->GetCPUDescriptorHandleForHeapStart(),
                  heap->GetGPUDescriptorHandleForHeapStart(), heap_desc.NumDescriptors};
    check(table->Reset(&table_desc), "Reset");
    DML_BUFFER_BINDING a_binding = {a.Get(), 0, 16};
    DML_BUFFER_BINDING b_binding = {b.Get(), 0, 4};
    DML_BUFFER_BINDING out_binding = {out.Get(), 0, 16};
    DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &a_binding}, {DML_BINDING_TYPE_BUFFER, &b_binding}};
    DML_BINDING_DESC output = {DML_BINDING_TYPE_BUFFER, &out_binding};
    table->BindInputs(2, inputs);
    table->BindOutputs(1, &output);
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    list->SetDescriptorHeaps(1, heaps);
    recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
    check(dml->GetDeviceRemovedReason(), "binding and recording");

    check(list->Close(), "Close");
    ID3D12CommandList* lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);
    check(queue->Signal(fence.Get(), ++submitted), "Signal");
    check(fence->SetEventOnCompletion(submitted, nullptr), "SetEventOnCompletion");  // null: waits

    void* mapped = nullptr;
    check(out->Map(0, nullptr, &mapped), "Map");
    const INT* results = static_cast<const INT*>(mapped);
    std::printf("%-8s", type == DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR ? "floor" : "truncate");
    for (int i = 0; i < 4; ++i) {
      std::printf("  %2d %% %d = %2d", dividends[i], divisor, results[i]);
    }
    std::printf("\n");
    out->Unmap(0, nullptr);
    check(allocator->Reset(), "Reset");
    check(list->Reset(allocator.Get(), nullptr), "Reset");
  }
}
