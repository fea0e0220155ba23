// SPDX-License-Identifier: MIT
// Desc structs of any operator, read by the facts: what was written there comes out, and what cannot be read safely is
// refused before it is.
#include "directml/read_desc.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "schema/check.h"
#include "support/described_text.h"
#include "support/rule_samples.h"

namespace anydml::test {
namespace {

using facts::FieldType;
using schema::Argument;
using schema::Described;
using schema::GivenTensor;

// A described operator as the struct that a program would fill.
class Written {
 public:
  explicit Written(const Described& described) : desc_(write(described)) {}

  [[nodiscard]] const DML_OPERATOR_DESC& get() const { return desc_; }
  [[nodiscard]] std::byte* member(std::string_view name) const {
    return outer_ + std::ranges::find(facts_->fields, name, &facts::Field::name)->offset;
  }

 private:
  std::byte* allocate(std::size_t bytes) {
    return reinterpret_cast<std::byte*>(blocks_.emplace_back(bytes / sizeof(u64) + 1).data());
  }

  template <class T>
  static void put(std::byte*& to, T value) {
    std::memcpy(to, &value, sizeof(value));
    to += sizeof(value);
  }

  static void put_number(std::byte*& to, FieldType type, const Scalar& number) {
    switch (type) {
      case FieldType::real:
      case FieldType::reals:
      case FieldType::scale_bias:
        return put(to, number.as<f32>());
      case FieldType::integer:
      case FieldType::integers:
        return put(to, number.as<i32>());
      default:
        return put(to, number.as<u32>());
    }
  }

  static void put_union(std::byte*& to, u32 type, const Scalar& number) {
    switch (static_cast<DataType>(type)) {
#define ANYDML_PUT(T, name, value) \
  case DataType::name:             \
    return put(to, number.as<T>());
      ANYDML_FOR_EACH_TYPE(ANYDML_PUT)
#undef ANYDML_PUT
      default:  // no union has a number of four bits
        break;
    }
  }

  const void* write_tensors(const std::vector<GivenTensor>& tensors) {
    auto* descs = reinterpret_cast<DML_TENSOR_DESC*>(allocate(tensors.size() * sizeof(DML_TENSOR_DESC)));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      auto* sizes = reinterpret_cast<UINT*>(allocate(kMaxRank * sizeof(UINT)));
      std::ranges::transform(tensors[i].sizes, sizes, [](i64 size) { return static_cast<UINT>(size); });
      auto* buffer = reinterpret_cast<DML_BUFFER_TENSOR_DESC*>(allocate(sizeof(DML_BUFFER_TENSOR_DESC)));
      *buffer = {static_cast<DML_TENSOR_DATA_TYPE>(tensors[i].type),
                 static_cast<DML_TENSOR_FLAGS>(tensors[i].flags),
                 tensors[i].rank,
                 sizes,
                 nullptr,
                 tensors[i].total_bytes,
                 tensors[i].alignment};
      descs[i] = {DML_TENSOR_TYPE_BUFFER, buffer};
    }
    return descs;
  }

  const void* write_pointed(const facts::Field& field, const Argument& argument) {
    if (!argument.present) {
      return nullptr;
    }
    if (field.type == FieldType::tensors) {
      return write_tensors(argument.tensors);
    }
    if (field.type == FieldType::operators) {
      auto* descs =
          reinterpret_cast<DML_OPERATOR_DESC*>(allocate(argument.operators.size() * sizeof(DML_OPERATOR_DESC)));
      for (std::size_t i = 0; i < argument.operators.size(); ++i) {
        descs[i] = write(argument.operators[i]);
      }
      return descs;
    }
    std::byte* numbers = allocate(argument.numbers.size() * sizeof(u32));
    std::byte* next = numbers;
    for (const Scalar& number : argument.numbers) {
      put_number(next, field.type, number);
    }
    return numbers;
  }

  DML_OPERATOR_DESC write(const Described& described) {
    const facts::Operator& op = *described.op;
    std::byte* desc = allocate(op.desc_size);
    const std::size_t type_field = schema::union_type_field(op);
    for (std::size_t i = 0; i < op.fields.size(); ++i) {
      const facts::Field& field = op.fields[i];
      const Argument& argument = described.arguments[i];
      std::byte* to = desc + field.offset;
      const bool is_pointer = field.spelling.ends_with('*');
      if (is_pointer) {
        put(to, write_pointed(field, argument));
      } else if (field.type == FieldType::scalar_union) {
        put_union(to, described.arguments[type_field].numbers[0].as<u32>(), argument.numbers[0]);
      } else {
        for (const Scalar& number : argument.numbers) {
          put_number(to, field.type, number);
        }
      }
    }
    facts_ = &op;
    outer_ = desc;  // the outermost is written last
    return {static_cast<DML_OPERATOR_TYPE>(op.value), desc};
  }

  std::deque<std::vector<u64>> blocks_;
  const facts::Operator* facts_ = nullptr;
  std::byte* outer_ = nullptr;
  DML_OPERATOR_DESC desc_;
};

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
    const Written written(described);
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
    EXPECT_FALSE(check_operator(read.value(), facts::kNewestLevel).empty()) << op.name;  // none goes without tensors
    EXPECT_FALSE(read_described({desc.Type, nullptr}, op).ok());
  }
}

// The arrays hold what the description says; a count beyond any rule must not be believed.
TEST(ReadDesc, BelievesNoAbsurdCounts) {
  for (const std::string_view text : kRightOperators) {
    const Described described = parse_described(text);
    const Written written(described);
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
      const Written written(described);
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
  const Written written(described);
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
