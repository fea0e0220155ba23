// SPDX-License-Identifier: MIT
// Tests that the library's descriptions of its operators are sufficient to call them, and that calls accept exactly
// this.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

std::string text_of(const anydml_operator_info& op) {
  std::string text = op.name;
  for (std::size_t i = 0; i < op.tensor_count; ++i) {
    const anydml_tensor_info& tensor = *op.tensors[i];
    text += std::string(i == 0 ? ": " : ", ") + (tensor.is_output != 0 ? "out " : "in ") + tensor.name +
            (tensor.is_optional != 0 ? "?" : "") + (tensor.is_array != 0 ? "[]" : "");
  }
  for (std::size_t i = 0; i < op.attribute_count; ++i) {
    const anydml_attribute_info& attribute = *op.attributes[i];
    const uint32_t type = attribute.type & ~uint32_t{ANYDML_ARRAY};
    text += std::string(i == 0 ? "; " : ", ") + attribute.name + (attribute.is_optional != 0 ? "?" : "") + " " +
            (type == ANYDML_TEXT       ? attribute.spelling
             : type == ANYDML_OPERATOR ? "operator"
                                       : anydml_type_name(type)) +
            ((attribute.type & ANYDML_ARRAY) != 0
                 ? "[" + (attribute.count != 0 ? std::to_string(attribute.count) : "") + "]"
                 : "") +
            (attribute.is_boolean != 0 ? " bool" : "");
  }
  return text;
}

std::string text_of(const char* name) {
  const anydml_operator_info* info = anydml_find_operator(name);
  return info != nullptr ? text_of(*info) : anydml_last_error();
}

TEST(OperatorInfo, SaysWhatAnOperatorTakes) {
  EXPECT_EQ(text_of("ELEMENT_WISE_ADD"), "ELEMENT_WISE_ADD: in ATensor, in BTensor, out OutputTensor");
  EXPECT_EQ(text_of("DML_OPERATOR_ELEMENT_WISE_CLIP"),
            "ELEMENT_WISE_CLIP: in InputTensor, out OutputTensor; Scale? FLOAT64, Bias? FLOAT64, Min FLOAT64, Max "
            "FLOAT64");
  EXPECT_EQ(text_of("ELEMENT_WISE_QUANTIZE_LINEAR"),
            "ELEMENT_WISE_QUANTIZE_LINEAR: in InputTensor, in ScaleTensor, in ZeroPointTensor?, out OutputTensor");
  EXPECT_EQ(text_of("REDUCE"), "REDUCE: in InputTensor, out OutputTensor; Function DML_REDUCE_FUNCTION, Axes UINT64[]");
  EXPECT_EQ(text_of("FILL_VALUE_CONSTANT"),
            "FILL_VALUE_CONSTANT: out OutputTensor; ValueDataType? DML_TENSOR_DATA_TYPE, Value FLOAT64");
  EXPECT_EQ(text_of("JOIN"), "JOIN: in InputTensors[], out OutputTensor; Axis UINT64");
  EXPECT_EQ(text_of("GEMM"),
            "GEMM: in ATensor, in BTensor, in CTensor?, out OutputTensor; TransA DML_MATRIX_TRANSFORM, TransB "
            "DML_MATRIX_TRANSFORM, Alpha FLOAT64, Beta FLOAT64, FusedActivation? operator");
}

TEST(OperatorInfo, NamesTheValuesOfAnEnumeration) {
  const anydml_operator_info& reduce = *anydml_find_operator("REDUCE");
  const anydml_attribute_info& function = *reduce.attributes[0];
  ASSERT_GT(function.enumerator_count, 9U);
  EXPECT_EQ(function.is_flags, 0);
  bool found = false;
  for (std::size_t i = 0; i < function.enumerator_count; ++i) {
    found = found || (std::strcmp(function.enumerators[i]->name, "SUM") == 0 && function.enumerators[i]->value == 10);
  }
  EXPECT_TRUE(found);
}

// Checks all operators, implemented or not, by index and by name.
TEST(OperatorInfo, IsWholeForEveryOperator) {
  for (std::size_t i = 0; i < anydml_operator_count(); ++i) {
    const anydml_operator_info* const info = anydml_operator_at(i);
    ASSERT_NE(info, nullptr);
    SCOPED_TRACE(info->name);
    EXPECT_EQ(anydml_find_operator(info->name), info);
    uint32_t inputs = 0;
    uint32_t outputs = 0;
    for (std::size_t t = 0; t < info->tensor_count; ++t) {
      const anydml_tensor_info& tensor = *info->tensors[t];
      (tensor.is_output != 0 ? outputs : inputs) += 1;
      EXPECT_STRNE(tensor.name, "");
      EXPECT_EQ(tensor.types != 0, info->is_built != 0) << tensor.name;
    }
    EXPECT_EQ(outputs, info->output_count);
    EXPECT_GT(outputs, 0U);
    EXPECT_EQ(info->input_count, info->is_built != 0 ? inputs : 0U);
    for (std::size_t a = 0; a < info->attribute_count; ++a) {
      const anydml_attribute_info& attribute = *info->attributes[a];
      const uint32_t type = attribute.type & ~uint32_t{ANYDML_ARRAY};
      EXPECT_TRUE(type == ANYDML_FLOAT64 || type == ANYDML_INT64 || type == ANYDML_UINT64 || type == ANYDML_TEXT ||
                  type == ANYDML_OPERATOR)
          << attribute.name;
      EXPECT_EQ(type == ANYDML_TEXT, attribute.enumerator_count != 0) << attribute.name;
      EXPECT_STRNE(attribute.spelling, "");
      for (std::size_t e = 0; e < attribute.enumerator_count; ++e) {
        EXPECT_EQ(std::string(attribute.enumerators[e]->name).find("DML_"), std::string::npos);
      }
    }
  }
}

// A missing required attribute is reported by name, and attributes of the described types are accepted.
TEST(OperatorInfo, AgreesWithWhatCallsAccept) {
  float data[4] = {1, 2, 3, 4};
  const int64_t sizes[] = {4};
  for (std::size_t i = 0; i < anydml_operator_count(); ++i) {
    const anydml_operator_info& info = *anydml_operator_at(i);
    if (info.is_built == 0) {
      continue;
    }
    SCOPED_TRACE(info.name);
    std::vector<anydml_tensor> inputs;
    std::vector<anydml_tensor> outputs;
    for (std::size_t t = 0; t < info.tensor_count; ++t) {
      (info.tensors[t]->is_output != 0 ? outputs : inputs).push_back({ANYDML_FLOAT32, 1, sizes, nullptr, data});
    }
    const uint64_t zeros[8] = {};
    anydml_operator relu = {"ACTIVATION_RELU", nullptr, 0};
    std::vector<anydml_attribute> given;
    for (std::size_t a = 0; a < info.attribute_count; ++a) {
      const anydml_attribute_info& attribute = *info.attributes[a];
      if (attribute.is_optional != 0) {
        continue;
      }
      // This attribute has not been set yet.
      anydml_compiled* compiled = nullptr;
      EXPECT_EQ(anydml_compile(nullptr, info.name, inputs.data(), inputs.size(), outputs.data(), outputs.size(),
                               given.data(), given.size(), &compiled),
                ANYDML_INVALID_ARGUMENT);
      EXPECT_NE(std::string(anydml_last_error()).find(std::string("attribute ") + attribute.name + " is missing"),
                std::string::npos)
          << anydml_last_error();
      anydml_attribute result = {attribute.name, attribute.type, 0, {}};
      if ((attribute.type & ANYDML_ARRAY) != 0) {
        result.count = attribute.count != 0 ? attribute.count : 1;
        result.value.u64s = zeros;
        if (attribute.type == (uint32_t{ANYDML_OPERATOR} | ANYDML_ARRAY)) {
          result.value.operators = &relu;
        }
      } else if (attribute.type == ANYDML_TEXT) {
        result.value.text = attribute.enumerators[0]->name;
      } else if (attribute.type == ANYDML_OPERATOR) {
        result.value.operators = &relu;
      }
      given.push_back(result);
    }
    // Any remaining error concerns neither the number of tensors nor the form of an attribute.
    anydml_compiled* compiled = nullptr;
    if (anydml_compile(nullptr, info.name, inputs.data(), inputs.size(), outputs.data(), outputs.size(), given.data(),
                       given.size(), &compiled) != ANYDML_OK) {
      const std::string message = anydml_last_error();
      EXPECT_EQ(message.find("is missing"), std::string::npos) << message;
      EXPECT_EQ(message.find("the number of"), std::string::npos) << message;
      EXPECT_EQ(message.find(": type is 0x"), std::string::npos) << message;
    }
    anydml_compiled_release(compiled);
  }
}

}  // namespace
