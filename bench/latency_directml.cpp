// SPDX-License-Identifier: MIT
// Latency through the DirectML API, as a program of it has it: a list is recorded once and executed many times.
// clang-format off
#include <wsl/winadapter.h>
#include <wsl/wrladapter.h>
#include <directx/d3d12.h>
#include <dxguids/dxguids.h>
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on

#include <cstdint>
#include <cstring>

#include "latency.h"
#include "measure.h"

namespace anydml::bench {
namespace {

using Microsoft::WRL::ComPtr;

constexpr UINT kElements = 16;
constexpr UINT kBytes = kElements * sizeof(float);

void must(HRESULT result, const char* what) {
  if (FAILED(result)) {
    throw LatencyFailure{std::string(what) + " failed (ANYDML_LOG=error says why)"};
  }
}

ComPtr<ID3D12Resource> create_buffer(ID3D12Device* device, float first, float step) {
  const D3D12_HEAP_PROPERTIES heap = device->GetCustomHeapProperties(0, D3D12_HEAP_TYPE_READBACK);
  D3D12_RESOURCE_DESC desc{};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = kBytes;
  desc.Height = 1;
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  ComPtr<ID3D12Resource> buffer;
  must(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                       IID_PPV_ARGS(&buffer)),
       "CreateCommittedResource");
  float values[kElements];
  for (UINT i = 0; i < kElements; ++i) {
    values[i] = first + step * static_cast<float>(i);
  }
  void* mapped = nullptr;
  must(buffer->Map(0, nullptr, &mapped), "Map");
  std::memcpy(mapped, values, kBytes);
  buffer->Unmap(0, nullptr);
  return buffer;
}

// A device, a queue, and one modulus_floor of 16 elements with its bindings.
struct Program {
  ComPtr<ID3D12Device> d3d12;
  ComPtr<IDMLDevice> dml;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  ComPtr<IDMLCommandRecorder> recorder;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<IDMLBindingTable> table;
  ComPtr<ID3D12Resource> a, b, out;
  std::uint64_t submitted = 0;

  Program() {
    must(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), "D3D12CreateDevice");
    must(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), "DMLCreateDevice");
    D3D12_COMMAND_QUEUE_DESC queue_desc{};
    queue_desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    must(d3d12->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&queue)), "CreateCommandQueue");
    must(d3d12->CreateCommandAllocator(queue_desc.Type, IID_PPV_ARGS(&allocator)), "CreateCommandAllocator");
    must(d3d12->CreateCommandList(0, queue_desc.Type, allocator.Get(), nullptr, IID_PPV_ARGS(&list)),
         "CreateCommandList");
    must(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
    must(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), "CreateCommandRecorder");
    a = create_buffer(d3d12.Get(), -50, 7.5F);
    b = create_buffer(d3d12.Get(), -2.5F, 0.3F);
    out = create_buffer(d3d12.Get(), 0, 0);

    const UINT sizes[] = {1, 1, 1, kElements};
    const DML_BUFFER_TENSOR_DESC buffer{
        DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, kBytes, 0};
    const DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, &buffer};
    const DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC modulus{&tensor, &tensor, &tensor};
    const DML_OPERATOR_DESC desc{DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &modulus};
    ComPtr<IDMLOperator> op;
    must(dml->CreateOperator(&desc, IID_PPV_ARGS(&op)), "CreateOperator");
    must(dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)), "CompileOperator");

    IDMLCompiledOperator* targets[] = {compiled.Get()};
    ComPtr<IDMLOperatorInitializer> initializer;
    must(dml->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), "CreateOperatorInitializer");
    DML_BINDING_TABLE_DESC table_desc{};
    table_desc.Dispatchable = initializer.Get();
    must(dml->CreateBindingTable(&table_desc, IID_PPV_ARGS(&table)), "CreateBindingTable");
    recorder->RecordDispatch(list.Get(), initializer.Get(), table.Get());
    must(list->Close(), "Close");
    execute();
    wait();

    D3D12_DESCRIPTOR_HEAP_DESC heap_desc{};
    heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    heap_desc.NumDescriptors = compiled->GetBindingProperties().RequiredDescriptorCount;
    heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    must(d3d12->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)), "CreateDescriptorHeap");
    table_desc = {compiled.Get(), heap->GetCPUDescriptorHandleForHeapStart(),
                  heap->GetGPUDescriptorHandleForHeapStart(), heap_desc.NumDescriptors};
    must(table->Reset(&table_desc), "Reset");
    const DML_BUFFER_BINDING bindings[] = {{a.Get(), 0, kBytes}, {b.Get(), 0, kBytes}, {out.Get(), 0, kBytes}};
    const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &bindings[0]},
                                       {DML_BINDING_TYPE_BUFFER, &bindings[1]}};
    const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &bindings[2]};
    table->BindInputs(2, inputs);
    table->BindOutputs(1, &output);
  }

  void record(int dispatches) {
    must(allocator->Reset(), "Reset");
    must(list->Reset(allocator.Get(), nullptr), "Reset");
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    list->SetDescriptorHeaps(1, heaps);
    for (int i = 0; i < dispatches; ++i) {
      recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
    }
    must(list->Close(), "Close");
    must(dml->GetDeviceRemovedReason(), "binding and recording");
  }
  void execute() {
    ID3D12CommandList* lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);
    must(queue->Signal(fence.Get(), ++submitted), "Signal");
  }
  void wait() const { must(fence->SetEventOnCompletion(submitted, nullptr), "SetEventOnCompletion"); }
  void poll() const {
    while (fence->GetCompletedValue() < submitted) {
    }
  }
};

template <class Body>
Latency repeat(const char* name, const char* what, double seconds, int parts, Body body) {
  std::vector<double> samples;
  body();
  const double begin = seconds_now();
  do {
    const double before = seconds_now();
    body();
    samples.push_back((seconds_now() - before) / parts);
  } while (seconds_now() - begin < seconds);
  const Timing timing = summarise(samples);
  return {name, what, timing.median * 1e9, timing.min * 1e9};
}

}  // namespace

void measure_directml_latency(double seconds, std::vector<Latency>& to) {
  Program program;
  program.record(1);
  to.push_back(repeat("dispatch_wait", "one dispatch of 16 FLOAT32, ExecuteCommandLists to SetEventOnCompletion",
                      seconds, 1, [&] {
                        program.execute();
                        program.wait();
                      }));
  to.push_back(
      repeat("dispatch_poll", "one dispatch of 16 FLOAT32, ExecuteCommandLists to GetCompletedValue", seconds, 1, [&] {
        program.execute();
        program.poll();
      }));
  constexpr int kDispatches = 1000;
  to.push_back(repeat("record", "recording, a dispatch in a list of 1,000", seconds, kDispatches,
                      [&] { program.record(kDispatches); }));
  to.push_back(repeat("dispatch_of_1000", "executing, a dispatch in a list of 1,000, to SetEventOnCompletion", seconds,
                      kDispatches, [&] {
                        program.execute();
                        program.wait();
                      }));
}

}  // namespace anydml::bench
