// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "facts/facts.h"
#include "facts/facts_tables.h"
#include "ops/elementwise/entries.h"

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

// Every name is known, including aliases, because programs and models may use any of the header's names.
TEST(Facts, KnowEveryEnumeratorOfTheHeader) {
  std::ifstream header(ANYDML_HEADER);
  ASSERT_TRUE(header);
  std::map<std::string, std::uint32_t> numbers;
  std::string enumeration;
  std::size_t operators = 0;
  std::size_t others = 0;
  const std::regex begin("enum (\\w+)");
  const std::regex value("    (\\w+) = (\\w+),?");
  std::smatch match;
  for (std::string line; std::getline(header, line);) {
    if (std::regex_match(line, match, begin)) {
      enumeration = match[1];
    }
    if (!std::regex_match(line, match, value)) {
      continue;
    }
    const std::string name = match[1];
    const std::string is = match[2];
    const bool alias = numbers.contains(is);
    numbers[name] = alias ? numbers[is] : static_cast<std::uint32_t>(std::stoul(is, nullptr, 0));
    if (enumeration == "DML_OPERATOR_TYPE" && name != "DML_OPERATOR_INVALID") {
      ++operators;
      for (const std::string& written : {name, name.substr(std::string_view("DML_OPERATOR_").size())}) {
        const facts::Operator* op = facts::find_operator(written);
        ASSERT_NE(op, nullptr) << written;
        EXPECT_EQ(op->value, numbers[name]) << written;
        EXPECT_EQ(!name.ends_with(op->name), alias) << written;
      }
    } else if (const facts::Enum* known = facts::find_enum(enumeration)) {
      ++others;
      EXPECT_EQ(facts::find_enum_value(*known, name), numbers[name]) << name;
    }
  }
  EXPECT_EQ(operators, facts::operators().size() + facts::operator_aliases().size());
  EXPECT_GT(others, 50U);
  EXPECT_EQ(facts::nearest_operator_name("SCATER"), "SCATTER");
}

TEST(Facts, AgreeWithTheElementTypes) {
  const facts::Enum* types = facts::find_enum("DML_TENSOR_DATA_TYPE");
  ASSERT_NE(types, nullptr);
  EXPECT_EQ(types->values.size(), 14U);
  for (const facts::EnumValue& type : types->values) {
    const auto known = static_cast<DataType>(type.value);
    const std::string_view name = type.name.substr(types->prefix.size());
    EXPECT_EQ(type_name(known), name);
    EXPECT_EQ(is_tensor_type(known), name != "UNKNOWN");
  }
}

TEST(Facts, NameTheirLevels) {
  EXPECT_EQ(std::size(facts::tables::kFeatureLevels), 15U);
  EXPECT_EQ(facts::level_name(FeatureLevel::v2_1), "2_1");
  EXPECT_EQ(facts::parse_level("6_4"), facts::kNewestLevel);
  EXPECT_EQ(facts::parse_level("7_0"), std::nullopt);
}

// The documented properties of the two modulus operators, read back from the table.
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
      EXPECT_EQ(facts::admitted(*op, field, FeatureLevel::v2_0), std::nullopt);
      const auto first = facts::admitted(*op, field, FeatureLevel::v2_1);
      ASSERT_TRUE(first);
      EXPECT_EQ(first->types, kEight);
      EXPECT_EQ(first->min_rank, 4);
      EXPECT_EQ(first->max_rank, 4);
      const auto middle = facts::admitted(*op, field, FeatureLevel::v5_2);
      ASSERT_TRUE(middle);
      EXPECT_EQ(middle->types, kEight);
      EXPECT_EQ(middle->min_rank, 1);
      EXPECT_EQ(middle->max_rank, 8);
      const auto last = facts::admitted(*op, field, FeatureLevel::v6_4);
      ASSERT_TRUE(last);
      EXPECT_EQ(last->types, kTen);
    }
  }
}

std::size_t field_of(const facts::Operator& op, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(op.fields, name, &facts::Field::name) - op.fields.begin());
}

TEST(Facts, AdmitWhatAnyFunctionOfReduceTakes) {
  const facts::Operator& reduce = *facts::find_operator("REDUCE");
  const auto input = facts::admitted(reduce, field_of(reduce, "InputTensor"), FeatureLevel::v2_1);
  ASSERT_TRUE(input);
  EXPECT_EQ(input->types, 0x1feU);  // ARGMIN supports all eight types, the other functions fewer
  const auto output = facts::admitted(reduce, field_of(reduce, "OutputTensor"), FeatureLevel::v2_0);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->types, 1U << 1 | 1U << 2 | 1U << 3);  // FLOAT32, FLOAT16; UINT32 for ARGMIN
  EXPECT_EQ(facts::admitted(reduce, field_of(reduce, "Function"), FeatureLevel::v6_4), std::nullopt);
}

TEST(Facts, AdmitTheFirstTableFromTheStartWhereItIsYounger) {
  const facts::Operator& top_k = *facts::find_operator("TOP_K");  // since 1_0, although its page begins with 2_0
  EXPECT_EQ(facts::admitted(top_k, 0, FeatureLevel::v1_0), facts::admitted(top_k, 0, FeatureLevel::v2_0));
}

TEST(Facts, OnlyEverAdmitMore) {
  for (const facts::Operator& op : facts::operators()) {
    for (std::size_t field = 0; field < op.fields.size(); ++field) {
      std::optional<facts::Admitted> before;
      for (const facts::FeatureLevelName& known : facts::tables::kFeatureLevels) {
        const auto now = facts::admitted(op, field, known.level);
        EXPECT_EQ(now.has_value(), known.level >= op.introduced && !facts::is_attribute(op.fields[field].kind));
        if (before && now) {
          EXPECT_EQ(before->types & ~now->types, 0U) << op.name << " " << op.fields[field].name << " " << known.name;
          EXPECT_LE(now->min_rank, before->min_rank) << op.name;
          EXPECT_GE(now->max_rank, before->max_rank) << op.name;
        }
        before = now;
      }
    }
  }
}

TEST(Facts, KnowWhatCountsAnArray) {
  const facts::Operator& join = *facts::find_operator("JOIN");
  EXPECT_EQ(join.fields[field_of(join, "InputTensors")].count_field, field_of(join, "InputCount"));
  const facts::Operator& convolution = *facts::find_operator("CONVOLUTION");
  EXPECT_EQ(convolution.fields[field_of(convolution, "Dilations")].count_field,
            field_of(convolution, "DimensionCount"));
  std::size_t arrays = 0;
  for (const facts::Operator& op : facts::operators()) {
    for (const facts::Field& field : op.fields) {
      if (field.count_field < 0) {
        EXPECT_FALSE(facts::is_array(field.kind)) << op.name << " " << field.name;
        continue;
      }
      ++arrays;
      EXPECT_EQ(op.fields[static_cast<std::size_t>(field.count_field)].spelling, "UINT")
          << op.name << " " << field.name;
      EXPECT_TRUE(field.spelling.starts_with("const ") && field.spelling.ends_with("*"))
          << op.name << " " << field.name;
    }
  }
  EXPECT_EQ(arrays, 114U);
}

TEST(Facts, KnowEveryEnumerationOfAField) {
  for (const facts::Operator& op : facts::operators()) {
    for (const facts::Field& field : op.fields) {
      const bool is_struct = field.spelling == "DML_SIZE_2D" || field.spelling == "DML_SCALAR_UNION";
      EXPECT_EQ(facts::find_enum(field.spelling) != nullptr, field.spelling.starts_with("DML_") && !is_struct)
          << op.name << " " << field.name << " " << field.spelling;
    }
  }
  for (const facts::Enum& known : facts::tables::kEnums) {
    std::set<std::string_view> names;
    for (const facts::EnumValue& value : known.values) {
      EXPECT_TRUE(value.name.starts_with(known.prefix)) << value.name;
      EXPECT_EQ(facts::find_enum_value(known, value.name), value.value);
      EXPECT_EQ(facts::find_enum_value(known, value.name.substr(known.prefix.size())), value.value);
      names.insert(value.name);
    }
    EXPECT_EQ(names.size(), known.values.size());
  }
}

TEST(Facts, FindAnEnumerationsValuesByEitherName) {
  const facts::Enum* mode = facts::find_enum("DML_INTERPOLATION_MODE");
  ASSERT_NE(mode, nullptr);
  EXPECT_FALSE(mode->flags);
  EXPECT_EQ(facts::find_enum_value(*mode, "LINEAR"), 1U);
  EXPECT_EQ(facts::find_enum_value(*mode, "DML_INTERPOLATION_MODE_LINEAR"), 1U);
  EXPECT_EQ(facts::find_enum_value(*mode, "linear"), std::nullopt);
  EXPECT_EQ(facts::find_enum_value(*mode, ""), std::nullopt);
  const facts::Enum* flags = facts::find_enum("DML_TENSOR_FLAGS");
  ASSERT_NE(flags, nullptr);
  EXPECT_TRUE(flags->flags);
  EXPECT_EQ(facts::find_enum_value(*flags, "OWNED_BY_DML"), 1U);
  EXPECT_EQ(facts::find_enum_value(*facts::find_enum("DML_EXECUTION_FLAGS"), "DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE"),
            4U);
  EXPECT_EQ(facts::find_enum("UINT"), nullptr);
}

TEST(Facts, KnowOperatorsForEveryWord) {
#define ANYDML_WORD(word, op) EXPECT_NE(facts::find_operator(#op), nullptr) << #word;
#include "facts/words.def"
}

TEST(Facts, FindTheNearestName) {
  EXPECT_EQ(facts::nearest_operator_name("ELEMENT_WISE_MODULUS_FLOR"), "ELEMENT_WISE_MODULUS_FLOOR");
  EXPECT_EQ(facts::nearest_operator_name("DML_OPERATOR_GEM"), "GEMM");
  EXPECT_EQ(facts::nearest_operator_name("MODULUS_FLOOR"), "ELEMENT_WISE_MODULUS_FLOOR");
  EXPECT_EQ(facts::nearest_operator_name("ADD"), "ELEMENT_WISE_ADD");
  EXPECT_EQ(facts::nearest_operator_name("element_wise_clip"), "ELEMENT_WISE_CLIP");
  EXPECT_EQ(facts::nearest_operator_name("matmul"), "GEMM");
  EXPECT_EQ(facts::nearest_operator_name("Max_Pool"), "MAX_POOLING");
  EXPECT_EQ(facts::nearest_operator_name("MODULO"), "ELEMENT_WISE_MODULUS_FLOOR");
  EXPECT_EQ(facts::nearest_operator_name(""), "");
  EXPECT_EQ(facts::nearest_operator_name("XYZZY"), "");
  EXPECT_EQ(facts::nearest_operator_name(std::string(100'000, 'x')), "");
}

TEST(Entries, AreBuiltOperatorsOrStepsOfOurOwn) {
  std::size_t built = 0;
  for (const facts::Operator& op : facts::operators()) {
    const Entry* entry = find_entry(op);
    if (entry == nullptr) {
      continue;
    }
    EXPECT_EQ(&anydml::entry(entry->id), entry);
    if (entry->facts == &op) {  // otherwise it is another name for the entry's operator
      ++built;
      EXPECT_EQ(entry->name, op.name);
    }
  }
  const auto internal = std::ranges::count(entries(), nullptr, &Entry::facts);
  EXPECT_EQ(built + static_cast<std::size_t>(internal), entries().size());
  std::printf("%zu of %zu operators have entries\n", built, facts::operators().size());
}

}  // namespace
}  // namespace anydml::test
