// SPDX-License-Identifier: MIT
// Tests initializers, and tensors owned by DirectML.
#include "directml/graph_program.h"
#include "directml/modulus.h"

namespace anydml::test {
namespace {

TEST(Initializer, EmptyObjectsAreLegal) {
  Dml dml;
  ComPtr<IDMLOperatorInitializer> initializer;
  ASSERT_EQ(dml.device->CreateOperatorInitializer(0, nullptr, IID_PPV_ARGS(&initializer)), S_OK);
  EXPECT_EQ(initializer->GetBindingProperties().RequiredDescriptorCount, 0U);
  EXPECT_EQ(initializer->GetBindingProperties().PersistentResourceSize, 0U);
  ComPtr<IDMLBindingTable> table;
  ASSERT_EQ(dml.device->CreateBindingTable(nullptr, IID_PPV_ARGS(&table)), S_OK);
  // One client passes handles of -1, a size of 0 and no heap.
  DML_BINDING_TABLE_DESC desc{};
  desc.Dispatchable = initializer.Get();
  desc.CPUDescriptorHandle.ptr = static_cast<SIZE_T>(-1);
  desc.GPUDescriptorHandle.ptr = UINT64_MAX;
  ASSERT_EQ(table->Reset(&desc), S_OK) << anydml_last_error();
  dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), table.Get());
  dml.queue.finish();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
  // Compiled operators need at least one descriptor.
  Modulus modulus(dml);
  EXPECT_GE(modulus.compiled->GetBindingProperties().RequiredDescriptorCount, 1U);
}

TEST(Initializer, OwnedTensorsGoThroughItIntoThePersistentResource) {
  Dml dml;
  for (const auto heap_type : {D3D12_HEAP_TYPE_DEFAULT, D3D12_HEAP_TYPE_UPLOAD, D3D12_HEAP_TYPE_CUSTOM}) {
    Modulus modulus(dml, DML_EXECUTION_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML);
    const auto properties = modulus.compiled->GetBindingProperties();
    ASSERT_GE(properties.PersistentResourceSize, 16U);
    const auto persistent = create_buffer(dml.d3d12.Get(), properties.PersistentResourceSize);

    ComPtr<IDMLOperatorInitializer> initializer;
    ASSERT_EQ(dml.device->CreateOperatorInitializer(0, nullptr, IID_PPV_ARGS(&initializer)), S_OK);
    IDMLCompiledOperator* targets[] = {modulus.compiled.Get()};
    ASSERT_EQ(initializer->Reset(1, targets), S_OK);
    const auto table = dml.table(initializer.Get(), modulus.heap.Get(), 8);
    auto weights = create_buffer(dml.d3d12.Get(), 16, heap_type);
    const int divisors[] = {3, 3, -3, -3};
    if (heap_type == D3D12_HEAP_TYPE_DEFAULT) {
      upload(dml.queue, weights.Get(), divisors, sizeof(divisors));
    } else {
      write_bytes(weights.Get(), divisors, sizeof(divisors));
    }
    const DML_BUFFER_BINDING inputs[] = {{nullptr, 0, 0}, {weights.Get(), 0, 16}};
    const DML_BUFFER_ARRAY_BINDING array{2, inputs};
    const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    table->BindInputs(1, &input);
    const DML_BUFFER_BINDING persistent_binding{persistent.Get(), 0, properties.PersistentResourceSize};
    const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &persistent_binding};
    table->BindOutputs(1, &output);
    modulus.set_heap();
    dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), table.Get());
    dml.queue.finish();
    weights.Reset();  // the weights have already been copied
    EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();

    const DML_BUFFER_BINDING a{modulus.a_buffer.Get(), 0, 16};
    const DML_BINDING_DESC at_execution[] = {bind(a), {DML_BINDING_TYPE_NONE, nullptr}};
    modulus.table->BindInputs(2, at_execution);
    bind_output(modulus.table.Get(), {modulus.out_buffer.Get(), 0, 16});
    modulus.table->BindPersistentResource(&output);
    for (int again = 0; again < 2; ++again) {
      modulus.record();
      dml.queue.finish();
      EXPECT_EQ(modulus.result(), kFloorResult);
    }
    EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
  }
}

// One client initializes before every execution, possibly into a different persistent resource.
TEST(Initializer, AgainBeforeEveryExecution) {
  Dml dml;
  for (const auto flags : {DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML}) {
    Modulus modulus(dml, DML_EXECUTION_FLAG_NONE, flags);
    const bool owned = flags == DML_TENSOR_FLAG_OWNED_BY_DML;
    IDMLCompiledOperator* targets[] = {modulus.compiled.Get()};
    ComPtr<IDMLOperatorInitializer> initializer;
    ASSERT_EQ(dml.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
    for (int round = 0; round < 3; ++round) {
      const auto persistent = create_buffer(dml.d3d12.Get(), 1024);
      const DML_BUFFER_BINDING kept{persistent.Get(), 256, 512};
      const DML_BINDING_DESC kept_desc = bind(kept);
      const auto table = dml.table(initializer.Get(), modulus.heap.Get(), 8);
      const DML_BUFFER_BINDING a{modulus.a_buffer.Get(), 0, 16};
      const DML_BUFFER_BINDING b{modulus.b_buffer.Get(), 0, 16};
      DML_BINDING_DESC inputs[] = {bind(a), bind(b)};
      if (owned) {
        const DML_BUFFER_BINDING weights[] = {{nullptr, 0, 0}, b};
        const DML_BUFFER_ARRAY_BINDING array{2, weights};
        const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
        table->BindInputs(1, &input);
        table->BindOutputs(1, &kept_desc);
        modulus.table->BindPersistentResource(&kept_desc);
        inputs[1] = {DML_BINDING_TYPE_NONE, nullptr};
      }
      modulus.set_heap();
      dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), table.Get());
      modulus.table->BindInputs(2, inputs);
      bind_output(modulus.table.Get(), {modulus.out_buffer.Get(), 0, 16});
      uav_barrier(dml.queue.list.Get());
      modulus.record();
      dml.queue.finish();
      EXPECT_EQ(modulus.result(), kFloorResult);
      EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
    }
  }
}

// The persistent resource bound at execution may be a different resource over the same memory.
TEST(Initializer, ThePersistentResourceIsItsMemory) {
  Dml dml;
  Modulus modulus(dml, DML_EXECUTION_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML);
  D3D12_HEAP_DESC heap_desc{};
  heap_desc.SizeInBytes = 65536;
  heap_desc.Properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  heap_desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ComPtr<ID3D12Heap> memory;
  ASSERT_EQ(dml.d3d12->CreateHeap(&heap_desc, IID_PPV_ARGS(&memory)), S_OK);
  ComPtr<ID3D12Resource> placed[2];
  const auto desc = buffer_desc(1024, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  for (auto& one : placed) {
    ASSERT_EQ(dml.d3d12->CreatePlacedResource(memory.Get(), 0, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                              __uuidof(ID3D12Resource), reinterpret_cast<void**>(one.GetAddressOf())),
              S_OK);
  }
  IDMLCompiledOperator* targets[] = {modulus.compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  ASSERT_EQ(dml.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
  const auto table = dml.table(initializer.Get(), modulus.heap.Get(), 8);
  const DML_BUFFER_BINDING weights[] = {{nullptr, 0, 0}, {modulus.b_buffer.Get(), 0, 16}};
  const DML_BUFFER_ARRAY_BINDING array{2, weights};
  const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
  table->BindInputs(1, &input);
  const DML_BUFFER_BINDING first{placed[0].Get(), 0, 1024};
  const DML_BUFFER_BINDING second{placed[1].Get(), 0, 1024};
  const DML_BINDING_DESC first_desc = bind(first);
  const DML_BINDING_DESC second_desc = bind(second);
  table->BindOutputs(1, &first_desc);
  modulus.set_heap();
  dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), table.Get());
  const DML_BUFFER_BINDING a{modulus.a_buffer.Get(), 0, 16};
  const DML_BINDING_DESC inputs[] = {bind(a), {DML_BINDING_TYPE_NONE, nullptr}};
  modulus.table->BindInputs(2, inputs);
  bind_output(modulus.table.Get(), {modulus.out_buffer.Get(), 0, 16});
  modulus.table->BindPersistentResource(&second_desc);
  D3D12_RESOURCE_BARRIER barrier{};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
  barrier.Aliasing = {placed[0].Get(), placed[1].Get()};
  dml.queue.list->ResourceBarrier(1, &barrier);
  modulus.record();
  dml.queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
}

TEST(Initializer, SeveralOperatorsAtOnce) {
  Dml dml;
  Modulus plain(dml);
  Modulus owning(dml, DML_EXECUTION_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML);
  const UINT64 bytes = owning.compiled->GetBindingProperties().PersistentResourceSize;
  const auto persistent = create_buffer(dml.d3d12.Get(), bytes + 256);
  IDMLCompiledOperator* targets[] = {plain.compiled.Get(), owning.compiled.Get()};
  ComPtr<IDMLOperatorInitializer> initializer;
  ASSERT_EQ(dml.device->CreateOperatorInitializer(2, targets, IID_PPV_ARGS(&initializer)), S_OK);
  const auto table = dml.table(initializer.Get(), owning.heap.Get(), 8);
  const DML_BUFFER_BINDING inputs[] = {{nullptr, 0, 0}, {owning.b_buffer.Get(), 0, 16}};
  const DML_BUFFER_ARRAY_BINDING array{2, inputs};
  const DML_BINDING_DESC all_inputs[] = {{DML_BINDING_TYPE_NONE, nullptr}, {DML_BINDING_TYPE_BUFFER_ARRAY, &array}};
  table->BindInputs(2, all_inputs);
  const DML_BUFFER_BINDING persistent_binding{persistent.Get(), 256, bytes};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_NONE, nullptr}, bind(persistent_binding)};
  table->BindOutputs(2, outputs);
  owning.set_heap();
  dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), table.Get());
  dml.queue.finish();
  const DML_BUFFER_BINDING a{owning.a_buffer.Get(), 0, 16};
  const DML_BINDING_DESC at_execution[] = {bind(a), {DML_BINDING_TYPE_NONE, nullptr}};
  owning.table->BindInputs(2, at_execution);
  bind_output(owning.table.Get(), {owning.out_buffer.Get(), 0, 16});
  owning.table->BindPersistentResource(&outputs[1]);
  owning.record();
  dml.queue.finish();
  EXPECT_EQ(owning.result(), kFloorResult);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
}

// An empty vector has no address, so programs pass null when they have nothing to bind.
TEST(Initializer, WithoutInputsNoArrayIsNeeded) {
  Dml dml;
  Tensor out(DML_TENSOR_DATA_TYPE_INT32, {1, 1, 1, 4});
  DML_SCALAR_UNION seven{};
  seven.Int32 = 7;
  const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC fill{&out.desc, DML_TENSOR_DATA_TYPE_INT32, seven};
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(dml.create_operator(DML_OPERATOR_FILL_VALUE_CONSTANT, &fill, op), S_OK) << anydml_last_error();
  GraphBuilder graph;
  graph.output(graph.add(op.Get()), 0);
  for (const auto& compiled : {dml.compile(op.Get()), graph.compile(dml)}) {
    const std::vector<DML_BUFFER_BINDING> no_buffers;
    const std::vector<DML_BINDING_DESC> no_bindings;
    ASSERT_EQ(no_buffers.data(), nullptr);
    const DML_BUFFER_ARRAY_BINDING no_array{static_cast<UINT>(no_buffers.size()), no_buffers.data()};
    const DML_BINDING_DESC of_target{DML_BINDING_TYPE_BUFFER_ARRAY, &no_array};
    const auto heap = create_heap(dml.d3d12.Get(), 8);
    const auto buffer = create_buffer(dml.d3d12.Get(), 16);
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    IDMLCompiledOperator* targets[] = {compiled.Get()};
    ComPtr<IDMLOperatorInitializer> initializer;
    ASSERT_EQ(dml.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
    const auto first_table = dml.table(initializer.Get(), heap.Get(), 4);
    first_table->BindInputs(1, &of_target);
    ASSERT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
    first_table->BindInputs(0, no_bindings.data());
    first_table->BindOutputs(0, no_bindings.data());
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), first_table.Get());

    const auto table = dml.table(compiled.Get(), heap.Get());
    table->BindInputs(0, no_bindings.data());
    ASSERT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
    bind_output(table.Get(), {buffer.Get(), 0, 16});
    uav_barrier(dml.queue.list.Get());
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
    dml.queue.finish();
    ASSERT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
    EXPECT_EQ(values_of<int>(download(dml.queue, buffer.Get())), (std::vector<int>{7, 7, 7, 7}));
  }
}

}  // namespace
}  // namespace anydml::test
