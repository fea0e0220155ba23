// SPDX-License-Identifier: MIT
// Tests the errors that a program receives from a device that lacks some operators or types, through the C API and
// through DirectML. The device comes from plugin/later_backend.cpp and is configured to lack PRODUCT, REDUCE, FLOAT64
// and INT4 (ANYDML_LATER_LACKS).
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "directml/harness.h"

namespace anydml::test {
namespace {

constexpr int64_t kFour[] = {2, 2};
constexpr int64_t kOne[] = {1, 1};

anydml_tensor tensor_of(anydml_type type, const int64_t* sizes, void* data) { return {type, 2, sizes, nullptr, data}; }

struct Failure {
  int code;
  std::string message;

  bool operator==(const Failure&) const = default;
};

Failure run(const char* op, anydml_type type, const std::vector<anydml_attribute>& attributes = {},
            std::size_t input_count = 1, const int64_t* out = kFour) {
  static double memory[3][4];
  const anydml_tensor inputs[] = {tensor_of(type, kFour, memory[0]), tensor_of(type, kFour, memory[1])};
  const anydml_tensor result = tensor_of(type, out, memory[2]);
  const int code = anydml_run(nullptr, op, inputs, input_count, &result, 1, attributes.data(), attributes.size());
  return {code, code == ANYDML_OK ? "" : anydml_last_error()};
}

anydml_attribute number(const char* name, double value) {
  anydml_attribute result{name, ANYDML_FLOAT64, 0, {}};
  result.value.f64 = value;
  return result;
}

TEST(Lacking, TheCApiNamesTheOperatorTheDeviceAndTheReason) {
  EXPECT_EQ(run("ELEMENT_WISE_ABS", ANYDML_FLOAT32), (Failure{ANYDML_OK, ""}));
  EXPECT_EQ(run("ELEMENT_WISE_ABS", ANYDML_FLOAT64),
            (Failure{ANYDML_UNSUPPORTED,
                     "ELEMENT_WISE_ABS: device later:0 lacks this operator: it was told to lack FLOAT64"}));
  const std::vector<anydml_attribute> product = {number("TransA", 0), number("TransB", 0), number("Alpha", 1),
                                                 number("Beta", 1)};
  EXPECT_EQ(run("GEMM", ANYDML_FLOAT32, product, 2),
            (Failure{ANYDML_UNSUPPORTED,
                     "GEMM: device later:0 lacks PRODUCT, a part of this operator: it was told to "
                     "lack it"}));
}

TEST(Lacking, AGraphNamesTheNode) {
  anydml_graph* graph = nullptr;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  const anydml_tensor square = tensor_of(ANYDML_FLOAT32, kFour, nullptr);
  const anydml_tensor sum = tensor_of(ANYDML_FLOAT32, kOne, nullptr);
  anydml_value x = 0;
  anydml_value absolute = 0;
  anydml_value reduced = 0;
  ASSERT_EQ(anydml_graph_add_input(graph, &square, &x), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_ABS", &x, 1, &square, 1, nullptr, 0, &absolute), ANYDML_OK);
  constexpr int64_t kAxes[] = {0, 1};
  anydml_attribute axes{"Axes", uint32_t{ANYDML_ARRAY} | uint32_t{ANYDML_INT64}, 2, {}};
  axes.value.i64s = kAxes;
  const anydml_attribute attributes[] = {number("Function", DML_REDUCE_FUNCTION_SUM), axes};
  ASSERT_EQ(anydml_graph_add_operator(graph, "REDUCE", &absolute, 1, &sum, 1, attributes, 2, &reduced), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, reduced), ANYDML_OK);
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_graph_compile(graph, nullptr, &compiled), ANYDML_UNSUPPORTED);
  EXPECT_STREQ(anydml_last_error(), "node 1 (REDUCE): device later:0 lacks this operator: it was told to lack it");
  EXPECT_EQ(compiled, nullptr);
  anydml_graph_release(graph);
}

TEST(Lacking, DirectMLRefusesToCompileAndNamesTheReason) {
  const Dml dml;
  const Tensor input(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 2, 2});
  const Tensor output(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, 1});
  constexpr UINT kAxes[] = {2, 3};
  const DML_REDUCE_OPERATOR_DESC desc{DML_REDUCE_FUNCTION_SUM, &input.desc, &output.desc, 2, kAxes};
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(dml.create_operator(DML_OPERATOR_REDUCE, &desc, op), S_OK);
  ComPtr<IDMLCompiledOperator> compiled;
  EXPECT_EQ(dml.device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
            static_cast<HRESULT>(0x887A0004));  // DXGI_ERROR_UNSUPPORTED
  EXPECT_STREQ(anydml_last_error(),
               "IDMLDevice::CompileOperator: REDUCE: device later:0 lacks this operator: it was told to lack it");
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK);
}

TEST(Lacking, DirectMLSaysWhichTypesTensorsMayHave) {
  const Dml dml;
  EXPECT_FALSE(dml.supports(DML_TENSOR_DATA_TYPE_FLOAT64));
  EXPECT_FALSE(dml.supports(DML_TENSOR_DATA_TYPE_INT4));
  for (const auto type : {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_DATA_TYPE_INT64,
                          DML_TENSOR_DATA_TYPE_UINT4}) {
    EXPECT_TRUE(dml.supports(type)) << type;
  }
}

}  // namespace
}  // namespace anydml::test
