// SPDX-License-Identifier: MIT
// ONNX's schemas in the generated tables.
#include "onnx/schema/schema.h"

#include <gtest/gtest.h>

#include <climits>
#include <vector>

namespace anydml::onnx {

namespace {

const FormalAttribute* find(const Schema& schema, std::string_view name) {
  for (const FormalAttribute& attribute : schema.attributes) {
    if (attribute.name == name) {
      return &attribute;
    }
  }
  return nullptr;
}

TEST(OnnxSchema, FindsTheNewestVersionThatAnOpsetContains) {
  const std::vector<std::pair<int, int>> versions = {{1, 1}, {5, 1}, {6, 6}, {8, 6}, {9, 9}, {12, 9}, {13, 13}};
  for (const auto& [opset, since] : versions) {
    const Schema* schema = find_schema("Cast", opset);
    ASSERT_NE(schema, nullptr) << opset;
    EXPECT_EQ(schema->op, "Cast");
    EXPECT_EQ(schema->since, since) << opset;
  }
  EXPECT_EQ(find_schema("Cast", 0), nullptr);
  EXPECT_GE(newest_opset(), 22);
}

TEST(OnnxSchema, HasNoOperatorThatOnnxDoesNotHave) {
  for (const char* op : {"", "A", "Convx", "Con", "Zzz", "conv"}) {
    EXPECT_EQ(find_schema(op, newest_opset()), nullptr) << op;
  }
  EXPECT_EQ(find_schema("Mish", 17), nullptr);
  EXPECT_NE(find_schema("Mish", 18), nullptr);
  EXPECT_NE(find_schema("Xor", newest_opset()), nullptr);  // the last one of the table
  EXPECT_NE(find_schema("Abs", newest_opset()), nullptr);  // the first one
}

TEST(OnnxSchema, HasInputsAndOutputs) {
  const Schema* conv = find_schema("Conv", 11);
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->min_inputs, 2);
  EXPECT_EQ(conv->max_inputs, 3);
  EXPECT_EQ(conv->min_outputs, 1);
  EXPECT_EQ(conv->max_outputs, 1);
  ASSERT_EQ(conv->inputs.size(), 3U);
  EXPECT_EQ(conv->inputs[0].name, "X");
  EXPECT_EQ(conv->inputs[0].type_variable, "T");
  EXPECT_EQ(conv->inputs[0].presence, Presence::kSingle);
  EXPECT_EQ(conv->inputs[0].kinds, kFloatKinds);
  EXPECT_EQ(conv->inputs[2].name, "B");
  EXPECT_EQ(conv->inputs[2].presence, Presence::kOptional);
  const Schema* concat = find_schema("Concat", 13);
  ASSERT_NE(concat, nullptr);
  EXPECT_EQ(concat->max_inputs, INT_MAX);
  EXPECT_EQ(concat->inputs[0].presence, Presence::kVariadic);
  EXPECT_TRUE(concat->inputs[0].is_homogeneous);
  const Schema* loop = find_schema("Loop", 13);
  ASSERT_NE(loop, nullptr);
  EXPECT_FALSE(loop->inputs[2].is_homogeneous);
  EXPECT_FALSE(find_schema("Upsample", 9)->is_deprecated);
  EXPECT_TRUE(find_schema("Upsample", 10)->is_deprecated);
}

TEST(OnnxSchema, HasAttributesWithDefaults) {
  const Schema* conv = find_schema("Conv", 11);
  ASSERT_EQ(conv->attributes.size(), 6U);
  EXPECT_EQ(find(*conv, "auto_pad")->text, "NOTSET");
  EXPECT_EQ(find(*conv, "group")->integer, 1);
  EXPECT_TRUE(find(*conv, "group")->has_default);
  EXPECT_FALSE(find(*conv, "pads")->has_default);
  EXPECT_EQ(attribute_type_name(find(*conv, "pads")->type), "INTS");
  EXPECT_EQ(find(*find_schema("LeakyRelu", 16), "alpha")->number, static_cast<double>(0.01F));
  EXPECT_TRUE(find(*find_schema("Cast", 13), "to")->is_required);
  EXPECT_EQ(attribute_type_name(find(*find_schema("Cast", 1), "to")->type), "STRING");
  const FormalAttribute* axes = find(*find_schema("MeanVarianceNormalization", 13), "axes");
  EXPECT_EQ(std::vector<std::int64_t>(axes->integers.begin(), axes->integers.end()),
            (std::vector<std::int64_t>{0, 2, 3}));
  const FormalAttribute* activations = find(*find_schema("RNN", 14), "activations");
  ASSERT_EQ(activations->texts.size(), 2U);
  EXPECT_EQ(activations->texts[1], "Tanh");
}

TEST(OnnxSchema, NamesTypesOfAttributes) {
  EXPECT_EQ(attribute_type_name(0), "UNDEFINED");
  EXPECT_EQ(attribute_type_name(14), "TYPE_PROTOS");
  EXPECT_EQ(attribute_type_name(15), "15");
  EXPECT_EQ(attribute_type_name(-1), "-1");
}

}  // namespace

}  // namespace anydml::onnx
