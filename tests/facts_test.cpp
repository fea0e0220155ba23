// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ops/facts/facts.h"
#include "ops/facts/facts_tables.h"
#include "ops/rows.h"

namespace anydml::test {
namespace {

using facts::FeatureLevel;

TEST(Facts, HoldAllOperatorsOnce) {
  std::set<std::string_view> names;
  std::set<std::uint32_t> values;
  for (const facts::Operator& op : facts::operators()) {
    names.insert(op.name);
    values.insert(op.value);
    EXPECT_EQ(facts::find_operator(op.name), &op);
  }
  EXPECT_EQ(facts::operators().size(), 177U);
  EXPECT_EQ(names.size(), 177U);
  EXPECT_EQ(values.size(), 177U);
}

TEST(Facts, AgreeWithTheElementTypes) {
  for (const facts::DataTypeName& type : facts::tables::kDataTypes) {
    const auto known = static_cast<DataType>(type.value);
    if (is_element_type(known)) {
      EXPECT_EQ(type_name(known), type.name);
    } else {
      EXPECT_TRUE(type.name == "UNKNOWN" || type.name == "UINT4" || type.name == "INT4") << type.name;
    }
  }
}

TEST(Facts, NameTheirLevels) {
  EXPECT_EQ(std::size(facts::tables::kFeatureLevels), 15U);
  EXPECT_EQ(facts::level_name(FeatureLevel::v2_1), "2_1");
  EXPECT_EQ(facts::parse_level("6_4"), facts::kNewestLevel);
  EXPECT_EQ(facts::parse_level("7_0"), std::nullopt);
}

// What semantics and contract promise of the two operators, read back from the table.
TEST(Facts, KnowTheModulusOperators) {
  constexpr TypeSet kEight = 0x1fe;  // FLOAT32 to INT8
  constexpr TypeSet kTen = kEight | 1U << 10 | 1U << 11;
  for (const char* name : {"DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE"}) {
    const facts::Operator* op = facts::find_operator(name);
    ASSERT_NE(op, nullptr);
    EXPECT_EQ(op->introduced, FeatureLevel::v2_1);
    EXPECT_EQ(op->in_place, facts::InPlace::one_input);
    ASSERT_EQ(op->fields.size(), 3U);
    EXPECT_EQ(op->fields[2].name, "OutputTensor");
    EXPECT_EQ(op->fields[2].offset, 16U);
    EXPECT_EQ(op->same.size(), 3U);
    for (std::size_t field = 0; field < 3; ++field) {
      EXPECT_EQ(facts::find_support(*op, field, FeatureLevel::v2_0), nullptr);
      const facts::Support* first = facts::find_support(*op, field, FeatureLevel::v2_1);
      ASSERT_NE(first, nullptr);
      EXPECT_EQ(first->types, kEight);
      EXPECT_EQ(first->min_rank, 4);
      EXPECT_EQ(first->max_rank, 4);
      const facts::Support* middle = facts::find_support(*op, field, FeatureLevel::v5_2);
      EXPECT_EQ(middle->types, kEight);
      EXPECT_EQ(middle->min_rank, 1);
      EXPECT_EQ(middle->max_rank, 8);
      EXPECT_EQ(facts::find_support(*op, field, FeatureLevel::v6_4)->types, kTen);
    }
  }
}

TEST(Facts, FindTheNearestName) {
  EXPECT_EQ(facts::nearest_operator_name("ELEMENT_WISE_MODULUS_FLOR"), "ELEMENT_WISE_MODULUS_FLOOR");
  EXPECT_EQ(facts::nearest_operator_name("DML_OPERATOR_GEM"), "GEMM");
  EXPECT_EQ(facts::nearest_operator_name("MODULUS_FLOOR"), "ELEMENT_WISE_MODULUS_FLOOR");
  EXPECT_EQ(facts::nearest_operator_name("ADD"), "ELEMENT_WISE_ADD");
  EXPECT_EQ(facts::nearest_operator_name("element_wise_clip"), "ELEMENT_WISE_CLIP");
  EXPECT_EQ(facts::nearest_operator_name(""), "");
  EXPECT_EQ(facts::nearest_operator_name("XYZZY"), "");
  EXPECT_EQ(facts::nearest_operator_name(std::string(100'000, 'x')), "");
}

TEST(Rows, AreBuiltOperatorsOrStepsOfOurOwn) {
  std::size_t built = 0;
  for (const facts::Operator& op : facts::operators()) {
    const Row* row = find_row(op);
    if (row != nullptr) {
      ++built;
      EXPECT_EQ(row->facts, &op);
      EXPECT_EQ(row->name, op.name);
      EXPECT_EQ(&anydml::row(row->id), row);
    }
  }
  const auto internal = std::ranges::count(rows(), nullptr, &Row::facts);
  EXPECT_EQ(built + static_cast<std::size_t>(internal), rows().size());
  std::printf("%zu of %zu operators are built\n", built, facts::operators().size());
}

}  // namespace
}  // namespace anydml::test
