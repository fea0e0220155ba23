// SPDX-License-Identifier: MIT
// What the C API can say besides tensors of the usual kind: constants, numbers of any kind, names, arrays, operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "anydml/anydml.h"

namespace {

const int64_t kSizes[] = {5};

anydml_tensor floats(std::vector<float>& data) { return {ANYDML_FLOAT32, 1, kSizes, nullptr, data.data()}; }

TEST(Constants, AreReadWhenTheOperatorIsCompiled) {
  std::vector<float> a = {7, -7, 7, -7, 1};
  std::vector<float> b = {3, 3, -3, -3, 1};
  std::vector<float> out(5);
  anydml_tensor inputs[] = {floats(a), floats(b)};
  inputs[1].type |= ANYDML_CONSTANT;
  const anydml_tensor output = floats(out);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &output, 1, nullptr, 0, &compiled),
            ANYDML_OK)
      << anydml_last_error();
  std::fill(b.begin(), b.end(), 0.0F);  // it is not looked at again
  const void* given[] = {a.data(), nullptr};
  void* results[] = {out.data()};
  ASSERT_EQ(anydml_compiled_run(compiled, given, 2, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, (std::vector<float>{1, 2, -2, -1, 0}));
  results[0] = a.data();  // in place
  ASSERT_EQ(anydml_compiled_run(compiled, given, 2, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(a, (std::vector<float>{1, 2, -2, -1, 0}));
  anydml_compiled_release(compiled);
}

TEST(Constants, WithStridesKeepTheirLayout) {
  std::vector<float> a = {1, 2, 3, 4, 5};
  std::vector<float> b = {9, 0, 8, 0, 7, 0, 6, 0, 5};
  std::vector<float> out(5);
  anydml_tensor inputs[] = {floats(a), {ANYDML_FLOAT32 | ANYDML_CONSTANT, 1, kSizes, nullptr, &b[8]}};
  const int64_t back[] = {-2};
  inputs[1].strides = back;
  const anydml_tensor output = floats(out);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &output, 1, nullptr, 0, &compiled), ANYDML_OK)
      << anydml_last_error();
  const void* given[] = {a.data(), nullptr};
  void* results[] = {out.data()};
  ASSERT_EQ(anydml_compiled_run(compiled, given, 2, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, (std::vector<float>{6, 8, 10, 12, 14}));
  anydml_compiled_release(compiled);
}

TEST(Constants, NeedDataAndAreInputs) {
  std::vector<float> a(5);
  anydml_tensor inputs[] = {floats(a), floats(a)};
  inputs[1].type |= ANYDML_CONSTANT;
  inputs[1].data = nullptr;
  anydml_tensor output = floats(a);
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &output, 1, nullptr, 0, &compiled),
            ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "ELEMENT_WISE_ADD: BTensor: data is null; expected the data of a constant");
  EXPECT_EQ(compiled, nullptr);
  inputs[1] = floats(a);
  output.type |= ANYDML_CONSTANT;
  EXPECT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &output, 1, nullptr, 0, &compiled),
            ANYDML_INVALID_ARGUMENT);
}

TEST(Fill, TakesNoInput) {
  std::vector<float> out(5);
  const anydml_tensor output = floats(out);
  anydml_attribute value = {"Value", ANYDML_INT64, 0, {}};
  value.value.i64 = -3;
  ASSERT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, &value, 1), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(out, std::vector<float>(5, -3.0F));
  // The type beside it may be given too, as a number or by name.
  anydml_attribute both[] = {value, {"ValueDataType", ANYDML_TEXT, 0, {}}};
  both[1].value.text = "FLOAT32";
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, both, 2), ANYDML_OK)
      << anydml_last_error();
  both[1].value.text = "FLOAT33";
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, both, 2), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "FILL_VALUE_CONSTANT: attribute ValueDataType: is 'FLOAT33'; expected the name of a value of "
               "DML_TENSOR_DATA_TYPE");
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "FILL_VALUE_CONSTANT: attribute Value is missing; the operator takes ValueDataType, Value");
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", &output, 1, &output, 1, &value, 1), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "FILL_VALUE_CONSTANT: the number of input tensors is 1; expected 0");
}

}  // namespace
