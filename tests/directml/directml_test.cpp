// SPDX-License-Identifier: MIT
// DirectML as programs use it: objects and their rules, late bindings, owned tensors, hazards, removal; and each
// behaviour that has bitten a client.
#include <cmath>
#include <thread>

#include "directml/harness.h"

namespace anydml::test {
namespace {

constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr auto kInt = DML_TENSOR_DATA_TYPE_INT32;

// One operator of two inputs over 1x1x1x4 INT32, with buffers, a heap and a table.
struct Modulus {
  explicit Modulus(Dml& with, DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE,
                   DML_TENSOR_FLAGS b_flags = DML_TENSOR_FLAG_NONE,
                   DML_OPERATOR_TYPE type = DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR)
      : dml(with), a(kInt, {1, 1, 1, 4}), b(kInt, {1, 1, 1, 4}, {}, b_flags), out(kInt, {1, 1, 1, 4}) {
    op = dml.binary(a, b, out, type);
    compiled = dml.compile(op.Get(), flags);
    heap = create_heap(dml.d3d12.Get(), 16);
    a_buffer = create_buffer(dml.d3d12.Get(), 256);
    b_buffer = create_buffer(dml.d3d12.Get(), 256);
    out_buffer = create_buffer(dml.d3d12.Get(), 256);
    const int dividends[] = {7, -7, 7, -7};
    const int divisors[] = {3, 3, -3, -3};
    upload(dml.queue, a_buffer.Get(), dividends, sizeof(dividends));
    upload(dml.queue, b_buffer.Get(), divisors, sizeof(divisors));
    table = dml.table(compiled.Get(), heap.Get());
  }

  void bind_all() {
    bind_inputs(table.Get(), {{a_buffer.Get(), 0, 16}, {b_buffer.Get(), 0, 16}});
    bind_output(table.Get(), {out_buffer.Get(), 0, 16});
  }
  void set_heap() {
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
  }
  void record() {
    set_heap();
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  }
  std::vector<int> result() {
    auto values = download_as<int>(dml.queue, out_buffer.Get());
    values.resize(4);
    return values;
  }

  Dml& dml;
  Tensor a;
  Tensor b;
  Tensor out;
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<ID3D12Resource> a_buffer;
  ComPtr<ID3D12Resource> b_buffer;
  ComPtr<ID3D12Resource> out_buffer;
  ComPtr<IDMLBindingTable> table;
};

const std::vector<int> kFloorResult = {1, 2, -2, -1};
const std::vector<int> kTruncateResult = {1, -1, 1, -1};

TEST(Device, CreatedInEveryWay) {
  const auto d3d12 = create_d3d12_device();
  ComPtr<IDMLDevice> device;
  EXPECT_EQ(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)), S_OK);
  ComPtr<IDMLDevice1> device1;
  EXPECT_EQ(device.As(&device1), S_OK);  // as DirectMLX does before it compiles
  ComPtr<IDMLDevice1> direct;
  EXPECT_EQ(DMLCreateDevice1(d3d12.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(&direct)),
            S_OK);
  EXPECT_NE(static_cast<IUnknown*>(direct.Get()), static_cast<IUnknown*>(device1.Get()));  // no singleton
  ComPtr<IDMLDebugDevice> debug;
  EXPECT_EQ(device.As(&debug), E_NOINTERFACE);
  ASSERT_EQ(direct.As(&debug), S_OK);
  debug->SetMuteDebugOutput(TRUE);
  // The parent by identity, as ONNX Runtime compares it with the queue's device.
  Queue queue(d3d12.Get());
  ComPtr<IUnknown> parent;
  ComPtr<IUnknown> of_queue;
  ASSERT_EQ(device->GetParentDevice(IID_PPV_ARGS(&parent)), S_OK);
  ASSERT_EQ(queue.queue->GetDevice(IID_PPV_ARGS(&of_queue)), S_OK);
  EXPECT_EQ(parent.Get(), of_queue.Get());
}

TEST(Device, KeepsTheD3D12DeviceAlive) {
  auto d3d12 = create_d3d12_device();
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)), S_OK);
  ID3D12Device* address = d3d12.Get();
  d3d12.Reset();
  ComPtr<ID3D12Device> parent;
  ASSERT_EQ(device->GetParentDevice(IID_PPV_ARGS(&parent)), S_OK);
  EXPECT_EQ(parent.Get(), address);
}

TEST(Device, FeatureQueries) {
  Dml dml;
  // Every type that one client loops over, UNKNOWN and the 4-bit ones included, is answered.
  for (int type = 0; type <= 13; ++type) {
    EXPECT_EQ(dml.supports(type), type >= 1 && type <= 11) << type;
  }
  const DML_FEATURE_LEVEL levels[] = {DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_3_0, DML_FEATURE_LEVEL_6_4,
                                      static_cast<DML_FEATURE_LEVEL>(0x7000)};
  for (UINT count = 1; count <= 4; ++count) {
    const DML_FEATURE_QUERY_FEATURE_LEVELS query{count, levels};
    DML_FEATURE_DATA_FEATURE_LEVELS data{};
    ASSERT_EQ(dml.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof(query), &query, sizeof(data), &data),
              S_OK);
    EXPECT_EQ(data.MaxSupportedFeatureLevel, levels[std::min(count, 3U) - 1]);
  }
}

TEST(Operators, BothEndToEnd) {
  Dml dml;
  for (const bool floor : {true, false}) {
    Modulus modulus(dml, DML_EXECUTION_FLAG_NONE, DML_TENSOR_FLAG_NONE,
                    floor ? DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR : DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE);
    dml.initialise(modulus.compiled.Get());
    modulus.bind_all();
    modulus.record();
    dml.queue.finish();
    EXPECT_EQ(modulus.result(), floor ? kFloorResult : kTruncateResult);
    EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
  }
}

TEST(Operators, TheProbeOfTensorFlow) {
  Dml dml;
  const Tensor tensor(kFloat, {1, 1, 1, 1});
  const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{&tensor.desc, &tensor.desc, nullptr};
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), S_OK);
  EXPECT_NE(dml.compile(op.Get(), DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION).Get(), nullptr);
}

TEST(Operators, EveryBuiltRowRuns) {
  Dml dml;
  const auto run = [&](DML_OPERATOR_TYPE type, const void* desc, int inputs, std::vector<float> expected) {
    ComPtr<IDMLOperator> op;
    ASSERT_EQ(dml.create_operator(type, desc, op), S_OK) << anydml_last_error();
    const auto compiled = dml.compile(op.Get());
    dml.initialise(compiled.Get());
    const auto heap = create_heap(dml.d3d12.Get(), 8);
    const auto table = dml.table(compiled.Get(), heap.Get());
    const float a[] = {5.5F, -5.5F, 0.0F, 2.0F};
    const float b[] = {2.0F, 2.0F, -3.0F, -0.5F};
    const auto a_buffer = create_buffer(dml.d3d12.Get(), 16);
    const auto b_buffer = create_buffer(dml.d3d12.Get(), 16);
    const auto out_buffer = create_buffer(dml.d3d12.Get(), 16);
    upload(dml.queue, a_buffer.Get(), a, sizeof(a));
    upload(dml.queue, b_buffer.Get(), b, sizeof(b));
    std::vector<DML_BUFFER_BINDING> bindings = {{a_buffer.Get(), 0, 16}};
    if (inputs == 2) {
      bindings.push_back({b_buffer.Get(), 0, 16});
    }
    bind_inputs(table.Get(), bindings);
    bind_output(table.Get(), {out_buffer.Get(), 0, 16});
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
    dml.queue.finish();
    EXPECT_EQ(download_as<float>(dml.queue, out_buffer.Get()), expected) << type;
  };
  const Tensor t(kFloat, {1, 1, 1, 4});
  const DML_ELEMENT_WISE_ADD_OPERATOR_DESC binary{&t.desc, &t.desc, &t.desc};
  const DML_ELEMENT_WISE_ABS_OPERATOR_DESC unary{&t.desc, &t.desc, nullptr};
  const DML_SCALE_BIAS scale_bias{2.0F, 1.0F};
  const DML_ELEMENT_WISE_ABS_OPERATOR_DESC scaled{&t.desc, &t.desc, &scale_bias};
  const DML_ELEMENT_WISE_CLIP_OPERATOR_DESC clip{&t.desc, &t.desc, nullptr, -1.0F, 3.0F};
  const DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC negate{&t.desc, &t.desc};
  run(DML_OPERATOR_ELEMENT_WISE_ADD, &binary, 2, {7.5F, -3.5F, -3.0F, 1.5F});
  run(DML_OPERATOR_ELEMENT_WISE_SUBTRACT, &binary, 2, {3.5F, -7.5F, 3.0F, 2.5F});
  run(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, &binary, 2, {11.0F, -11.0F, -0.0F, -1.0F});
  run(DML_OPERATOR_ELEMENT_WISE_DIVIDE, &binary, 2, {2.75F, -2.75F, -0.0F, -4.0F});
  run(DML_OPERATOR_ELEMENT_WISE_ABS, &unary, 1, {5.5F, 5.5F, 0.0F, 2.0F});
  run(DML_OPERATOR_ELEMENT_WISE_ABS, &scaled, 1, {12.0F, 10.0F, 1.0F, 5.0F});
  run(DML_OPERATOR_ELEMENT_WISE_FLOOR, &unary, 1, {5.0F, -6.0F, 0.0F, 2.0F});
  run(DML_OPERATOR_ELEMENT_WISE_CEIL, &unary, 1, {6.0F, -5.0F, 0.0F, 2.0F});
  run(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &unary, 1, {5.5F, -5.5F, 0.0F, 2.0F});
  run(DML_OPERATOR_ELEMENT_WISE_NEGATE, &negate, 1, {-5.5F, 5.5F, -0.0F, -2.0F});
  run(DML_OPERATOR_ELEMENT_WISE_CLIP, &clip, 1, {3.0F, -1.0F, 0.0F, 2.0F});
  run(DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &binary, 2, {1.5F, 0.5F, -0.0F, -0.0F});
  run(DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE, &binary, 2, {1.5F, -1.5F, 0.0F, 0.0F});
}

TEST(Operators, NotBuiltAndNotKnown) {
  Dml dml;
  const Tensor t(kFloat, {1, 1, 1, 4});
  const DML_ELEMENT_WISE_ABS_OPERATOR_DESC desc{&t.desc, &t.desc, nullptr};
  ComPtr<IDMLOperator> op;
  EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_SIN, &desc, op), kUnsupported);
  EXPECT_EQ(op.Get(), nullptr);
  EXPECT_NE(std::string(anydml_last_error()).find("ELEMENT_WISE_SIN"), std::string::npos);
  ComPtr<IDMLDevice1> device1;
  ASSERT_EQ(dml.device.As(&device1), S_OK);
  const DML_GRAPH_DESC graph{};
  void* out = &out;
  EXPECT_EQ(device1->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &out), kUnsupported);
  EXPECT_EQ(out, nullptr);
}

TEST(Bindings, ReleasedRightAfterRecording) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  modulus.table.Reset();
  dml.queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
}

TEST(Bindings, ResetRightAfterRecordingLeavesTheDescriptors) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  EXPECT_EQ(modulus.table->Reset(nullptr), S_OK);
  dml.queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
}

TEST(Bindings, LateOnesAreReadAtExecution) {
  Dml dml;
  Modulus modulus(dml, DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  dml.initialise(modulus.compiled.Get());
  modulus.record();  // nothing is bound
  ASSERT_EQ(dml.queue.list->Close(), S_OK);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
  modulus.bind_all();
  dml.queue.execute();
  dml.queue.wait();
  // Bound anew, to other buffers, for the same closed list.
  const auto swapped = create_buffer(dml.d3d12.Get(), 256);
  bind_output(modulus.table.Get(), {swapped.Get(), 64, 16});
  dml.queue.execute();
  dml.queue.wait();
  dml.queue.reopen();
  EXPECT_EQ(modulus.result(), kFloorResult);
  EXPECT_EQ(download_as<int>(dml.queue, swapped.Get())[17], 2);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
}

TEST(Bindings, WithoutTheVolatileFlagTheyPrecedeRecording) {
  Dml dml;
  Modulus modulus(dml);
  modulus.record();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), S_OK);
  EXPECT_NE(std::string(anydml_last_error()).find("ATensor: nothing is bound"), std::string::npos);
}

TEST(Bindings, InAHeapThatTheApplicationCopiesFrom) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  const auto hidden = create_heap(dml.d3d12.Get(), 8, false);
  DML_BINDING_TABLE_DESC desc{};
  desc.Dispatchable = modulus.compiled.Get();
  desc.CPUDescriptorHandle = hidden->GetCPUDescriptorHandleForHeapStart();
  desc.GPUDescriptorHandle = modulus.heap->GetGPUDescriptorHandleForHeapStart();
  desc.SizeInDescriptors = 3;
  ASSERT_EQ(modulus.table->Reset(&desc), S_OK) << anydml_last_error();
  modulus.bind_all();
  modulus.record();
  dml.d3d12->CopyDescriptorsSimple(3, modulus.heap->GetCPUDescriptorHandleForHeapStart(), desc.CPUDescriptorHandle,
                                   D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  dml.queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
}

TEST(Bindings, LargerThanTheTensorAndAtOffsets) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  const int dividends[] = {7, -7, 7, -7};
  upload(dml.queue, modulus.a_buffer.Get(), dividends, sizeof(dividends), 48);
  bind_inputs(modulus.table.Get(), {{modulus.a_buffer.Get(), 48, 208}, {modulus.b_buffer.Get(), 0, 256}});
  bind_output(modulus.table.Get(), {modulus.out_buffer.Get(), 16, 240});
  modulus.record();
  dml.queue.finish();
  const auto values = download_as<int>(dml.queue, modulus.out_buffer.Get());
  EXPECT_EQ(std::vector<int>(values.begin() + 4, values.begin() + 8), kFloorResult);
  EXPECT_EQ(values[3], 0);
  EXPECT_EQ(values[8], 0);
}

TEST(Bindings, InPlaceOverEitherInputAndBoth) {
  Dml dml;
  for (const int over : {0, 1, 2}) {
    Modulus modulus(dml);
    dml.initialise(modulus.compiled.Get());
    ID3D12Resource* a = modulus.a_buffer.Get();
    ID3D12Resource* b = over == 2 ? a : modulus.b_buffer.Get();
    ID3D12Resource* out = over == 1 ? b : a;
    bind_inputs(modulus.table.Get(), {{a, 0, 16}, {b, 0, 16}});
    bind_output(modulus.table.Get(), {out, 0, 16});
    modulus.record();
    dml.queue.finish();
    auto values = download_as<int>(dml.queue, out);
    values.resize(4);
    EXPECT_EQ(values, over == 2 ? std::vector<int>(4, 0) : kFloorResult);
    EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
  }
}

TEST(Bindings, InPlaceWithOtherStridesIsRefused) {
  Dml dml;
  const Tensor a(kInt, {1, 1, 2, 2}, {4, 4, 1, 2});
  const Tensor packed(kInt, {1, 1, 2, 2});
  const auto op = dml.binary(a, packed, packed);
  const auto compiled = dml.compile(op.Get());
  const auto heap = create_heap(dml.d3d12.Get(), 4);
  const auto table = dml.table(compiled.Get(), heap.Get());
  const auto buffer = create_buffer(dml.d3d12.Get(), 16);
  const auto other = create_buffer(dml.d3d12.Get(), 16);
  bind_inputs(table.Get(), {{buffer.Get(), 0, 16}, {other.Get(), 0, 16}});
  bind_output(table.Get(), {buffer.Get(), 0, 16});
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);  // it takes all bindings to see it
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_NE(std::string(anydml_last_error()).find("same layout"), std::string::npos) << anydml_last_error();
}

TEST(Bindings, DisjointInOneResource) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  const int values[] = {7, -7, 7, -7, 3, 3, -3, -3};
  upload(dml.queue, modulus.a_buffer.Get(), values, sizeof(values));
  ID3D12Resource* all = modulus.a_buffer.Get();
  bind_inputs(modulus.table.Get(), {{all, 0, 16}, {all, 16, 16}});
  bind_output(modulus.table.Get(), {all, 32, 16});
  modulus.record();
  dml.queue.finish();
  const auto read = download_as<int>(dml.queue, all);
  EXPECT_EQ(std::vector<int>(read.begin() + 8, read.begin() + 12), kFloorResult);
}

TEST(Bindings, CustomHeapsWhereverDefaultOnesAre) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  const auto a = create_buffer(dml.d3d12.Get(), 16, D3D12_HEAP_TYPE_CUSTOM);
  const auto out = create_buffer(dml.d3d12.Get(), 16, D3D12_HEAP_TYPE_CUSTOM);
  const int dividends[] = {7, -7, 7, -7};
  write_bytes(a.Get(), dividends, sizeof(dividends));
  bind_inputs(modulus.table.Get(), {{a.Get(), 0, 16}, {modulus.b_buffer.Get(), 0, 16}});
  bind_output(modulus.table.Get(), {out.Get(), 0, 16});
  modulus.record();
  dml.queue.finish();
  std::vector<int> values(4);
  std::memcpy(values.data(), read_bytes(out.Get()).data(), 16);  // mapped, without a copy
  EXPECT_EQ(values, kFloorResult);
}

TEST(Bindings, TemporaryAndPersistentInEveryEmptyForm) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  modulus.bind_all();
  const DML_BINDING_DESC none{DML_BINDING_TYPE_NONE, nullptr};
  const DML_BUFFER_BINDING empty{nullptr, 0, 0};
  const DML_BINDING_DESC null_buffer{DML_BINDING_TYPE_BUFFER, &empty};
  for (const DML_BINDING_DESC* desc : {static_cast<const DML_BINDING_DESC*>(nullptr), &none, &null_buffer}) {
    modulus.table->BindTemporaryResource(desc);
    modulus.table->BindPersistentResource(desc);
    EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
  }
  modulus.record();
  dml.queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
}

TEST(Initializer, EmptyObjectsAreLegal) {
  Dml dml;
  ComPtr<IDMLOperatorInitializer> initializer;
  ASSERT_EQ(dml.device->CreateOperatorInitializer(0, nullptr, IID_PPV_ARGS(&initializer)), S_OK);
  EXPECT_EQ(initializer->GetBindingProperties().RequiredDescriptorCount, 0U);
  EXPECT_EQ(initializer->GetBindingProperties().PersistentResourceSize, 0U);
  ComPtr<IDMLBindingTable> table;
  ASSERT_EQ(dml.device->CreateBindingTable(nullptr, IID_PPV_ARGS(&table)), S_OK);
  // Handles of -1, a size of 0, and no heap, as one client has it.
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
    weights.Reset();  // it was copied
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

// One client initialises before every execution, and may do so into another persistent resource.
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
      modulus.record();
      dml.queue.finish();
      EXPECT_EQ(modulus.result(), kFloorResult);
      EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
    }
  }
}

// The persistent resource bound at execution may be another resource over the same memory.
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

TEST(Removal, IsOfOneDeviceAndEndsItsMethods) {
  Dml dml;
  Modulus modulus(dml);
  ComPtr<IDMLDevice> sibling;
  ASSERT_EQ(DMLCreateDevice(dml.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&sibling)), S_OK);
  modulus.table->BindInputs(1, nullptr);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(sibling->GetDeviceRemovedReason(), S_OK);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), S_OK);
  void* out = &out;
  EXPECT_EQ(dml.device->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(modulus.compiled->SetName(L"x"), kDeviceRemoved);
  EXPECT_EQ(modulus.table->Reset(nullptr), kDeviceRemoved);
  EXPECT_EQ(dml.device->MakeResident(0, nullptr), kDeviceRemoved);
  out = &out;
  EXPECT_EQ(dml.device->GetParentDevice(__uuidof(ID3D12Device), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  out = &out;
  EXPECT_EQ(modulus.compiled->GetDevice(__uuidof(IDMLDevice), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  ComPtr<IDMLObject> object;
  EXPECT_EQ(modulus.compiled.As(&object), S_OK);  // IUnknown's own go on
  modulus.bind_all();                             // does nothing, and does not crash
  modulus.record();
  dml.queue.finish();
}

TEST(Removal, OfTheD3D12DeviceRemovesThisOne) {
  Dml dml;
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(dml.d3d12.As(&device5), S_OK);
  device5->RemoveDevice();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), kDeviceRemoved);
  void* out = &out;
  EXPECT_EQ(dml.device->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), &out), kDeviceRemoved);
}

TEST(Removal, AtSubmissionWhenABufferIsGone) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  modulus.b_buffer.Reset();
  dml.queue.submit();
  dml.queue.wait();  // the queue goes on; only the dispatch is left out
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), S_OK);
  EXPECT_NE(std::string(anydml_last_error()).find("BTensor"), std::string::npos) << anydml_last_error();
}

TEST(Removal, AtSubmissionWhenTheHeapIsGone) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialise(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  ASSERT_EQ(dml.queue.list->Close(), S_OK);
  modulus.heap.Reset();
  dml.queue.execute();
  dml.queue.wait();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), S_OK);
  EXPECT_NE(std::string(anydml_last_error()).find("descriptor heap"), std::string::npos) << anydml_last_error();
}

TEST(Objects, ReferencesAndNames) {
  Dml dml;
  Modulus modulus(dml);
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(modulus.compiled->GetDevice(IID_PPV_ARGS(&device)), S_OK);
  EXPECT_EQ(device.Get(), dml.device.Get());
  // The table holds its dispatchable, the compiled operator its operator.
  modulus.op->AddRef();
  EXPECT_GE(modulus.op->Release(), 2U);
  modulus.compiled->AddRef();
  EXPECT_GE(modulus.compiled->Release(), 2U);
  EXPECT_EQ(modulus.compiled->SetName(L"modulus"), S_OK);
  const GUID key = {9, 9, 9, {9}};
  UINT size = 0;
  EXPECT_EQ(modulus.compiled->GetPrivateData(key, &size, nullptr), kNotFound);
  EXPECT_EQ(modulus.compiled->SetPrivateDataInterface(key, dml.device.Get()), S_OK);
  ComPtr<IUnknown> back;
  size = sizeof(void*);
  EXPECT_EQ(modulus.compiled->GetPrivateData(key, &size, back.GetAddressOf()), S_OK);
  EXPECT_NE(back.Get(), nullptr);
  IDMLPageable* pageables[] = {modulus.compiled.Get()};
  EXPECT_EQ(dml.device->Evict(1, pageables), S_OK);
  EXPECT_EQ(dml.device->MakeResident(1, pageables), S_OK);
  ComPtr<IDMLOperatorInitializer> initializer;
  EXPECT_EQ(modulus.compiled.As(&initializer), E_NOINTERFACE);
  EXPECT_EQ(modulus.compiled->SetPrivateDataInterface(key, nullptr), S_OK);
}

TEST(Objects, NamesAppearInMessages) {
  Dml dml;
  Modulus modulus(dml);
  ASSERT_EQ(modulus.compiled->SetName(L"layer7/mod"), S_OK);
  modulus.record();
  EXPECT_NE(std::string(anydml_last_error()).find("ELEMENT_WISE_MODULUS_FLOOR 'layer7/mod': ATensor"),
            std::string::npos)
      << anydml_last_error();
}

TEST(Objects, EverythingReleasedWhileWorkIsInFlight) {
  for (int round = 0; round < 20; ++round) {
    ComPtr<ID3D12Fence> fence;
    {
      Dml dml;
      Modulus modulus(dml);
      modulus.bind_all();
      modulus.record();
      dml.queue.submit();
      fence = dml.queue.fence;
    }  // against the rules, and still no use of what is gone
    EXPECT_EQ(fence->SetEventOnCompletion(fence->GetCompletedValue(), nullptr), S_OK);
  }
}

TEST(DebugLayer, RejectionsReachTheInfoQueue) {
  ComPtr<ID3D12Debug4> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  {
    Dml dml(DML_CREATE_DEVICE_FLAG_DEBUG);
    Dml quiet;
    ComPtr<ID3D12InfoQueue1> queue;
    ASSERT_EQ(dml.d3d12.As(&queue), S_OK);
    std::vector<std::string> heard;
    DWORD cookie = 0;
    const auto listen = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR text,
                           void* context) { static_cast<std::vector<std::string>*>(context)->emplace_back(text); };
    ASSERT_EQ(queue->RegisterMessageCallback(listen, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie), S_OK);
    const Tensor f32(kFloat, {1, 1, 1, 4});
    const Tensor f16(DML_TENSOR_DATA_TYPE_FLOAT16, {1, 1, 1, 4});
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{&f32.desc, &f16.desc, nullptr};
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(quiet.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), E_INVALIDARG);
    EXPECT_TRUE(heard.empty());  // made without the flag
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), E_INVALIDARG);
    ASSERT_EQ(heard.size(), 1U);
    for (const char* part : {"ELEMENT_WISE_IDENTITY", "OutputTensor", "FLOAT16", "FLOAT32"}) {
      EXPECT_NE(heard[0].find(part), std::string::npos) << heard[0];
    }
    ComPtr<IDMLDebugDevice> mute;
    ASSERT_EQ(dml.device.As(&mute), S_OK);
    mute->SetMuteDebugOutput(TRUE);
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), E_INVALIDARG);
    EXPECT_EQ(heard.size(), 1U);
    // An operator that was never initialised runs, and it is said.
    mute->SetMuteDebugOutput(FALSE);
    Modulus modulus(dml);
    modulus.bind_all();
    modulus.record();
    dml.queue.finish();
    EXPECT_EQ(modulus.result(), kFloorResult);
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_NE(heard[1].find("never initialized"), std::string::npos) << heard[1];
    EXPECT_EQ(queue->UnregisterMessageCallback(cookie), S_OK);
  }
  debug->DisableDebugLayer();
}

}  // namespace
}  // namespace anydml::test
