// SPDX-License-Identifier: MIT
// Reads the desc structs of every operator, using layouts from the facts. Reading must return the written values and
// reject a struct that cannot be read safely.
#include "directml/read_desc.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "schema/check.h"
#include "support/described_text.h"
#include "support/rule_samples.h"
#include "support/written_desc.h"

namespace anydml::test {
namespace {

using facts::FieldType;
using schema::Argument;
using schema::Described;
using schema::GivenTensor;

void expect_same(const Described& read, const Described& written) {
  ASSERT_EQ(read.op, written.op);
  for (std::size_t i = 0; i < read.arguments.size(); ++i) {
    const Argument& a = read.arguments[i];
    const Argument& b = written.arguments[i];
    SCOPED_TRACE(read.op->fields[i].name);
    EXPECT_EQ(a.present, b.present);
    ASSERT_EQ(a.numbers.size(), b.numbers.size());
    for (std::size_t k = 0; k < a.numbers.size(); ++k) {
      EXPECT_EQ(a.numbers[k].as<f64>(), static_cast<f64>(b.numbers[k].as<f32>()));
    }
    ASSERT_EQ(a.tensors.size(), b.tensors.size());
    for (std::size_t k = 0; k < a.tensors.size(); ++k) {
      EXPECT_EQ(a.tensors[k].type, b.tensors[k].type);
      EXPECT_EQ(a.tensors[k].rank, b.tensors[k].rank);
      EXPECT_EQ(a.tensors[k].total_bytes, b.tensors[k].total_bytes);
      EXPECT_FALSE(a.tensors[k].has_strides);
      EXPECT_TRUE(std::ranges::equal(a.tensors[k].sizes, b.tensors[k].sizes));
    }
    ASSERT_EQ(a.operators.size(), b.operators.size());
    for (std::size_t k = 0; k < a.operators.size(); ++k) {
      expect_same(a.operators[k], b.operators[k]);
    }
  }
}

TEST(ReadDesc, ReadsWhatWasWritten) {
  for (const std::string_view text : kRightOperators) {
    SCOPED_TRACE(text);
    const Described described = parse_described(text);
    const WrittenDesc written(described);
    const auto read = read_described(written.get(), *described.op);
    ASSERT_TRUE(read.ok()) << read.error().message;
    expect_same(read.value(), described);
    EXPECT_TRUE(check_operator(read.value(), facts::kNewestLevel).empty());
  }
}

TEST(ReadDesc, TakesStructsOfZerosOfEveryOperator) {
  for (const facts::Operator& op : facts::operators()) {
    const std::vector<u64> zeros(op.desc_size / sizeof(u64) + 1);
    const DML_OPERATOR_DESC desc{static_cast<DML_OPERATOR_TYPE>(op.value), zeros.data()};
    const auto read = read_described(desc, op);
    ASSERT_TRUE(read.ok()) << op.name;
    EXPECT_FALSE(check_operator(read.value(), facts::kNewestLevel).empty()) << op.name;  // every operator needs tensors
    EXPECT_FALSE(read_described({desc.Type, nullptr}, op).ok());
  }
}

// Arrays are read with the count given in the description, so a count that no rule allows must be rejected first.
TEST(ReadDesc, BelievesNoAbsurdCounts) {
  for (const std::string_view text : kRightOperators) {
    const Described described = parse_described(text);
    const WrittenDesc written(described);
    for (const facts::Field& field : described.op->fields) {
      if (field.count_field < 0) {
        continue;
      }
      const facts::Field& counter = described.op->fields[static_cast<std::size_t>(field.count_field)];
      const UINT right = described.arguments[static_cast<std::size_t>(field.count_field)].numbers[0].as<u32>();
      for (const UINT count : {65537U, 0x7fff'ffffU, 0xffff'ffffU}) {
        std::memcpy(written.member(counter.name), &count, sizeof(count));
        const auto read = read_described(written.get(), *described.op);
        ASSERT_FALSE(read.ok()) << text;
        EXPECT_NE(read.error().message.find(std::string(counter.name) + " is " + std::to_string(count)),
                  std::string::npos)
            << read.error().message;
      }
      std::memcpy(written.member(counter.name), &right, sizeof(right));
    }
  }
}

TEST(ReadDesc, TellsArraysThatAreNull) {
  for (const std::string_view text : kRightOperators) {
    const Described described = parse_described(text);
    for (const facts::Field& field : described.op->fields) {
      if (field.count_field < 0) {
        continue;
      }
      const WrittenDesc written(described);
      const void* null = nullptr;
      std::memcpy(written.member(field.name), &null, sizeof(null));
      const auto read = read_described(written.get(), *described.op);
      ASSERT_TRUE(read.ok()) << text;
      const auto violations = check_operator(read.value(), facts::kNewestLevel);
      ASSERT_FALSE(violations.empty()) << text << " " << field.name;
      EXPECT_TRUE(sentence(*described.op, violations.front()).starts_with(std::string(field.name) + " is null"))
          << sentence(*described.op, violations.front());
    }
  }
}

TEST(ReadDesc, LeavesOutUnionsOfNoType) {
  const Described described = parse_described("FILL_VALUE_CONSTANT OutputTensor=f32[3] ValueDataType=FLOAT32 Value=7");
  const WrittenDesc written(described);
  for (const UINT type : {0U, 12U, 13U, 14U, 0xffff'ffffU}) {
    std::memcpy(written.member("ValueDataType"), &type, sizeof(type));
    const auto read = read_described(written.get(), *described.op);
    ASSERT_TRUE(read.ok());
    EXPECT_FALSE(read.value().arguments[2].present);
    EXPECT_FALSE(check_operator(read.value(), facts::kNewestLevel).empty());
  }
}

}  // namespace
}  // namespace anydml::test
