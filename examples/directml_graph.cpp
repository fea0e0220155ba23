// SPDX-License-Identifier: MIT
// A DirectML program with a graph: y = relu(x + bias), then each row of y divided by its sum. The bias is OWNED_BY_DML:
// it is bound once, at initialization. Four nodes run as three steps; ANYDML_LOG=graph shows them.
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

static ComPtr<IDMLOperator> create_operator(IDMLDevice* dml, DML_OPERATOR_TYPE type, const void* of_type) {
  const DML_OPERATOR_DESC desc = {type, of_type};
  ComPtr<IDMLOperator> op;
  check(dml->CreateOperator(&desc, IID_PPV_ARGS(&op)), "CreateOperator");
  return op;
}

int main() {
  ComPtr<ID3D12Device> d3d12;
  check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&d3d12)), "D3D12CreateDevice");
  ComPtr<IDMLDevice1> dml;  // for CompileGraph
  check(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&dml)), "DMLCreateDevice");

  // The tensors. Strides of 0 repeat the bias and the sums.
  const UINT sizes[] = {1, 1, 2, 3};
  const UINT column_sizes[] = {1, 1, 2, 1};
  const UINT row_strides[] = {0, 0, 0, 1};
  const UINT column_strides[] = {0, 0, 1, 0};
  const auto type = DML_TENSOR_DATA_TYPE_FLOAT32;
  DML_BUFFER_TENSOR_DESC whole = {type, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 24, 0};
  DML_BUFFER_TENSOR_DESC bias = {type, DML_TENSOR_FLAG_OWNED_BY_DML, 4, sizes, row_strides, 12, 0};
  DML_BUFFER_TENSOR_DESC sums = {type, DML_TENSOR_FLAG_NONE, 4, column_sizes, nullptr, 8, 0};
  DML_BUFFER_TENSOR_DESC spread = {type, DML_TENSOR_FLAG_NONE, 4, sizes, column_strides, 8, 0};
  const DML_TENSOR_DESC whole_desc = {DML_TENSOR_TYPE_BUFFER, &whole};
  const DML_TENSOR_DESC bias_desc = {DML_TENSOR_TYPE_BUFFER, &bias};
  const DML_TENSOR_DESC sums_desc = {DML_TENSOR_TYPE_BUFFER, &sums};
  const DML_TENSOR_DESC spread_desc = {DML_TENSOR_TYPE_BUFFER, &spread};

  // The nodes. The graph keeps what it needs from the operators, so they may be released after the graph is compiled.
  const UINT last_axis = 3;
  const DML_ELEMENT_WISE_ADD_OPERATOR_DESC add = {&whole_desc, &bias_desc, &whole_desc};
  const DML_ACTIVATION_RELU_OPERATOR_DESC relu = {&whole_desc, &whole_desc};
  const DML_REDUCE_OPERATOR_DESC reduce = {DML_REDUCE_FUNCTION_SUM, &whole_desc, &sums_desc, 1, &last_axis};
  const DML_ELEMENT_WISE_DIVIDE_OPERATOR_DESC divide = {&whole_desc, &spread_desc, &whole_desc};
  const ComPtr<IDMLOperator> operators[] = {create_operator(dml.Get(), DML_OPERATOR_ELEMENT_WISE_ADD, &add),
                                            create_operator(dml.Get(), DML_OPERATOR_ACTIVATION_RELU, &relu),
                                            create_operator(dml.Get(), DML_OPERATOR_REDUCE, &reduce),
                                            create_operator(dml.Get(), DML_OPERATOR_ELEMENT_WISE_DIVIDE, &divide)};
  const DML_OPERATOR_GRAPH_NODE_DESC node_descs[] = {{operators[0].Get(), "shift"},
                                                     {operators[1].Get(), "cut"},
                                                     {operators[2].Get(), "sums"},
                                                     {operators[3].Get(), "result"}};
  DML_GRAPH_NODE_DESC nodes[4];
  for (int i = 0; i < 4; ++i) {
    nodes[i] = {DML_GRAPH_NODE_TYPE_OPERATOR, &node_descs[i]};
  }

  // The edges: from graph inputs, between nodes (the value of "cut" is read twice), to graph outputs.
  const DML_INPUT_GRAPH_EDGE_DESC x_edge = {0, 0, 0, "x"};
  const DML_INPUT_GRAPH_EDGE_DESC bias_edge = {1, 0, 1, "bias"};
  const DML_INTERMEDIATE_GRAPH_EDGE_DESC shifted = {0, 0, 1, 0, nullptr};
  const DML_INTERMEDIATE_GRAPH_EDGE_DESC to_sums = {1, 0, 2, 0, nullptr};
  const DML_INTERMEDIATE_GRAPH_EDGE_DESC dividend = {1, 0, 3, 0, nullptr};
  const DML_INTERMEDIATE_GRAPH_EDGE_DESC divisor = {2, 0, 3, 1, nullptr};
  const DML_OUTPUT_GRAPH_EDGE_DESC result = {3, 0, 0, "result"};
  const DML_GRAPH_EDGE_DESC inputs[] = {{DML_GRAPH_EDGE_TYPE_INPUT, &x_edge}, {DML_GRAPH_EDGE_TYPE_INPUT, &bias_edge}};
  const DML_GRAPH_EDGE_DESC inner[] = {{DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &shifted},
                                       {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &to_sums},
                                       {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &dividend},
                                       {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &divisor}};
  const DML_GRAPH_EDGE_DESC outputs[] = {{DML_GRAPH_EDGE_TYPE_OUTPUT, &result}};
  const DML_GRAPH_DESC graph = {2, 1, 4, nodes, 2, inputs, 1, outputs, 4, inner};
  ComPtr<IDMLCompiledOperator> compiled;
  check(dml->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)), "CompileGraph");

  // From here on the graph is used like a compiled operator. These are the resources that it needs in
  // addition to its tensors:
  const DML_BINDING_PROPERTIES needs = compiled->GetBindingProperties();
  IDMLCompiledOperator* const targets[] = {compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  check(dml->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), "CreateOperatorInitializer");
  const DML_BINDING_PROPERTIES first_needs = initializer->GetBindingProperties();
  const float x_values[] = {1, 2, 3, -4, 5, 0};
  const float bias_values[] = {1, 0, -1};
  ComPtr<ID3D12Resource> x = create_buffer(d3d12.Get(), 24, x_values);
  ComPtr<ID3D12Resource> bias_buffer = create_buffer(d3d12.Get(), 12, bias_values);
  ComPtr<ID3D12Resource> out = create_buffer(d3d12.Get(), 24);
  ComPtr<ID3D12Resource> persistent = create_buffer(d3d12.Get(), needs.PersistentResourceSize + 256);
  ComPtr<ID3D12Resource> temporary = create_buffer(d3d12.Get(), needs.TemporaryResourceSize + 256);

  D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
  heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  heap_desc.NumDescriptors = first_needs.RequiredDescriptorCount + needs.RequiredDescriptorCount;
  heap_desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
  ComPtr<ID3D12DescriptorHeap> heap;
  check(d3d12->CreateDescriptorHeap(&heap_desc, IID_PPV_ARGS(&heap)), "CreateDescriptorHeap");
  D3D12_CPU_DESCRIPTOR_HANDLE cpu = heap->GetCPUDescriptorHandleForHeapStart();
  D3D12_GPU_DESCRIPTOR_HANDLE gpu = heap->GetGPUDescriptorHandleForHeapStart();

  // The initializer reads the bias and fills the persistent resource, which is its output. (This graph's initialization
  // needs no temporary memory: first_needs.TemporaryResourceSize is 0.)
  DML_BINDING_TABLE_DESC table_desc = {initializer.Get(), cpu, gpu, first_needs.RequiredDescriptorCount};
  ComPtr<IDMLBindingTable> first_table;
  check(dml->CreateBindingTable(&table_desc, IID_PPV_ARGS(&first_table)), "CreateBindingTable");
  const DML_BUFFER_BINDING owned[] = {{nullptr, 0, 0}, {bias_buffer.Get(), 0, 12}};
  const DML_BUFFER_ARRAY_BINDING owned_array = {2, owned};
  const DML_BINDING_DESC owned_desc = {DML_BINDING_TYPE_BUFFER_ARRAY, &owned_array};
  first_table->BindInputs(1, &owned_desc);
  const DML_BUFFER_BINDING kept = {persistent.Get(), 0, needs.PersistentResourceSize};
  const DML_BINDING_DESC kept_desc = {DML_BINDING_TYPE_BUFFER, &kept};
  first_table->BindOutputs(1, &kept_desc);

  const UINT step = d3d12->GetDescriptorHandleIncrementSize(heap_desc.Type) * first_needs.RequiredDescriptorCount;
  cpu.ptr += step;
  gpu.ptr += step;
  table_desc = {compiled.Get(), cpu, gpu, needs.RequiredDescriptorCount};
  ComPtr<IDMLBindingTable> table;
  check(dml->CreateBindingTable(&table_desc, IID_PPV_ARGS(&table)), "CreateBindingTable");
  const DML_BUFFER_BINDING x_binding = {x.Get(), 0, 24};
  const DML_BUFFER_BINDING out_binding = {out.Get(), 0, 24};
  const DML_BUFFER_BINDING scratch = {temporary.Get(), 0, needs.TemporaryResourceSize};
  const DML_BINDING_DESC input_descs[] = {{DML_BINDING_TYPE_BUFFER, &x_binding}, {DML_BINDING_TYPE_NONE, nullptr}};
  const DML_BINDING_DESC output_desc = {DML_BINDING_TYPE_BUFFER, &out_binding};
  const DML_BINDING_DESC scratch_desc = {DML_BINDING_TYPE_BUFFER, &scratch};
  table->BindInputs(2, input_descs);
  table->BindOutputs(1, &output_desc);
  table->BindPersistentResource(&kept_desc);
  if (needs.TemporaryResourceSize != 0) {
    table->BindTemporaryResource(&scratch_desc);
  }

  // Initialization and execution go into one list, with a barrier between them, since execution reads what
  // initialization writes.
  D3D12_COMMAND_QUEUE_DESC queue_desc = {};
  queue_desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ComPtr<ID3D12Fence> fence;
  ComPtr<IDMLCommandRecorder> recorder;
  check(d3d12->CreateCommandQueue(&queue_desc, IID_PPV_ARGS(&queue)), "CreateCommandQueue");
  check(d3d12->CreateCommandAllocator(queue_desc.Type, IID_PPV_ARGS(&allocator)), "CreateCommandAllocator");
  check(d3d12->CreateCommandList(0, queue_desc.Type, allocator.Get(), nullptr, IID_PPV_ARGS(&list)),
        "CreateCommandList");
  check(d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), "CreateFence");
  check(dml->CreateCommandRecorder(IID_PPV_ARGS(&recorder)), "CreateCommandRecorder");
  ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
  list->SetDescriptorHeaps(1, heaps);
  recorder->RecordDispatch(list.Get(), initializer.Get(), first_table.Get());
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  list->ResourceBarrier(1, &barrier);
  recorder->RecordDispatch(list.Get(), compiled.Get(), table.Get());
  check(dml->GetDeviceRemovedReason(), "binding and recording");
  check(list->Close(), "Close");
  ID3D12CommandList* const lists[] = {list.Get()};
  queue->ExecuteCommandLists(1, lists);
  check(queue->Signal(fence.Get(), 1), "Signal");
  check(fence->SetEventOnCompletion(1, nullptr), "SetEventOnCompletion");  // null: waits

  void* mapped = nullptr;
  check(out->Map(0, nullptr, &mapped), "Map");
  const float* y = static_cast<const float*>(mapped);
  for (int row = 0; row < 2; ++row) {
    std::printf("%g %g %g\n", static_cast<double>(y[row * 3]), static_cast<double>(y[row * 3 + 1]),
                static_cast<double>(y[row * 3 + 2]));
  }
  out->Unmap(0, nullptr);
}
