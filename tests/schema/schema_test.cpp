// SPDX-License-Identifier: MIT
// Tests that check_operator reports exactly the violations in an operator, whether or not the library supports it.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <vector>

#include "base/shape.h"
#include "facts/facts_tables.h"
#include "schema/check.h"
#include "schema/tensor_rules.h"

namespace anydml::test {
namespace {

using facts::FeatureLevel;
using schema::Described;
using schema::GivenTensor;
using schema::Violation;
using Sentences = std::vector<std::string>;

constexpr u32 kFloat32 = static_cast<u32>(DataType::FLOAT32);
constexpr u32 kFloat16 = static_cast<u32>(DataType::FLOAT16);
constexpr u32 kUint8 = static_cast<u32>(DataType::UINT8);
constexpr u32 kInt64 = static_cast<u32>(DataType::INT64);
constexpr u32 kInt4 = 13;

const facts::Operator& operator_named(std::string_view name) {
  const facts::Operator* op = facts::find_operator(name);
  EXPECT_NE(op, nullptr) << name;
  return *op;
}

std::size_t field_of(const facts::Operator& op, std::string_view name) {
  const auto found = std::ranges::find(op.fields, name, &facts::Field::name);
  EXPECT_NE(found, op.fields.end()) << name;
  return static_cast<std::size_t>(found - op.fields.begin());
}

// A tensor for a field, with the minimum number of bytes.
struct Tensor {
  Tensor(std::string_view field_name, u32 type, const std::vector<u32>& sizes, const std::vector<u32>& strides = {})
      : field(field_name) {
    given.type = type;
    given.rank = static_cast<u32>(sizes.size());
    given.has_strides = !strides.empty();
    std::ranges::copy(sizes, given.sizes);
    std::ranges::copy(strides, given.strides);
    given.total_bytes = implied_bytes(type, sizes, strides.empty() ? nullptr : strides.data()).value_or(0);
  }

  std::string_view field;
  GivenTensor given;
};

Described described(const facts::Operator& op, const std::vector<Tensor>& tensors) {
  Described all(op);
  for (const Tensor& tensor : tensors) {
    schema::Argument& argument = all.arguments[field_of(op, tensor.field)];
    argument.present = true;
    argument.tensors.push_back(tensor.given);
  }
  return all;
}

Sentences sentences(const facts::Operator& op, const std::vector<Violation>& violations) {
  Sentences all;
  for (const Violation& violation : violations) {
    const std::string where = location_name(op, violation.location);
    all.push_back(where.empty() ? violation.reason : where + ": " + violation.reason);
  }
  return all;
}

Sentences check(std::string_view name, FeatureLevel level, const std::vector<Tensor>& tensors) {
  const facts::Operator& op = operator_named(name);
  return sentences(op, check_operator(described(op, tensors), level));
}

constexpr std::string_view kModulus = "ELEMENT_WISE_MODULUS_FLOOR";

std::vector<Tensor> modulus(u32 type, const std::vector<u32>& sizes) {
  return {{"ATensor", type, sizes}, {"BTensor", type, sizes}, {"OutputTensor", type, sizes}};
}

TEST(Schema, FindsNothingWrongWithWhatIsRight) {
  EXPECT_EQ(check(kModulus, FeatureLevel::v2_1, modulus(kFloat32, {1, 2, 3, 4})), Sentences());
  EXPECT_EQ(check(kModulus, FeatureLevel::v6_4, modulus(kInt64, {3})), Sentences());
}

TEST(Schema, TellsEveryFaultOfModulusAt2_1) {
  const std::string eight = "FLOAT32, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16, INT8 at feature level 2_1";
  auto tensors = modulus(kInt64, {2, 3});
  tensors[1] = {"BTensor", kInt64, {2, 1}};
  EXPECT_EQ(check(kModulus, FeatureLevel::v2_1, tensors),
            (Sentences{"ATensor: DataType is INT64; expected " + eight + " (accepted since 6_0)",
                       "ATensor: DimensionCount is 2; expected 4 at feature level 2_1",
                       "BTensor: DataType is INT64; expected " + eight + " (accepted since 6_0)",
                       "BTensor: DimensionCount is 2; expected 4 at feature level 2_1",
                       "OutputTensor: DataType is INT64; expected " + eight + " (accepted since 6_0)",
                       "OutputTensor: DimensionCount is 2; expected 4 at feature level 2_1",
                       "BTensor: sizes are [2, 1]; expected exactly [2, 3], the sizes of OutputTensor; to repeat it, "
                       "give those sizes and a stride of 0 where it is 1"}));
}

TEST(Schema, TellsLessAtHigherLevels) {
  const std::string eight = "FLOAT32, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16, INT8 at feature level 3_0";
  auto tensors = modulus(kFloat32, {2, 3});
  tensors[0] = {"ATensor", kInt64, {2, 3}};
  EXPECT_EQ(check(kModulus, FeatureLevel::v3_0, tensors),
            Sentences{"ATensor: DataType is INT64; expected " + eight + " (accepted since 6_0)"});
  EXPECT_EQ(check(kModulus, FeatureLevel::v6_0, tensors),
            (Sentences{"BTensor: type is FLOAT32; expected INT64, the type of ATensor",
                       "OutputTensor: type is FLOAT32; expected INT64, the type of ATensor"}));
  EXPECT_EQ(check(kModulus, FeatureLevel::v6_0, modulus(kInt64, {2, 3})), Sentences());
}

TEST(Schema, JudgesWhatItCanOfAnOperatorThatIsYoungerThanTheLevel) {
  auto tensors = modulus(kFloat32, {2, 3});
  tensors[1].given.total_bytes = 20;
  EXPECT_EQ(check(kModulus, FeatureLevel::v2_0, tensors),
            (Sentences{"is of feature level 2_1; this device offers 2_0",
                       "BTensor: TotalTensorSizeInBytes is 20; expected 24 or more, the extent of the elements, and a "
                       "multiple of 4"}));
}

TEST(Schema, TellsWhatIsWrongWithATensorByItself) {
  auto tensors = modulus(kFloat32, {1, 2, 3, 4});
  tensors[0].given.flags = 6;
  tensors[0].given.total_bytes = 98;
  tensors[0].given.alignment = 24;
  tensors[1].given.sizes[0] = 0;
  tensors[1].given.sizes[2] = 0;
  tensors[1].given.alignment = 2;
  tensors[2].given.flags = 3;
  EXPECT_EQ(
      check(kModulus, FeatureLevel::v6_4, tensors),
      (Sentences{
          "ATensor: Flags is 0x6; expected NONE (0) or OWNED_BY_DML (1)",
          "ATensor: TotalTensorSizeInBytes is 98; expected 96 or more, the extent of the elements, and a multiple "
          "of 4",
          "ATensor: GuaranteedBaseOffsetAlignment is 24; expected 0 or a power of two from 4, the size of an "
          "element",
          "BTensor: Sizes[0] is 0; expected 1 or more", "BTensor: Sizes[2] is 0; expected 1 or more",
          "BTensor: GuaranteedBaseOffsetAlignment is 2; expected 0 or a power of two from 4, the size of an "
          "element",
          "OutputTensor: Flags is 0x3; expected NONE (0) or OWNED_BY_DML (1)",
          "OutputTensor: Flags is OWNED_BY_DML; expected NONE, since only inputs can be owned"}));
}

TEST(Schema, ReadsNoSizesThatMayNotBeThere) {
  auto tensors = modulus(kFloat32, {1, 2, 3, 4});
  tensors[0].given.rank = UINT32_MAX;
  tensors[1].given.rank = 0;
  tensors[2].given.tensor_type = 3;
  EXPECT_EQ(check(kModulus, FeatureLevel::v6_4, tensors),
            (Sentences{"ATensor: DimensionCount is 4294967295; expected 1 to 8 at feature level 6_4",
                       "BTensor: DimensionCount is 0; expected 1 to 8 at feature level 6_4",
                       "OutputTensor: Type is 3; expected DML_TENSOR_TYPE_BUFFER (1)"}));
  const facts::Operator& op = operator_named(kModulus);
  Described bare(op);
  bare.arguments[0].tensors = {{.has_desc = false}};
  bare.arguments[1].tensors = {{.type = kFloat32, .rank = 4, .has_sizes = false}};
  EXPECT_EQ(
      sentences(op, check_operator(bare, FeatureLevel::v6_4)),
      (Sentences{"ATensor: Desc is null; expected a DML_BUFFER_TENSOR_DESC", "BTensor: Sizes is null; expected 4 sizes",
                 "OutputTensor: the tensor is null; expected a DML_TENSOR_DESC, since it is not optional"}));
}

TEST(Schema, CountsElementsAndBytes) {
  EXPECT_EQ(check(kModulus, FeatureLevel::v6_4, modulus(kUint8, {65536, 65536})),
            (Sentences{"ATensor: sizes [65536, 65536] hold too many elements; expected at most 4294967295",
                       "BTensor: sizes [65536, 65536] hold too many elements; expected at most 4294967295",
                       "OutputTensor: sizes [65536, 65536] hold too many elements; expected at most 4294967295"}));
  auto tensors = modulus(kFloat32, {4, 4});
  tensors[0] = {"ATensor", kFloat32, {UINT32_MAX, UINT32_MAX, UINT32_MAX}};
  EXPECT_EQ(check(kModulus, FeatureLevel::v6_4, tensors),
            (Sentences{"ATensor: Sizes [4294967295, 4294967295, 4294967295] span more than 72057594037927936 "
                       "bytes, the most a tensor may have",
                       "ATensor: sizes are [4294967295, 4294967295, 4294967295]; expected exactly [4, 4], the sizes of "
                       "OutputTensor"}));
}

TEST(Schema, LimitsTotalSizes) {
  auto tensors = modulus(kFloat32, {4, 4});
  for (const u64 total : {u64{1} << 56, (u64{1} << 56) + 4, u64{1} << 63, ~u64{3}, ~u64{0}}) {
    tensors[1].given.total_bytes = total;
    EXPECT_EQ(check(kModulus, FeatureLevel::v6_4, tensors),
              total == u64{1} << 56 ? Sentences{}
                                    : Sentences{"BTensor: TotalTensorSizeInBytes is " + std::to_string(total) +
                                                "; expected 72057594037927936 at most"});
  }
}

// Absent optional tensors leave their slots empty.
TEST(Schema, KeepsPositions) {
  const auto positions = [](std::string_view name, const std::vector<std::string_view>& fields) {
    const facts::Operator& op = operator_named(name);
    std::vector<Tensor> tensors;
    for (const std::string_view field : fields) {
      tensors.emplace_back(field, kFloat32, std::vector<u32>{1});
    }
    return schema::positions_of(described(op, tensors));
  };
  using Positions = std::vector<std::size_t>;
  EXPECT_EQ(positions(kModulus, {"ATensor", "BTensor", "OutputTensor"}), (Positions{0, 1, 0}));
  EXPECT_EQ(positions("GEMM", {"ATensor", "BTensor", "CTensor", "OutputTensor"}), (Positions{0, 1, 2, 0}));
  EXPECT_EQ(positions("GEMM", {"ATensor", "BTensor", "OutputTensor"}), (Positions{0, 1, 0}));
  EXPECT_EQ(positions("MEAN_VARIANCE_NORMALIZATION", {"InputTensor", "BiasTensor", "OutputTensor"}),
            (Positions{0, 2, 0}));
  EXPECT_EQ(
      positions("LSTM", {"InputTensor", "WeightTensor", "RecurrenceTensor", "PeepholeTensor", "OutputSingleTensor"}),
      (Positions{0, 1, 2, 7, 1}));
  EXPECT_EQ(positions("JOIN", {"InputTensors", "InputTensors", "InputTensors", "OutputTensor"}),
            (Positions{0, 1, 2, 0}));
  EXPECT_EQ(positions("SPLIT", {"InputTensor", "OutputTensors", "OutputTensors"}), (Positions{0, 0, 1}));
}

TEST(Schema, NeedsNoCodeForAnOperator) {
  EXPECT_EQ(check("ELEMENT_WISE_SIN", FeatureLevel::v1_0,
                  {{"InputTensor", kFloat32, {1, 1, 1, 4}}, {"OutputTensor", kFloat16, {1, 1, 1, 5}}}),
            (Sentences{"OutputTensor: type is FLOAT16; expected FLOAT32, the type of InputTensor",
                       "InputTensor: sizes are [1, 1, 1, 4]; expected exactly [1, 1, 1, 5], the sizes of "
                       "OutputTensor"}));
}

TEST(Schema, KnowsWhichTensorsAreOptional) {
  std::vector<Tensor> tensors{{"InputTensor", kFloat32, {1, 2, 8, 8}},
                              {"FilterTensor", kFloat32, {2, 2, 3, 3}},
                              {"OutputTensor", kFloat32, {1, 2, 6, 6}}};
  EXPECT_EQ(check("CONVOLUTION", FeatureLevel::v6_4, tensors), Sentences());
  tensors.insert(tensors.begin() + 2, {"BiasTensor", kFloat16, {1, 2, 1, 1, 1}});
  EXPECT_EQ(check("CONVOLUTION", FeatureLevel::v6_4, tensors),
            (Sentences{"BiasTensor: type is FLOAT16; expected FLOAT32, the type of InputTensor",
                       "BiasTensor: DimensionCount is 5; expected 4, the DimensionCount of InputTensor"}));
  tensors.erase(tensors.begin() + 1);
  EXPECT_EQ(check("CONVOLUTION", FeatureLevel::v1_0, tensors).front(),
            "FilterTensor: the tensor is null; expected a DML_TENSOR_DESC, since it is not optional");

  const std::vector<Tensor> quantize{{"InputTensor", kFloat32, {1, 1, 1, 4}},
                                     {"ScaleTensor", kFloat32, {1, 1, 1, 4}},
                                     {"OutputTensor", kUint8, {1, 1, 1, 4}}};
  EXPECT_EQ(check("ELEMENT_WISE_QUANTIZE_LINEAR", FeatureLevel::v6_2, quantize), Sentences());
  EXPECT_EQ(check("ELEMENT_WISE_QUANTIZE_LINEAR", FeatureLevel::v6_0, quantize),
            Sentences{"ZeroPointTensor: the tensor is null; expected a DML_TENSOR_DESC, since it is optional only from "
                      "feature level 6_2"});
}

TEST(Schema, NamesTheTensorsOfArrays) {
  EXPECT_EQ(check("JOIN", FeatureLevel::v6_4,
                  {{"InputTensors", kFloat32, {2, 3}},
                   {"InputTensors", kFloat32, {2, 4}},
                   {"InputTensors", kFloat16, {2, 1, 1}},
                   {"OutputTensor", kFloat32, {2, 8}}}),
            (Sentences{"InputTensors[2]: type is FLOAT16; expected FLOAT32, the type of InputTensors[0]",
                       "InputTensors[2]: DimensionCount is 3; expected 2, the DimensionCount of InputTensors[0]"}));
  EXPECT_EQ(check("JOIN", FeatureLevel::v6_4, {{"OutputTensor", kFloat32, {2, 8}}}),
            Sentences{"InputTensors: holds no tensor; expected 1 or more"});
  EXPECT_EQ(check("QUANTIZE", FeatureLevel::v6_4, {{"InputTensor", kFloat32, {8}}, {"OutputTensor", kInt4, {8}}}),
            Sentences());  // the documentation does not specify the number
}

TEST(Schema, LetsReduceTakeWhatAnyOfItsFunctionsDoes) {
  for (const u32 output : {kFloat32, static_cast<u32>(DataType::UINT32)}) {
    EXPECT_EQ(check("REDUCE", FeatureLevel::v2_1,
                    {{"InputTensor", kFloat32, {1, 1, 4, 4}}, {"OutputTensor", output, {1, 1, 4, 1}}}),
              Sentences());
  }
  EXPECT_EQ(check("REDUCE", FeatureLevel::v2_1,
                  {{"InputTensor", kFloat32, {1, 1, 4, 4}}, {"OutputTensor", kInt64, {1, 1, 4, 1}}}),
            Sentences{"OutputTensor: DataType is INT64; expected FLOAT32, FLOAT16, UINT32, INT32 at feature level 2_1 "
                      "(accepted since 3_0)"});
}

TEST(Schema, TakesAnyTypeWhereTheDocumentsLeaveItBlank) {
  EXPECT_EQ(check("FOLD", FeatureLevel::v6_4, {{"InputTensor", kInt4, {1, 4, 4}}, {"OutputTensor", kUint8, {1, 1, 8}}}),
            Sentences());
  EXPECT_EQ(check("FOLD", FeatureLevel::v6_4, {{"InputTensor", 14, {1, 4, 4}}, {"OutputTensor", kUint8, {1, 1, 8}}}),
            Sentences{"InputTensor: DataType is 14; expected a DirectML type, 1 (FLOAT32) to 13 (INT4)"});
}

TEST(TensorRules, ImplyBytes) {
  const auto bytes = [](u32 type, std::vector<u32> sizes, std::vector<u32> strides = {}) {
    return implied_bytes(type, sizes, strides.empty() ? nullptr : strides.data());
  };
  EXPECT_EQ(bytes(kFloat32, {2, 3}), 24U);
  EXPECT_EQ(bytes(kFloat16, {3}), 8U);
  EXPECT_EQ(bytes(kUint8, {1}), 4U);
  EXPECT_EQ(bytes(kInt4, {8}), 4U);
  EXPECT_EQ(bytes(kInt4, {9}), 8U);
  EXPECT_EQ(bytes(kInt4, {UINT32_MAX, 4}), 8'589'934'592U);
  EXPECT_EQ(bytes(kFloat32, {2, 3}, {0, 1}), 12U);
  EXPECT_EQ(bytes(kFloat32, {2, 3}, {8, 2}), 52U);
  EXPECT_EQ(bytes(kFloat32, {0, UINT32_MAX}, {1, UINT32_MAX}), 0U);
  EXPECT_EQ(bytes(kFloat32, {UINT32_MAX, UINT32_MAX}), std::nullopt);
  EXPECT_EQ(bytes(kUint8, {1U << 31, 1U << 31, 2}), std::nullopt);
}

// Tensors that an operator's facts accept at a feature level, with types and ranks that its groups allow together.
class Admissible {
 public:
  Admissible(const facts::Operator& op, FeatureLevel level) : op_(op), level_(level) {
    for (std::size_t field = 0; field < op.fields.size(); ++field) {
      if (const auto admitted = facts::admitted(op, field, level)) {
        types_[field] = admitted->types == 0 ? TypeSet{1} << kFloat32 : admitted->types;
        min_[field] = admitted->min_rank;
        max_[field] = admitted->max_rank;
      }
    }
    // A group allows the intersection of its members' sets; iterate until groups that share a tensor agree.
    for (std::size_t round = 0; round < op.same.size(); ++round) {
      for (const facts::SameGroup& group : op.same) {
        agree(group);
      }
    }
  }

  [[nodiscard]] std::vector<Tensor> tensors(bool with_optional) const {
    std::vector<Tensor> all;
    for (const auto& [field, types] : types_) {
      const facts::Field& known = op_.fields[field];
      const bool is_optional =
          (known.kind == facts::FieldKind::optional_input || known.kind == facts::FieldKind::optional_output) &&
          known.optional_since <= level_;
      if (is_optional && !with_optional) {
        continue;
      }
      EXPECT_NE(types, 0U) << op_.name << " " << known.name;
      EXPECT_LE(min_.at(field), max_.at(field)) << op_.name << " " << known.name;
      const auto type = static_cast<u32>(std::countr_zero(types));
      const Tensor tensor(known.name, type, std::vector<u32>(min_.at(field), 2));
      all.insert(all.end(), facts::is_array(known.kind) ? 2 : 1, tensor);
    }
    return all;
  }

 private:
  void agree(const facts::SameGroup& group) {
    TypeSet types = ~TypeSet{0};
    u32 minimum = 0;
    u32 maximum = kMaxRank;
    const auto members = [&](auto use) {
      for (auto& [field, own] : types_) {
        if ((group.fields >> field & 1) != 0) {
          use(own, min_[field], max_[field]);
        }
      }
    };
    members([&](TypeSet own, u32 min, u32 max) {
      types &= own;
      minimum = std::max(minimum, min);
      maximum = std::min(maximum, max);
    });
    members([&](TypeSet& own, u32& min, u32& max) {
      if (group.what == facts::Same::datatype) {
        own = types;
      } else {
        min = minimum;
        max = maximum;
      }
    });
  }

  const facts::Operator& op_;
  FeatureLevel level_;
  std::map<std::size_t, TypeSet> types_;  // by field
  std::map<std::size_t, u32> min_;
  std::map<std::size_t, u32> max_;
};

template <class Use>
void for_each_operator_and_level(Use use) {
  for (const facts::Operator& op : facts::operators()) {
    for (const facts::FeatureLevelName& level : facts::tables::kFeatureLevels) {
      if (level.level >= op.introduced) {
        SCOPED_TRACE(std::string(op.name) + " at " + std::string(level.name));
        use(op, level.level);
      }
    }
  }
}

// Only tensors are checked here. rules_test has sizes that satisfy each operator's rules.
TEST(AllOperators, TakeWhatTheirFactsAdmit) {
  for_each_operator_and_level([](const facts::Operator& op, FeatureLevel level) {
    const Admissible admissible(op, level);
    for (const bool with_optional : {true, false}) {
      const auto tensors = admissible.tensors(with_optional);
      EXPECT_FALSE(tensors.empty());
      EXPECT_EQ(sentences(op, check_tensors(described(op, tensors), level)), Sentences());
    }
  });
}

// If one tensor has one fault, exactly that fault is reported for that tensor.
TEST(AllOperators, TellOneFaultOnce) {
  for_each_operator_and_level([](const facts::Operator& op, FeatureLevel level) {
    const auto right = Admissible(op, level).tensors(true);
    const auto expect_one = [&](const std::vector<Tensor>& tensors, std::string_view field, std::string_view reason) {
      const auto violations = check_tensors(described(op, tensors), level);
      ASSERT_EQ(violations.size(), 1U) << testing::PrintToString(sentences(op, violations));
      EXPECT_EQ(op.fields[violations[0].location.field].name, field);
      EXPECT_TRUE(violations[0].reason.starts_with(reason)) << violations[0].reason;
    };
    for (std::size_t i = 0; i < right.size(); ++i) {
      const facts::Field& field = op.fields[field_of(op, right[i].field)];
      auto wrong = right;
      wrong[i].given.type = 15;
      expect_one(wrong, right[i].field, "DataType is 15; expected");
      wrong = right;
      wrong[i].given.rank = kMaxRank + 1;
      expect_one(wrong, right[i].field, "DimensionCount is 9; expected");
      wrong = right;
      wrong[i].given.total_bytes -= 4;
      expect_one(wrong, right[i].field, "TotalTensorSizeInBytes is");
      if (field.kind == facts::FieldKind::input || field.kind == facts::FieldKind::output) {
        wrong = right;
        wrong.erase(wrong.begin() + static_cast<std::ptrdiff_t>(i));
        expect_one(wrong, right[i].field, "the tensor is null");
      }
      if (facts::is_output(field.kind)) {
        wrong = right;
        wrong[i].given.flags = schema::kOwnedByDml;
        expect_one(wrong, right[i].field, "Flags is OWNED_BY_DML");
      }
    }
  });
}

}  // namespace
}  // namespace anydml::test
