// SPDX-License-Identifier: MIT
// Tests DirectML as programs use it: objects and their rules, late bindings, owned tensors, hazards, removal, and each
// behavior that once broke a client. This file covers devices, operators and bindings.
#include "directml/modulus.h"

namespace anydml::test {
namespace {

TEST(Device, CreatedInEveryWay) {
  const auto d3d12 = create_d3d12_device();
  ComPtr<IDMLDevice> device;
  EXPECT_EQ(DMLCreateDevice(d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)), S_OK);
  ComPtr<IDMLDevice1> device1;
  EXPECT_EQ(device.As(&device1), S_OK);  // as DirectMLX does before compiling
  ComPtr<IDMLDevice1> direct;
  EXPECT_EQ(DMLCreateDevice1(d3d12.Get(), DML_CREATE_DEVICE_FLAG_DEBUG, DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(&direct)),
            S_OK);
  EXPECT_NE(static_cast<IUnknown*>(direct.Get()), static_cast<IUnknown*>(device1.Get()));  // not a singleton
  ComPtr<IDMLDebugDevice> debug;
  EXPECT_EQ(device.As(&debug), debug_layer_is_forced_on() ? S_OK : E_NOINTERFACE);
  ASSERT_EQ(direct.As(&debug), S_OK);
  debug->SetMuteDebugOutput(TRUE);
  // The parent has the same identity, because ONNX Runtime compares it with the queue's device.
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
  // One client queries every type, including UNKNOWN and the 4-bit types.
  for (int type = 0; type <= 14; ++type) {
    EXPECT_EQ(dml.supports(type), type >= 1 && type <= 13) << type;
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
    dml.initialize(modulus.compiled.Get());
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

TEST(Operators, EveryBuiltEntryRuns) {
  Dml dml;
  const auto run = [&](DML_OPERATOR_TYPE type, const void* desc, int inputs, std::vector<float> expected) {
    ComPtr<IDMLOperator> op;
    ASSERT_EQ(dml.create_operator(type, desc, op), S_OK) << anydml_last_error();
    const auto compiled = dml.compile(op.Get());
    dml.initialize(compiled.Get());
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

TEST(Bindings, ReleasedRightAfterRecording) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialize(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  modulus.table.Reset();
  dml.queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
}

TEST(Bindings, ResetRightAfterRecordingLeavesTheDescriptors) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialize(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  EXPECT_EQ(modulus.table->Reset(nullptr), S_OK);
  dml.queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
}

TEST(Bindings, LateOnesAreReadAtExecution) {
  Dml dml;
  Modulus modulus(dml, DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  dml.initialize(modulus.compiled.Get());
  modulus.record();  // nothing is bound
  ASSERT_EQ(dml.queue.list->Close(), S_OK);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
  modulus.bind_all();
  dml.queue.execute();
  dml.queue.wait();
  // Binds other buffers for the same closed list.
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
  dml.initialize(modulus.compiled.Get());
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
  dml.initialize(modulus.compiled.Get());
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
    dml.initialize(modulus.compiled.Get());
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
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);  // the overlap is visible only with all bindings
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_NE(std::string(anydml_last_error()).find("same layout"), std::string::npos) << anydml_last_error();
}

TEST(Bindings, DisjointInOneResource) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialize(modulus.compiled.Get());
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
  dml.initialize(modulus.compiled.Get());
  const auto a = create_buffer(dml.d3d12.Get(), 16, D3D12_HEAP_TYPE_CUSTOM);
  const auto out = create_buffer(dml.d3d12.Get(), 16, D3D12_HEAP_TYPE_CUSTOM);
  const int dividends[] = {7, -7, 7, -7};
  write_bytes(a.Get(), dividends, sizeof(dividends));
  bind_inputs(modulus.table.Get(), {{a.Get(), 0, 16}, {modulus.b_buffer.Get(), 0, 16}});
  bind_output(modulus.table.Get(), {out.Get(), 0, 16});
  modulus.record();
  dml.queue.finish();
  std::vector<int> values(4);
  std::memcpy(values.data(), read_bytes(out.Get()).data(), 16);  // the buffer is mapped without a copy
  EXPECT_EQ(values, kFloorResult);
}

TEST(Bindings, TemporaryAndPersistentInEveryEmptyForm) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialize(modulus.compiled.Get());
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

}  // namespace
}  // namespace anydml::test
