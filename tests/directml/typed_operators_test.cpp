// SPDX-License-Identifier: MIT
// Tests, through DirectML, operators whose tensors differ in type. The results must match those of the C API bit for
// bit. Other tests compare the C API with NumPy and the definitions.
#include <random>

#include "directml/harness.h"

namespace anydml::test {
namespace {

constexpr DML_TENSOR_DATA_TYPE kTypes[] = {
    DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_DATA_TYPE_UINT32,
    DML_TENSOR_DATA_TYPE_UINT16,  DML_TENSOR_DATA_TYPE_UINT8,   DML_TENSOR_DATA_TYPE_INT32,
    DML_TENSOR_DATA_TYPE_INT16,   DML_TENSOR_DATA_TYPE_INT8,    DML_TENSOR_DATA_TYPE_FLOAT64,
    DML_TENSOR_DATA_TYPE_UINT64,  DML_TENSOR_DATA_TYPE_INT64};

struct TypedOperators : testing::Test {
  Dml dml;
  ComPtr<ID3D12DescriptorHeap> heap = create_heap(dml.d3d12.Get(), 8);
  std::mt19937_64 random{15};
  static constexpr UINT kRows = 3;
  static constexpr UINT kColumns = 37;

  // A tensor with a gap between its rows, filled with random bytes.
  struct Operand {
    explicit Operand(DML_TENSOR_DATA_TYPE type)
        : tensor(type, {1, 1, kRows, kColumns}, {200, 200, kColumns + 3, 1}),
          bytes(tensor.buffer.TotalTensorSizeInBytes) {}
    Tensor tensor;
    std::vector<std::uint8_t> bytes;
  };
  Operand draw(DML_TENSOR_DATA_TYPE type) {
    Operand built(type);
    for (auto& byte : built.bytes) {
      byte = static_cast<std::uint8_t>(random() % 4 == 0 ? 0 : random());
    }
    return built;
  }

  static anydml_tensor of(Operand& operand) {
    static const std::int64_t sizes[] = {kRows, kColumns};
    static const std::int64_t strides[] = {kColumns + 3, 1};
    return {static_cast<anydml_type>(operand.tensor.buffer.DataType), 2, sizes, strides, operand.bytes.data()};
  }

  // Runs both APIs, with outputs that start with the same bytes.
  void compare(const char* name, DML_OPERATOR_TYPE type, const void* desc, std::vector<Operand*> inputs, Operand& out,
               std::vector<anydml_attribute> attributes = {}) {
    ComPtr<IDMLOperator> op;
    ASSERT_EQ(dml.create_operator(type, desc, op), S_OK) << anydml_last_error();
    const auto compiled = dml.compile(op.Get());
    dml.initialize(compiled.Get());
    const auto table = dml.table(compiled.Get(), heap.Get());
    std::vector<ComPtr<ID3D12Resource>> buffers;
    std::vector<DML_BUFFER_BINDING> bindings;
    for (Operand* input : inputs) {
      buffers.push_back(create_buffer(dml.d3d12.Get(), input->bytes.size()));
      upload(dml.queue, buffers.back().Get(), input->bytes.data(), input->bytes.size());
      bindings.push_back({buffers.back().Get(), 0, input->bytes.size()});
    }
    const auto result = create_buffer(dml.d3d12.Get(), out.bytes.size());
    upload(dml.queue, result.Get(), out.bytes.data(), out.bytes.size());
    if (!bindings.empty()) {
      bind_inputs(table.Get(), bindings);
    }
    bind_output(table.Get(), {result.Get(), 0, out.bytes.size()});
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
    dml.queue.finish();
    ASSERT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();

    std::vector<anydml_tensor> tensors;
    for (Operand* input : inputs) {
      tensors.push_back(of(*input));
    }
    const anydml_tensor output = of(out);
    ASSERT_EQ(
        anydml_run(nullptr, name, tensors.data(), tensors.size(), &output, 1, attributes.data(), attributes.size()),
        ANYDML_OK)
        << anydml_last_error();
    EXPECT_EQ(download(dml.queue, result.Get()), out.bytes) << name << " to type " << out.tensor.buffer.DataType;
  }
};

TEST_F(TypedOperators, CastsEveryPairOfTypes) {
  for (const auto from : kTypes) {
    for (const auto to : kTypes) {
      Operand input = draw(from);
      Operand output = draw(to);
      const DML_CAST_OPERATOR_DESC desc{&input.tensor.desc, &output.tensor.desc};
      ASSERT_NO_FATAL_FAILURE(compare("CAST", DML_OPERATOR_CAST, &desc, {&input}, output));
    }
  }
}

TEST_F(TypedOperators, ComparesAndChooses) {
  for (const auto type : kTypes) {
    Operand a = draw(type);
    Operand b = draw(type);
    std::copy_n(a.bytes.begin(), a.bytes.size() / 2, b.bytes.begin());
    if (type != DML_TENSOR_DATA_TYPE_FLOAT64) {  // DirectML does not compare FLOAT64
      for (const auto truth : {DML_TENSOR_DATA_TYPE_UINT8, DML_TENSOR_DATA_TYPE_UINT32}) {
        Operand output = draw(truth);
        const DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC desc{&a.tensor.desc, &b.tensor.desc, &output.tensor.desc};
        ASSERT_NO_FATAL_FAILURE(
            compare("ELEMENT_WISE_LOGICAL_EQUALS", DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS, &desc, {&a, &b}, output));
      }
    }
    Operand condition = draw(DML_TENSOR_DATA_TYPE_UINT8);
    Operand output = draw(type);
    const DML_ELEMENT_WISE_IF_OPERATOR_DESC desc{&condition.tensor.desc, &a.tensor.desc, &b.tensor.desc,
                                                 &output.tensor.desc};
    ASSERT_NO_FATAL_FAILURE(
        compare("ELEMENT_WISE_IF", DML_OPERATOR_ELEMENT_WISE_IF, &desc, {&condition, &a, &b}, output));
  }
}

TEST_F(TypedOperators, FillFromNothing) {
  for (const auto type : kTypes) {
    Operand output = draw(type);
    DML_SCALAR_UNION value{};
    anydml_attribute number = {"Value", ANYDML_FLOAT64, 0, {}};
    number.value.f64 = 3;
    switch (type) {
      case DML_TENSOR_DATA_TYPE_FLOAT32:
        value.Float32 = 3;
        break;
      case DML_TENSOR_DATA_TYPE_FLOAT16:
        value.UInt16 = 0x4200;
        break;
      case DML_TENSOR_DATA_TYPE_FLOAT64:
        value.Float64 = 3;
        break;
      default:
        value.UInt64 = 3;
    }
    const DML_FILL_VALUE_CONSTANT_OPERATOR_DESC desc{&output.tensor.desc, type, value};
    ASSERT_NO_FATAL_FAILURE(
        compare("FILL_VALUE_CONSTANT", DML_OPERATOR_FILL_VALUE_CONSTANT, &desc, {}, output, {number}));
  }
}

TEST_F(TypedOperators, RefuseTypesThatDoNotGoTogether) {
  Operand a = draw(DML_TENSOR_DATA_TYPE_FLOAT32);
  Operand b = draw(DML_TENSOR_DATA_TYPE_INT32);
  Operand truth = draw(DML_TENSOR_DATA_TYPE_UINT8);
  ComPtr<IDMLOperator> op;
  const DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC mixed{&a.tensor.desc, &b.tensor.desc, &truth.tensor.desc};
  EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS, &mixed, op), E_INVALIDARG);
  EXPECT_STREQ(anydml_last_error(),
               "IDMLDevice::CreateOperator: ELEMENT_WISE_LOGICAL_EQUALS: BTensor: type is INT32; expected FLOAT32, the "
               "type of ATensor");
  const DML_ELEMENT_WISE_LOGICAL_EQUALS_OPERATOR_DESC wide{&a.tensor.desc, &a.tensor.desc, &b.tensor.desc};
  EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_LOGICAL_EQUALS, &wide, op), E_INVALIDARG);
}

}  // namespace
}  // namespace anydml::test
