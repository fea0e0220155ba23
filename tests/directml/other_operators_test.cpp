// SPDX-License-Identifier: MIT
// Tests further kinds of operators through DirectML: one that needs a temporary resource, one with an absent tensor,
// one with a fused operator, one with an array of operators, two with arrays of tensors, and one with several outputs
// in place. The results must match those of the C API bit for bit; other tests compare the C API with NumPy.
#include <cstring>
#include <random>

#include "directml/harness.h"

namespace anydml::test {
namespace {

struct OtherOperators : testing::Test {
  Dml dml;
  ComPtr<ID3D12DescriptorHeap> heap = create_heap(dml.d3d12.Get(), 16);
  std::mt19937_64 random{16};

  std::vector<float> draw(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) {
      value = static_cast<float>(static_cast<std::int64_t>(random() % 20001) - 10000) / 64;
    }
    return values;
  }
  ComPtr<ID3D12Resource> buffer_of(const void* bytes, std::size_t count) {
    const auto buffer = create_buffer(dml.d3d12.Get(), count);
    upload(dml.queue, buffer.Get(), bytes, count);
    return buffer;
  }
  void record(IDMLCompiledOperator* compiled, IDMLBindingTable* table) {
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled, table);
  }
  HRESULT removed() { return dml.device->GetDeviceRemovedReason(); }
};

// Three sums, each over more elements than a block has.
struct LongSums : OtherOperators {
  static constexpr UINT kRows = 3;
  static constexpr UINT kColumns = 20'000;
  static constexpr std::size_t kBytes = sizeof(float) * kRows * kColumns;

  void SetUp() override {
    const Tensor in(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, kRows, kColumns});
    const Tensor out(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, kRows, 1});
    const UINT axes[] = {3};
    const DML_REDUCE_OPERATOR_DESC desc{DML_REDUCE_FUNCTION_SUM, &in.desc, &out.desc, 1, axes};
    ComPtr<IDMLOperator> op;
    ASSERT_EQ(dml.create_operator(DML_OPERATOR_REDUCE, &desc, op), S_OK) << anydml_last_error();
    compiled = dml.compile(op.Get());
    dml.initialize(compiled.Get());
    table = dml.table(compiled.Get(), heap.Get());
    values = draw(std::size_t{kRows} * kColumns);
    input = buffer_of(values.data(), kBytes);
    output = create_buffer(dml.d3d12.Get(), kRows * sizeof(float));
    temporary_bytes = compiled->GetBindingProperties().TemporaryResourceSize;
    bind_inputs(table.Get(), {{input.Get(), 0, kBytes}});
    bind_output(table.Get(), {output.Get(), 0, kRows * sizeof(float)});
  }
  void bind_temporary(const DML_BUFFER_BINDING& binding) {
    const DML_BINDING_DESC desc = bind(binding);
    table->BindTemporaryResource(&desc);
  }

  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLBindingTable> table;
  ComPtr<ID3D12Resource> input;
  ComPtr<ID3D12Resource> output;
  std::vector<float> values;
  UINT64 temporary_bytes = 0;
};

TEST_F(LongSums, UseTheTemporaryResourceWhateverItHolds) {
  ASSERT_GT(temporary_bytes, 0U);
  EXPECT_EQ(temporary_bytes % 256, 0U);
  const std::vector<std::uint8_t> filled(temporary_bytes + 512, 0xFF);
  const auto temporary = buffer_of(filled.data(), filled.size());
  bind_temporary({temporary.Get(), 256, temporary_bytes});
  record(compiled.Get(), table.Get());
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();

  const std::int64_t sizes[] = {kRows, kColumns};
  const std::int64_t reduced[] = {kRows, 1};
  std::vector<float> expected(kRows);
  const anydml_tensor in = {ANYDML_FLOAT32, 2, sizes, nullptr, values.data()};
  const anydml_tensor out = {ANYDML_FLOAT32, 2, reduced, nullptr, expected.data()};
  const std::int64_t axis[] = {1};
  anydml_attribute attributes[] = {{"Function", ANYDML_TEXT, 0, {}},
                                   {"Axes", uint32_t{ANYDML_INT64} | uint32_t{ANYDML_ARRAY}, 1, {}}};
  attributes[0].value.text = "SUM";
  attributes[1].value.i64s = axis;
  ASSERT_EQ(anydml_run(nullptr, "REDUCE", &in, 1, &out, 1, attributes, 2), ANYDML_OK) << anydml_last_error();
  const auto found = download(dml.queue, output.Get());
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), kRows * sizeof(float)), 0);
  // The surrounding bytes are unchanged.
  const auto after = download(dml.queue, temporary.Get());
  EXPECT_TRUE(std::all_of(after.begin(), after.begin() + 256, [](std::uint8_t byte) { return byte == 0xFF; }));
  EXPECT_TRUE(std::all_of(after.end() - 256, after.end(), [](std::uint8_t byte) { return byte == 0xFF; }));
}

TEST_F(LongSums, WithoutTheTemporaryResourceRemoveTheDevice) {
  record(compiled.Get(), table.Get());
  EXPECT_EQ(removed(), E_INVALIDARG);
  EXPECT_NE(std::string(anydml_last_error()).find("temporary resource: nothing is bound"), std::string::npos)
      << anydml_last_error();
}

TEST_F(LongSums, WithATemporaryResourceThatIsTooSmallRemoveTheDevice) {
  const auto temporary = create_buffer(dml.d3d12.Get(), temporary_bytes);
  bind_temporary({temporary.Get(), 0, temporary_bytes - 4});
  EXPECT_EQ(removed(), E_INVALIDARG);
  EXPECT_NE(std::string(anydml_last_error()).find("temporary resource"), std::string::npos) << anydml_last_error();
}

TEST_F(LongSums, WithATemporaryResourceOverTheInputRemoveTheDevice) {
  bind_temporary({input.Get(), 0, temporary_bytes});
  record(compiled.Get(), table.Get());
  EXPECT_EQ(removed(), E_INVALIDARG);
  EXPECT_NE(std::string(anydml_last_error()).find("temporary resource: overlaps InputTensor"), std::string::npos)
      << anydml_last_error();
}

// QUANTIZE_LINEAR without its zero point, which still has a binding.
struct Quantizing : OtherOperators {
  static constexpr UINT kCount = 64;

  void SetUp() override {
    const Tensor x(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, kCount});
    const Tensor y(DML_TENSOR_DATA_TYPE_INT8, {1, 1, 1, kCount});
    const DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC desc{&x.desc, &x.desc, nullptr, &y.desc};
    ComPtr<IDMLOperator> op;
    ASSERT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR, &desc, op), S_OK) << anydml_last_error();
    compiled = dml.compile(op.Get());
    dml.initialize(compiled.Get());
    table = dml.table(compiled.Get(), heap.Get());
    values = draw(kCount);
    scales.assign(kCount, 0.75F);
    value_buffer = buffer_of(values.data(), kCount * sizeof(float));
    scale_buffer = buffer_of(scales.data(), kCount * sizeof(float));
    output = create_buffer(dml.d3d12.Get(), kCount);
  }

  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLBindingTable> table;
  ComPtr<ID3D12Resource> value_buffer;
  ComPtr<ID3D12Resource> scale_buffer;
  ComPtr<ID3D12Resource> output;
  std::vector<float> values;
  std::vector<float> scales;
};

TEST_F(Quantizing, GoesWithoutATensorThatIsAbsent) {
  const DML_BUFFER_BINDING first{value_buffer.Get(), 0, kCount * sizeof(float)};
  const DML_BUFFER_BINDING second{scale_buffer.Get(), 0, kCount * sizeof(float)};
  const DML_BINDING_DESC inputs[] = {bind(first), bind(second), {DML_BINDING_TYPE_NONE, nullptr}};
  table->BindInputs(3, inputs);
  bind_output(table.Get(), {output.Get(), 0, kCount});
  record(compiled.Get(), table.Get());
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  const std::int64_t sizes[] = {kCount};
  const anydml_tensor in[] = {{ANYDML_FLOAT32, 1, sizes, nullptr, values.data()},
                              {ANYDML_FLOAT32, 1, sizes, nullptr, scales.data()},
                              {ANYDML_NONE, 0, nullptr, nullptr, nullptr}};
  std::vector<std::uint8_t> expected(kCount);
  const anydml_tensor out = {ANYDML_INT8, 1, sizes, nullptr, expected.data()};
  ASSERT_EQ(anydml_run(nullptr, "ELEMENT_WISE_QUANTIZE_LINEAR", in, 3, &out, 1, nullptr, 0), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(download(dml.queue, output.Get()), expected);
}

TEST_F(Quantizing, RefusesABufferForATensorThatIsAbsent) {
  const DML_BUFFER_BINDING buffer{value_buffer.Get(), 0, kCount * sizeof(float)};
  const DML_BINDING_DESC inputs[] = {bind(buffer), bind(buffer), bind(buffer)};
  table->BindInputs(3, inputs);
  EXPECT_EQ(removed(), E_INVALIDARG);
  EXPECT_NE(std::string(anydml_last_error()).find("ZeroPointTensor: a buffer is bound to a tensor that is absent"),
            std::string::npos)
      << anydml_last_error();
}

TEST_F(OtherOperators, AnActivationIsFused) {
  constexpr UINT kCount = 100;
  const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, kCount});
  const DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC relu{nullptr, nullptr, 0.25F};
  const DML_OPERATOR_DESC fused{DML_OPERATOR_ACTIVATION_LEAKY_RELU, &relu};
  const DML_ELEMENT_WISE_ADD1_OPERATOR_DESC desc{&tensor.desc, &tensor.desc, &tensor.desc, &fused};
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_ADD1, &desc, op), S_OK) << anydml_last_error();
  const auto compiled = dml.compile(op.Get());
  dml.initialize(compiled.Get());
  const auto table = dml.table(compiled.Get(), heap.Get());
  const auto a = draw(kCount);
  const auto b = draw(kCount);
  const auto first = buffer_of(a.data(), kCount * sizeof(float));
  const auto second = buffer_of(b.data(), kCount * sizeof(float));
  const auto output = create_buffer(dml.d3d12.Get(), kCount * sizeof(float));
  bind_inputs(table.Get(), {{first.Get(), 0, kCount * sizeof(float)}, {second.Get(), 0, kCount * sizeof(float)}});
  bind_output(table.Get(), {output.Get(), 0, kCount * sizeof(float)});
  record(compiled.Get(), table.Get());
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  const auto found = download(dml.queue, output.Get());
  for (UINT i = 0; i < kCount; ++i) {
    const float sum = a[i] + b[i];
    const float expected = sum >= 0 ? sum : 0.25F * sum;
    EXPECT_EQ(std::memcmp(found.data() + i * sizeof(float), &expected, sizeof(float)), 0) << i;
  }
}

// SPLIT has an array of outputs and JOIN an array of inputs. JOIN reverses SPLIT.
TEST_F(OtherOperators, ArraysOfTensors) {
  const Tensor whole(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 2, 3, 7});
  const Tensor parts[] = {Tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 2, 3, 4}),
                          Tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 2, 3, 1}),
                          Tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 2, 3, 2})};
  const DML_TENSOR_DESC descs[] = {parts[0].desc, parts[1].desc, parts[2].desc};
  const std::size_t widths[] = {4, 1, 2};
  const std::vector<float> values = draw(42);
  const auto given = buffer_of(values.data(), 42 * sizeof(float));
  ComPtr<ID3D12Resource> between[3];
  DML_BUFFER_BINDING buffers[3];
  DML_BINDING_DESC bindings[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t bytes = 6 * widths[i] * sizeof(float);
    between[i] = create_buffer(dml.d3d12.Get(), bytes);
    buffers[i] = {between[i].Get(), 0, bytes};
    bindings[i] = {DML_BINDING_TYPE_BUFFER, &buffers[i]};
  }
  const auto prepare = [&](DML_OPERATOR_TYPE type, const void* desc, ComPtr<IDMLCompiledOperator>& compiled) {
    ComPtr<IDMLOperator> op;
    ASSERT_EQ(dml.create_operator(type, desc, op), S_OK) << anydml_last_error();
    compiled = dml.compile(op.Get());
    dml.initialize(compiled.Get());
  };
  ComPtr<IDMLCompiledOperator> split;
  const DML_SPLIT_OPERATOR_DESC split_desc{&whole.desc, 3, descs, 3};
  ASSERT_NO_FATAL_FAILURE(prepare(DML_OPERATOR_SPLIT, &split_desc, split));
  const auto split_table = dml.table(split.Get(), heap.Get());
  bind_inputs(split_table.Get(), {{given.Get(), 0, 42 * sizeof(float)}});
  split_table->BindOutputs(3, bindings);
  record(split.Get(), split_table.Get());
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  std::size_t column = 0;
  for (std::size_t i = 0; i < 3; column += widths[i++]) {
    const auto found = download(dml.queue, between[i].Get());
    for (std::size_t row = 0; row < 6; ++row) {
      EXPECT_EQ(std::memcmp(found.data() + row * widths[i] * sizeof(float), &values[row * 7 + column],
                            widths[i] * sizeof(float)),
                0);
    }
  }

  ComPtr<IDMLCompiledOperator> join;
  const DML_JOIN_OPERATOR_DESC join_desc{3, descs, &whole.desc, 3};
  ASSERT_NO_FATAL_FAILURE(prepare(DML_OPERATOR_JOIN, &join_desc, join));
  const auto join_table = dml.table(join.Get(), heap.Get());
  const auto joined = create_buffer(dml.d3d12.Get(), 42 * sizeof(float));
  join_table->BindInputs(3, bindings);
  bind_output(join_table.Get(), {joined.Get(), 0, 42 * sizeof(float)});
  record(join.Get(), join_table.Get());
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(std::memcmp(download(dml.queue, joined.Get()).data(), values.data(), 42 * sizeof(float)), 0);
}

// 4-bit weights with blocks of eight along the last dimension. The rows of zero points are padded to whole bytes, and a
// leading dimension is broadcast, as in ONNX Runtime's descriptions.
TEST_F(OtherOperators, WeightsOfFourBits) {
  const Tensor x(DML_TENSOR_DATA_TYPE_UINT4, {2, 2, 24}, {0, 24, 1});
  const Tensor scale(DML_TENSOR_DATA_TYPE_FLOAT32, {2, 2, 3}, {0, 3, 1});
  const Tensor zero(DML_TENSOR_DATA_TYPE_UINT4, {2, 2, 3}, {0, 4, 1});
  const Tensor out(DML_TENSOR_DATA_TYPE_FLOAT32, {2, 2, 24});
  const DML_TENSOR_DESC parameters[] = {scale.desc, zero.desc};
  const DML_DEQUANTIZE_OPERATOR_DESC desc{&x.desc, DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT, 2, parameters, &out.desc};
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(dml.create_operator(DML_OPERATOR_DEQUANTIZE, &desc, op), S_OK) << anydml_last_error();
  const auto compiled = dml.compile(op.Get());
  dml.initialize(compiled.Get());
  std::vector<std::uint8_t> codes(24);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = static_cast<std::uint8_t>(i * 37 + 11);
  }
  const float scales[] = {1, 0.5, -2, 0.25, 3, 8};
  const std::uint8_t zeros[] = {0x21, 0xf3, 0x54, 0xf6};
  ASSERT_EQ(x.buffer.TotalTensorSizeInBytes, codes.size());
  ASSERT_EQ(zero.buffer.TotalTensorSizeInBytes, sizeof(zeros));
  const auto of_codes = buffer_of(codes.data(), codes.size());
  const auto of_scales = buffer_of(scales, sizeof(scales));
  const auto of_zeros = buffer_of(zeros, sizeof(zeros));
  const auto result = create_buffer(dml.d3d12.Get(), 96 * sizeof(float));
  const auto table = dml.table(compiled.Get(), heap.Get());
  bind_inputs(
      table.Get(),
      {{of_codes.Get(), 0, codes.size()}, {of_scales.Get(), 0, sizeof(scales)}, {of_zeros.Get(), 0, sizeof(zeros)}});
  bind_output(table.Get(), {result.Get(), 0, 96 * sizeof(float)});
  record(compiled.Get(), table.Get());
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  const auto found = download_as<float>(dml.queue, result.Get());
  const int points[] = {1, 2, 3, 4, 5, 6};
  for (std::size_t i = 0; i < 96; ++i) {
    const std::size_t at = i % 48;
    const int code = codes[at / 2] >> (4 * (at % 2)) & 15;
    const std::size_t block = at / 24 * 3 + at % 24 / 8;
    EXPECT_EQ(found[i], static_cast<float>(code - points[block]) * scales[block]) << i;
  }
}

// An LSTM of one unit has an array of operators as its activations. Its first output is absent.
TEST_F(OtherOperators, ActivationsOfANetworkAreAnArray) {
  const auto tensor = [](std::vector<UINT> sizes, DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE) {
    return Tensor(DML_TENSOR_DATA_TYPE_FLOAT32, std::move(sizes), {}, flags);
  };
  const Tensor x = tensor({1, 2, 1, 1});
  const Tensor w = tensor({1, 1, 4, 1});
  const Tensor state = tensor({1, 1, 1, 1});
  const DML_ACTIVATION_LINEAR_OPERATOR_DESC twice{nullptr, nullptr, 2, 0};
  const DML_ACTIVATION_RELU_OPERATOR_DESC relu{nullptr, nullptr};
  const DML_OPERATOR_DESC activations[] = {{DML_OPERATOR_ACTIVATION_RELU, &relu},
                                           {DML_OPERATOR_ACTIVATION_RELU, &relu},
                                           {DML_OPERATOR_ACTIVATION_LINEAR, &twice}};
  DML_LSTM_OPERATOR_DESC desc{};
  desc.InputTensor = &x.desc;
  desc.WeightTensor = &w.desc;
  desc.RecurrenceTensor = &w.desc;
  desc.OutputSingleTensor = &state.desc;
  desc.OutputCellSingleTensor = &state.desc;
  desc.ActivationDescCount = 3;
  desc.ActivationDescs = activations;
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(dml.create_operator(DML_OPERATOR_LSTM, &desc, op), S_OK) << anydml_last_error();
  const auto compiled = dml.compile(op.Get());
  dml.initialize(compiled.Get());
  const auto table = dml.table(compiled.Get(), heap.Get());
  const float inputs[] = {1, 2};
  const float weights[] = {1, 2, 0.5, 1};  // the weights of the gates i, o, f and c
  const float recurrence[] = {0, 0, 0, 1};
  const auto given = buffer_of(inputs, sizeof(inputs));
  const auto of_inputs = buffer_of(weights, sizeof(weights));
  const auto of_state = buffer_of(recurrence, sizeof(recurrence));
  const auto single = create_buffer(dml.d3d12.Get(), sizeof(float));
  const auto cell = create_buffer(dml.d3d12.Get(), sizeof(float));
  const DML_BUFFER_BINDING buffers[] = {{given.Get(), 0, sizeof(inputs)},
                                        {of_inputs.Get(), 0, sizeof(weights)},
                                        {of_state.Get(), 0, sizeof(recurrence)},
                                        {single.Get(), 0, sizeof(float)},
                                        {cell.Get(), 0, sizeof(float)}};
  const DML_BINDING_DESC none{DML_BINDING_TYPE_NONE, nullptr};
  const DML_BINDING_DESC from[] = {bind(buffers[0]), bind(buffers[1]), bind(buffers[2]), none, none, none, none, none};
  const DML_BINDING_DESC to[] = {none, bind(buffers[3]), bind(buffers[4])};
  table->BindInputs(8, from);
  table->BindOutputs(3, to);
  const UINT64 bytes = compiled->GetBindingProperties().TemporaryResourceSize;
  const auto temporary = create_buffer(dml.d3d12.Get(), bytes);
  const DML_BUFFER_BINDING room{temporary.Get(), 0, bytes};
  const DML_BINDING_DESC bound = bind(room);
  table->BindTemporaryResource(&bound);
  record(compiled.Get(), table.Get());
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  // i, o, f, c: 1, 2, 0.5, 1, so C is 1 and H is 2 * 2; then 2, 4, 1, 2 + 4, so C is 1 + 2 * 6 and H is 4 * 26.
  const float expected[] = {104, 13};
  EXPECT_EQ(std::memcmp(download(dml.queue, single.Get()).data(), &expected[0], sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(download(dml.queue, cell.Get()).data(), &expected[1], sizeof(float)), 0);

  // No input of a recurrent network may be owned.
  const Tensor owned = tensor({1, 1, 4, 1}, DML_TENSOR_FLAG_OWNED_BY_DML);
  desc.RecurrenceTensor = &owned.desc;
  EXPECT_EQ(dml.create_operator(DML_OPERATOR_LSTM, &desc, op), E_INVALIDARG);
  EXPECT_NE(
      std::string(anydml_last_error()).find("LSTM: RecurrenceTensor.Flags is OWNED_BY_DML; expected NONE, since "),
      std::string::npos)
      << anydml_last_error();
}

// Each output may be computed in place over any input except the step.
struct Adam : OtherOperators {
  void SetUp() override {
    const Tensor t(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 2});
    const Tensor step(DML_TENSOR_DATA_TYPE_UINT32, {1, 1, 1, 1});
    const DML_ADAM_OPTIMIZER_OPERATOR_DESC desc{&t.desc, &t.desc, &t.desc, &t.desc, &step.desc, &t.desc,
                                                &t.desc, &t.desc, 0.25F,   0.5F,    0.75F,      0};
    ComPtr<IDMLOperator> op;
    ASSERT_EQ(dml.create_operator(DML_OPERATOR_ADAM_OPTIMIZER, &desc, op), S_OK) << anydml_last_error();
    compiled = dml.compile(op.Get());
    dml.initialize(compiled.Get());
    table = dml.table(compiled.Get(), heap.Get());
    const float values[4][2] = {{1, 2}, {0, 0}, {0, 0}, {2, -4}};
    for (const auto& one : values) {
      buffers.push_back(buffer_of(one, sizeof(one)));
    }
    const UINT count[] = {1, 0};
    buffers.push_back(buffer_of(count, sizeof(count)));
    const UINT64 bytes = compiled->GetBindingProperties().TemporaryResourceSize;
    temporary = create_buffer(dml.d3d12.Get(), bytes);
    const DML_BUFFER_BINDING room{temporary.Get(), 0, bytes};
    const DML_BINDING_DESC bound = bind(room);
    table->BindTemporaryResource(&bound);
    bind_inputs(table.Get(), {whole(0), whole(1), whole(2), whole(3), {buffers[4].Get(), 0, 4}});
  }
  DML_BUFFER_BINDING whole(std::size_t i) { return {buffers[i].Get(), 0, 8}; }
  void run_over(const std::vector<std::size_t>& positions) {
    std::vector<DML_BUFFER_BINDING> outputs;
    for (const std::size_t position : positions) {
      outputs.push_back(whole(position));
    }
    const DML_BINDING_DESC descs[] = {bind(outputs[0]), bind(outputs[1]), bind(outputs[2])};
    table->BindOutputs(3, descs);
    record(compiled.Get(), table.Get());
  }

  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLBindingTable> table;
  std::vector<ComPtr<ID3D12Resource>> buffers;
  ComPtr<ID3D12Resource> temporary;
};

TEST_F(Adam, WorksInPlace) {
  run_over({0, 1, 3});
  dml.queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  const float expected[3][2] = {{0.75F, 2.25F}, {1, -2}, {1, 4}};
  for (const std::size_t i : {0U, 1U, 2U}) {
    const std::size_t position = i == 2 ? 3 : i;
    EXPECT_EQ(std::memcmp(download(dml.queue, buffers[position].Get()).data(), expected[i], sizeof(expected[i])), 0)
        << i;
  }
}

TEST_F(Adam, NotOverItsStep) {
  run_over({0, 1, 4});
  EXPECT_EQ(removed(), E_INVALIDARG);
  EXPECT_NE(std::string(anydml_last_error()).find("TrainingStepTensor"), std::string::npos) << anydml_last_error();
}

}  // namespace
}  // namespace anydml::test
