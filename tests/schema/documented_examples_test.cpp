// SPDX-License-Identifier: MIT
// Checks the tensors of the examples in DirectML's own documentation, and shapes that it names, against the facts. An
// example that the documentation uses must not be rejected here. Where an example mistakenly breaks its page's own
// rules, the expected message names the violation.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "schema/check.h"
#include "schema/tensor_rules.h"

namespace anydml::test {
namespace {

constexpr std::uint32_t kF32 = static_cast<std::uint32_t>(DataType::FLOAT32);
constexpr std::uint32_t kU32 = static_cast<std::uint32_t>(DataType::UINT32);
constexpr std::uint32_t kI32 = static_cast<std::uint32_t>(DataType::INT32);
constexpr std::uint32_t kU8 = static_cast<std::uint32_t>(DataType::UINT8);

struct ShownTensor {
  std::string_view field;
  std::uint32_t type;
  std::vector<std::uint32_t> sizes;
};

struct Example {
  std::string_view op;
  std::vector<ShownTensor> tensors;
  std::string_view slip = {};  // the message for the page's mistake
};

const Example kExamples[] = {
    {"FOLD", {{"InputTensor", kF32, {1, 9, 4}}, {"OutputTensor", kF32, {1, 1, 4, 4}}}},
    {"FOLD", {{"InputTensor", kF32, {1, 9, 8}}, {"OutputTensor", kF32, {1, 1, 4, 4}}}},
    {"FOLD", {{"InputTensor", kF32, {1, 18, 8}}, {"OutputTensor", kF32, {1, 2, 4, 4}}}},
    {"FOLD", {{"InputTensor", kF32, {2, 64, 1}}, {"OutputTensor", kF32, {2, 1, 2, 2, 2, 2, 2, 2}}}},  // six spatial
    {"UNFOLD", {{"InputTensor", kF32, {1, 1, 5, 5}}, {"OutputTensor", kF32, {1, 9, 9}}}},
    {"UNFOLD", {{"InputTensor", kF32, {1, 1, 5, 5}}, {"OutputTensor", kF32, {1, 9, 15}}}},
    {"UNFOLD", {{"InputTensor", kF32, {1, 1, 5}}, {"OutputTensor", kF32, {1, 3, 3}}}},
    {"GATHER", {{"InputTensor", kF32, {4}}, {"IndicesTensor", kU32, {5}}, {"OutputTensor", kF32, {5}}}},
    {"GATHER", {{"InputTensor", kF32, {3, 2}}, {"IndicesTensor", kU32, {1, 4}}, {"OutputTensor", kF32, {4, 2}}}},
    {"GATHER", {{"InputTensor", kF32, {3, 2}}, {"IndicesTensor", kU32, {1, 2}}, {"OutputTensor", kF32, {3, 2}}}},
    {"GATHER",
     {{"InputTensor", kF32, {1, 3, 3}}, {"IndicesTensor", kU32, {1, 1, 2}}, {"OutputTensor", kF32, {3, 1, 2}}}},
    {"GATHER",
     {{"InputTensor", kF32, {1, 3, 2}}, {"IndicesTensor", kU32, {1, 2, 2}}, {"OutputTensor", kF32, {2, 2, 2}}}},
    {"GATHER_ELEMENTS",
     {{"InputTensor", kF32, {3, 3}}, {"IndicesTensor", kU32, {2, 3}}, {"OutputTensor", kU32, {2, 3}}},
     "OutputTensor: type is UINT32; expected FLOAT32, the type of InputTensor"},
    {"GATHER_ND", {{"InputTensor", kF32, {2, 2}}, {"IndicesTensor", kU32, {2, 1}}, {"OutputTensor", kF32, {2, 2}}}},
    {"GATHER_ND",
     {{"InputTensor", kF32, {1, 2, 2, 2}},
      {"IndicesTensor", kU32, {1, 1, 2, 2}},
      {"OutputTensor", kF32, {1, 1, 2, 2}}}},
    {"GATHER_ND",
     {{"InputTensor", kF32, {3, 4, 5, 6, 7}},
      {"IndicesTensor", kU32, {1, 1, 1, 2, 3}},
      {"OutputTensor", kF32, {1, 1, 2, 6, 7}}}},
    {"GATHER_ND1",
     {{"InputTensor", kF32, {1, 3, 2, 2}},
      {"IndicesTensor", kU32, {1, 3, 2, 2}},
      {"OutputTensor", kF32, {1, 1, 3, 2}}}},
    {"SCATTER",
     {{"InputTensor", kF32, {5}},
      {"IndicesTensor", kU32, {4}},
      {"UpdatesTensor", kF32, {4}},
      {"OutputTensor", kF32, {5}}}},
    {"SCATTER",  // the example's values are 3 by 3
     {{"InputTensor", kF32, {2, 3}},
      {"IndicesTensor", kU32, {2, 3}},
      {"UpdatesTensor", kF32, {2, 3}},
      {"OutputTensor", kF32, {3, 3}}},
     "InputTensor: sizes are [2, 3]; expected exactly [3, 3], the sizes of OutputTensor"},
    {"SCATTER_ND",  // the field descriptions require equal counts, and indices are integers everywhere else
     {{"InputTensor", kF32, {8}},
      {"IndicesTensor", kF32, {4, 1}},
      {"UpdatesTensor", kF32, {4}},
      {"OutputTensor", kF32, {8}}},
     "IndicesTensor: DataType is FLOAT32; expected UINT32, INT32, UINT64, INT64 at feature level 6_4"},
    {"SCATTER_ND",
     {{"InputTensor", kF32, {3, 4, 5, 6, 7}},
      {"IndicesTensor", kU32, {1, 1, 1, 2, 3}},
      {"UpdatesTensor", kF32, {1, 1, 2, 6, 7}},
      {"OutputTensor", kF32, {3, 4, 5, 6, 7}}}},
    {"ONE_HOT",
     {{"IndicesTensor", kU32, {1, 1, 3, 1}},
      {"ValuesTensor", kF32, {1, 1, 1, 2}},
      {"OutputTensor", kF32, {1, 1, 3, 4}}}},
    {"ONE_HOT",
     {{"IndicesTensor", kU32, {1, 1, 1, 4}},
      {"ValuesTensor", kF32, {1, 1, 1, 2}},
      {"OutputTensor", kF32, {1, 1, 3, 4}}}},
    {"ONE_HOT",
     {{"IndicesTensor", kI32, {1, 1, 3, 1}},
      {"ValuesTensor", kF32, {1, 1, 3, 1}},
      {"OutputTensor", kF32, {1, 1, 3, 4}}}},
    {"NONZERO_COORDINATES",
     {{"InputTensor", kF32, {1, 1, 2, 4}},
      {"OutputCountTensor", kU32, {1, 1, 1, 1}},
      {"OutputCoordinatesTensor", kU32, {1, 1, 8, 3}}}},
    {"NONZERO_COORDINATES",
     {{"InputTensor", kF32, {1, 1, 12, 5}},
      {"OutputCountTensor", kU32, {1, 1, 1, 1}},
      {"OutputCoordinatesTensor", kU32, {1, 1, 60, 2}}}},
    {"REDUCE", {{"InputTensor", kF32, {3, 3}}, {"OutputTensor", kF32, {1, 3}}}},
    {"REDUCE", {{"InputTensor", kF32, {3, 3}}, {"OutputTensor", kF32, {1, 1}}}},
    {"ARGMAX", {{"InputTensor", kF32, {3, 3}}, {"OutputTensor", kU32, {3, 1}}}},
    {"ARGMIN", {{"InputTensor", kF32, {3, 3}}, {"OutputTensor", kU32, {1, 1}}}},
    {"TOP_K",
     {{"InputTensor", kF32, {1, 1, 3, 4}},
      {"OutputValueTensor", kF32, {1, 1, 3, 2}},
      {"OutputIndexTensor", kU32, {1, 1, 3, 2}}}},
    {"TOP_K1",
     {{"InputTensor", kF32, {1, 1, 3, 4}},
      {"OutputValueTensor", kF32, {1, 1, 2, 4}},
      {"OutputIndexTensor", kU32, {1, 1, 2, 4}}}},
    {"SLICE", {{"InputTensor", kF32, {1, 1, 4, 4}}, {"OutputTensor", kF32, {1, 1, 3, 2}}}},
    {"SLICE1", {{"InputTensor", kF32, {1, 1, 4, 4}}, {"OutputTensor", kF32, {1, 1, 2, 2}}}},
    {"SLICE_GRAD", {{"InputGradientTensor", kF32, {2, 2}}, {"OutputGradientTensor", kF32, {4, 4}}}},
    {"DIAGONAL_MATRIX", {{"OutputTensor", kF32, {1, 1, 3, 2}}}},
    {"DIAGONAL_MATRIX1", {{"OutputTensor", kF32, {4, 5}}}},
    {"DIAGONAL_MATRIX1", {{"InputTensor", kF32, {4, 5}}, {"OutputTensor", kF32, {4, 5}}}},
    {"FILL_VALUE_SEQUENCE", {{"OutputTensor", kF32, {1, 1, 1, 3}}}},
    {"FILL_VALUE_SEQUENCE", {{"OutputTensor", kU8, {1, 1, 2, 2}}}},
    {"REVERSE_SUBSEQUENCES",
     {{"InputTensor", kF32, {1, 1, 3, 4}},
      {"SequenceLengthsTensor", kU32, {1, 1, 3, 1}},
      {"OutputTensor", kF32, {1, 1, 3, 4}}}},
    {"SPACE_TO_DEPTH1", {{"InputTensor", kU32, {1, 2, 4, 6}}, {"OutputTensor", kU32, {1, 8, 2, 3}}}},
    {"DEPTH_TO_SPACE1", {{"InputTensor", kU32, {1, 8, 2, 3}}, {"OutputTensor", kU32, {1, 2, 4, 6}}}},
    {"TILE", {{"InputTensor", kF32, {1, 1, 2, 3}}, {"OutputTensor", kF32, {1, 1, 6, 9}}}},
    {"SPLIT",
     {{"InputTensor", kF32, {1, 1, 6, 2}},
      {"OutputTensors", kF32, {1, 1, 2, 2}},
      {"OutputTensors", kF32, {1, 1, 1, 2}},
      {"OutputTensors", kF32, {1, 1, 3, 2}}}},
    {"JOIN",
     {{"InputTensors", kF32, {1, 1, 2, 3}},
      {"InputTensors", kF32, {1, 1, 2, 4}},
      {"OutputTensor", kF32, {1, 1, 2, 7}}}},
    {"PADDING", {{"InputTensor", kF32, {1, 1, 4, 4}}, {"OutputTensor", kF32, {1, 1, 8, 10}}}},
    {"CUMULATIVE_SUMMATION", {{"InputTensor", kF32, {1, 1, 3, 4}}, {"OutputTensor", kF32, {1, 1, 3, 4}}}},
    {"CUMULATIVE_PRODUCT", {{"InputTensor", kF32, {1, 1, 3, 4}}, {"OutputTensor", kF32, {1, 1, 3, 4}}}},
    {"ACTIVATION_HARDMAX1", {{"InputTensor", kF32, {2, 2, 2}}, {"OutputTensor", kF32, {2, 2, 2}}}},
    {"ELEMENT_WISE_BIT_NOT", {{"InputTensor", kU8, {2, 2}}, {"OutputTensor", kU8, {2, 2}}}},
    {"RANDOM_GENERATOR",
     {{"InputStateTensor", kU32, {1, 1, 1, 6}},
      {"OutputTensor", kU32, {1, 1, 3, 4}},
      {"OutputStateTensor", kU32, {1, 1, 1, 6}}}},
    // Shapes named in the field descriptions.
    {"ROI_ALIGN1",
     {{"InputTensor", kF32, {1, 3, 8, 8}},
      {"ROITensor", kF32, {5, 4}},
      {"BatchIndicesTensor", kU32, {5}},
      {"OutputTensor", kF32, {5, 3, 2, 2}}}},
    {"ROI_ALIGN1",
     {{"InputTensor", kF32, {1, 3, 8, 8}},
      {"ROITensor", kF32, {1, 1, 5, 4}},
      {"BatchIndicesTensor", kU32, {1, 1, 1, 5}},
      {"OutputTensor", kF32, {5, 3, 2, 2}}}},
    {"MULTIHEAD_ATTENTION",
     {{"QueryTensor", kF32, {2, 3, 8}},
      {"KeyTensor", kF32, {2, 4, 8}},
      {"ValueTensor", kF32, {2, 4, 8}},
      {"BiasTensor", kF32, {24}},
      {"MaskTensor", kI32, {8}},
      {"OutputTensor", kF32, {2, 3, 8}}}},
    {"MULTIHEAD_ATTENTION", {{"StackedQueryKeyValueTensor", kF32, {2, 3, 2, 3, 4}}, {"OutputTensor", kF32, {2, 3, 8}}}},
};

TEST(DocumentedExamples, AreTakenAtTheNewestLevel) {
  for (const Example& example : kExamples) {
    const facts::Operator* op = facts::find_operator(example.op);
    ASSERT_NE(op, nullptr) << example.op;
    schema::Described given(*op);
    for (const ShownTensor& tensor : example.tensors) {
      const auto field = std::ranges::find(op->fields, tensor.field, &facts::Field::name);
      ASSERT_NE(field, op->fields.end()) << example.op << " " << tensor.field;
      schema::Argument& argument = given.arguments[static_cast<std::size_t>(field - op->fields.begin())];
      argument.present = true;
      argument.tensors.push_back({.type = tensor.type, .rank = static_cast<std::uint32_t>(tensor.sizes.size())});
      std::ranges::copy(tensor.sizes, argument.tensors.back().sizes);
      argument.tensors.back().total_bytes =
          implied_bytes(tensor.type, std::span<const std::uint32_t>(tensor.sizes), nullptr).value_or(0);
    }
    const auto violations = check_operator(given, facts::kNewestLevel);
    std::string first;
    if (!violations.empty()) {
      first = location_name(*op, violations.front().location) + ": " + violations.front().reason;
    }
    if (example.slip.empty()) {
      EXPECT_EQ(first, "") << example.op;
    } else {
      EXPECT_TRUE(first.starts_with(example.slip)) << example.op << ": " << first;
    }
  }
}

}  // namespace
}  // namespace anydml::test
