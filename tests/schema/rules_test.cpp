// SPDX-License-Identifier: MIT
// Tests the rules in data/facts/rules.txt. For any numbers, valid operators must satisfy each rule and invalid ones
// must break it, and the messages must describe the violation.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "facts/rules.h"
#include "schema/check.h"
#include "schema/rules.h"
#include "support/described_text.h"
#include "support/rule_samples.h"

namespace anydml::test {
namespace {

using facts::FeatureLevel;
using schema::Argument;
using schema::Described;
using schema::Verdict;
using schema::Violation;
using Sentences = std::vector<std::string>;

Sentences sentences(const Described& described, const std::vector<Violation>& violations) {
  Sentences all;
  for (const Violation& violation : violations) {
    all.push_back(schema::sentence(*described.op, violation));
  }
  return all;
}

Sentences check(std::string_view text, FeatureLevel level = facts::kNewestLevel) {
  const Described described = parse_described(text);
  return sentences(described, check_operator(described, level));
}

TEST(Rules, JudgeEveryConstraint) {
  std::map<facts::CheckedBy, int> count;
  std::map<std::string, int> functions;
  for (const facts::Operator& op : facts::operators()) {
    const auto checks = facts::checks_of(op);
    ASSERT_EQ(checks.size(), op.constraints.size()) << op.name;
    for (std::size_t i = 0; i < checks.size(); ++i) {
      ++count[checks[i].how];
      const bool has_rule = std::ranges::find(facts::rules_of(op).rules, static_cast<int>(i),
                                              &facts::Rule::constraint) != facts::rules_of(op).rules.end();
      EXPECT_EQ(has_rule, checks[i].how != facts::CheckedBy::prose) << op.name << ": " << op.constraints[i];
      if (checks[i].how == facts::CheckedBy::by_function) {
        ++functions[std::string(checks[i].by)];
      }
    }
  }
  EXPECT_EQ(count[facts::CheckedBy::by_expression], 178);
  EXPECT_EQ(count[facts::CheckedBy::by_function], 12);
  EXPECT_EQ(count[facts::CheckedBy::prose], 25);
  EXPECT_EQ(functions,
            (std::map<std::string, int>{
                {"fused_activation", 8}, {"gather_nd_shape", 2}, {"gather_shape", 1}, {"scatter_nd_shape", 1}}));
}

TEST(Rules, AreKeptByWhatIsRight) {
  for (const std::string_view text : kRightOperators) {
    EXPECT_EQ(check(text), Sentences()) << text;
    const Described described = parse_described(text);
    EXPECT_EQ(sentences(described, check_relations(described, facts::kNewestLevel, false)), Sentences()) << text;
    EXPECT_EQ(sentences(described, check_relations(described, facts::kNewestLevel, true)), Sentences()) << text;
  }
}

// Applies one change after another to a valid operator.
void for_each_change(const Described& right, const std::function<void(const Described&)>& use) {
  constexpr i64 kNumbers[] = {0, 1, 2, 3, 4, 7, 100, 0xffff'ffff};
  for (std::size_t i = 0; i < right.arguments.size(); ++i) {
    Described changed = right;
    Argument& argument = changed.arguments[i];
    const auto number = right.op->fields[i].type == facts::FieldType::real ? Scalar(-0.5) : Scalar(i64{-1});
    for (std::size_t k = 0; k < argument.numbers.size(); ++k) {
      for (const i64 value : kNumbers) {
        argument.numbers[k] = Scalar(value);
        use(changed);
      }
      argument.numbers[k] = number;
      use(changed);
      argument.numbers[k] = Scalar(0.5);
      use(changed);
      argument = right.arguments[i];
    }
    for (std::size_t k = 0; k < argument.tensors.size(); ++k) {
      schema::GivenTensor& tensor = argument.tensors[k];
      const schema::GivenTensor before = tensor;
      for (u32 d = 0; d < tensor.rank; ++d) {
        for (const i64 value : kNumbers) {
          tensor.sizes[d] = value;
          use(changed);
        }
        tensor = before;
      }
      for (u32 type = 0; type <= 13; ++type) {
        tensor.type = type;
        use(changed);
      }
      tensor = before;
      tensor.flags = 1;
      use(changed);
      tensor = before;
      for (u32 rank = 1; rank <= kMaxRank; ++rank) {
        tensor.rank = rank;
        use(changed);
      }
      tensor = before;
    }
    argument = {};
    use(changed);
    for (std::size_t k = 0; k < right.arguments.size(); ++k) {  // contents for an absent list of tensors
      if (right.op->fields[i].type == facts::FieldType::tensors && !right.arguments[i].present) {
        argument = right.arguments[k];
        argument.present = true;
        use(changed);
      }
    }
  }
}

// Checks that a rule constrains something and that valid operators satisfy it.
TEST(Rules, AreEachKeptAndBroken) {
  std::map<const facts::Rule*, std::set<Verdict>> verdicts;
  for (const std::string_view text : kRightOperators) {
    const Described right = parse_described(text);
    for (const facts::FeatureLevelName& level : facts::feature_levels()) {
      if (level.level < right.op->introduced) {
        continue;
      }
      for (const facts::Rule& rule : facts::rules_of(*right.op).rules) {
        verdicts[&rule].insert(judge(right, level.level, rule));
      }
      for_each_change(right, [&](const Described& changed) {
        for (const facts::Rule& rule : facts::rules_of(*right.op).rules) {
          if (!verdicts[&rule].contains(Verdict::broken)) {
            verdicts[&rule].insert(judge(changed, level.level, rule));
          }
        }
      });
    }
  }
  std::size_t rules = 0;
  for (const facts::Operator& op : facts::operators()) {
    std::size_t index = 0;
    for (const facts::Rule& rule : facts::rules_of(op).rules) {
      SCOPED_TRACE(std::string(op.name) + ", rule " + std::to_string(index++) + ": " +
                   (rule.constraint < 0 ? "" : std::string(op.constraints[static_cast<std::size_t>(rule.constraint)])));
      ++rules;
      EXPECT_TRUE(verdicts[&rule].contains(Verdict::kept));
      if (rule.function != facts::RuleFunction::fused_activation) {  // another test breaks it
        EXPECT_TRUE(verdicts[&rule].contains(Verdict::broken));
      }
    }
  }
  EXPECT_GT(rules, 300U);
}

struct Wrong {
  std::string_view text;
  Sentences expected;
  FeatureLevel level = facts::kNewestLevel;
};

const Wrong kWrong[] = {
    {"SPLIT InputTensor=f32[1,1,6,2] OutputTensors=f32[1,1,2,2]|f32[1,1,3,2] Axis=4",
     {"Axis is 4; expected less than InputTensor.DimensionCount, which is 4"}},
    {"SPLIT InputTensor=f32[1,1,6,2] OutputTensors=f32[1,1,2,2]|f32[1,1,3,3] Axis=2",
     {"OutputTensors[1].Sizes[3] is 3; expected InputTensor.Sizes[3], which is 2",
      "InputTensor.Sizes[2] is 6; expected the sum of OutputTensors[k].Sizes[2], which is 5"}},
    {"AVERAGE_POOLING InputTensor=f32[2,3,8,9] OutputTensor=f32[2,3,7,7] Strides=[3,1] WindowSize=[2,3] "
     "StartPadding=[0,0] EndPadding=[0,0]",
     {"OutputTensor.Sizes[2] is 7; expected (InputTensor.Sizes[2] + StartPadding[0] + EndPadding[0] - WindowSize[0]) / "
      "Strides[0] + 1, which is 3"}},
    {"AVERAGE_POOLING InputTensor=f32[2,3,8,9] OutputTensor=f32[2,3,7,7] Strides=[0,1] WindowSize=[2,3] "
     "StartPadding=[0,0] EndPadding=[0,0]",
     {"OutputTensor.Sizes[2] is 7; expected (InputTensor.Sizes[2] + StartPadding[0] + EndPadding[0] - WindowSize[0]) / "
      "Strides[0] + 1, which divides by 0"}},
    {"AVERAGE_POOLING InputTensor=f32[1,1,2,2] OutputTensor=f32[1,1,1,1] Strides=[2,2] WindowSize=[3,2] "
     "StartPadding=[0,0] EndPadding=[0,0]",
     {"WindowSize[0] is 3; expected at most InputTensor.Sizes[2] + StartPadding[0] + EndPadding[0], which is 2"}},
    // DirectMLX's AveragePooling computes its output without the dilations.
    {"AVERAGE_POOLING1 InputTensor=f32[1,1,4,4] OutputTensor=f32[1,1,3,2] Strides=[1,1] WindowSize=[2,2] "
     "StartPadding=[0,0] EndPadding=[0,0] Dilations=[2,2]",
     {"OutputTensor.Sizes[2] is 3; expected (InputTensor.Sizes[2] + StartPadding[0] + EndPadding[0] - Dilations[0] * "
      "(WindowSize[0] - 1) - 1) / Strides[0] + 1, which is 2"}},
    {"MEAN_VARIANCE_NORMALIZATION1 InputTensor=f32[64] OutputTensor=f32[4] Axes=[0]",
     {"OutputTensor.Sizes[0] is 4; expected InputTensor.Sizes[0], which is 64"}},
    {"REDUCE Function=SUM InputTensor=f32[3,3] OutputTensor=f32[3,3] Axes=[0,5]",
     {"Axes[1] is 5; expected less than InputTensor.DimensionCount, which is 2"}},
    {"REDUCE Function=SUM InputTensor=f32[3,3] OutputTensor=f32[3,1] Axes=[0]",
     {"OutputTensor.Sizes[0] is 3; expected 1, since Axes holds 0",
      "OutputTensor.Sizes[1] is 1; expected InputTensor.Sizes[1], which is 3"}},
    {"REDUCE Function=SUM InputTensor=f32[3,3] OutputTensor=u32[1,3] Axes=[0]",
     {"OutputTensor.DataType is UINT32; expected InputTensor.DataType, which is FLOAT32"}},
    {"REDUCE Function=99 InputTensor=f32[3,3] OutputTensor=u32[1,3] Axes=[0]",
     {"Function is 99; expected a DML_REDUCE_FUNCTION"}},
    {"REDUCE Function=SUM InputTensor=f32[3,3] OutputTensor=f32[1,3] AxisCount=2",
     {"Axes is null; expected 2 numbers, as AxisCount says"}},
    {"REDUCE Function=SUM InputTensor=f32[3,3] OutputTensor=f32[1,3] AxisCount=2 Axes=[0]",
     {"Axes holds 1 number; expected 2, as AxisCount says"}},
    {"GEMM ATensor=f32[3,2] BTensor=f32[4,5] OutputTensor=f32[2,4] TransA=TRANSPOSE TransB=TRANSPOSE",
     {"BTensor.Sizes[1] is 5; expected ATensor.Sizes[1] if TransA is NONE, otherwise ATensor.Sizes[0], which is 3, "
      "since "
      "TransB is TRANSPOSE"}},
    {"GEMM ATensor=f32[3,2] BTensor=f32[2,4] OutputTensor=f32[3,4] TransA=7",
     {"TransA is 7; expected NONE (0) or TRANSPOSE (1)"}},
    {"GEMM ATensor=f32[3,2] BTensor=f32[2,4] OutputTensor=f32[3,4] FusedActivation=GEMM",
     {"FusedActivation: GEMM cannot be fused into GEMM; expected an activation that can, such as ACTIVATION_RELU"}},
    {"GEMM ATensor=f32[1,1,3,2] BTensor=f32[1,1,2,4] OutputTensor=f32[1,1,3,4] FusedActivation=ELEMENT_WISE_CLIP",
     {"FusedActivation: ELEMENT_WISE_CLIP can be fused into GEMM from feature level 6_0; this device offers 5_2"},
     FeatureLevel::v5_2},
    {"GEMM ATensor=f32[1,1,3,2] BTensor=f32[1,1,2,4] OutputTensor=f32[1,1,3,4] FusedActivation=ACTIVATION_GELU",
     {"FusedActivation: ACTIVATION_GELU is of feature level 5_1; this device offers 5_0"},
     FeatureLevel::v5_0},
    {"GEMM ATensor=f32[1,1,3,2] BTensor=f32[1,1,2,4] OutputTensor=f32[1,1,3,4] FusedActivation=ELEMENT_WISE_ABS",
     {"FusedActivation: ELEMENT_WISE_ABS cannot be fused into GEMM; expected an activation that can, such as "
      "ACTIVATION_RELU"}},
    {"RNN InputTensor=f32[1,5,3,4] WeightTensor=f32[1,1,7,4] RecurrenceTensor=f32[1,1,6,6] "
     "OutputSingleTensor=f32[1,1,3,6] ActivationDescs=ACTIVATION_TANH|ELEMENT_WISE_ADD Direction=FORWARD",
     {"ActivationDescs[1]: ELEMENT_WISE_ADD cannot be fused into RNN; expected an activation that can, such as "
      "ACTIVATION_RELU",
      "ActivationDescCount is 2; expected 2 if Direction is BIDIRECTIONAL, otherwise 1, which is 1",
      "WeightTensor.Sizes[2] is 7; expected RecurrenceTensor.Sizes[3], which is 6"}},
    {"ACTIVATION_SOFTPLUS InputTensor=f32[1,1,1,3] OutputTensor=f32[1,1,1,3] Steepness=0.5",
     {"Steepness is 0.5; expected 1 or more at feature level 6_3"},
     FeatureLevel::v6_3},
    {"ACTIVATION_SOFTPLUS InputTensor=f32[1,1,1,3] OutputTensor=f32[1,1,1,3] Steepness=nan",
     {"Steepness is nan; expected 1 or more at feature level 6_3"},
     FeatureLevel::v6_3},
    {"ACTIVATION_SOFTPLUS InputTensor=f32[1,1,1,3] OutputTensor=f32[1,1,1,3] Steepness=0.5", {}},
    {"PADDING InputTensor=f32[4] OutputTensor=f32[8] PaddingMode=WRAP StartPadding=[1] EndPadding=[3]",
     {"PaddingMode is WRAP; expected anything but WRAP at feature level 6_3"},
     FeatureLevel::v6_3},
    {"PADDING1 InputTensor=f32[4] OutputTensor=f32[8] PaddingValueDataType=UNKNOWN StartPadding=[1] EndPadding=[3]",
     {"PaddingValueDataType is UNKNOWN; expected the type of a number, FLOAT32 to INT64"}},
    {"FILL_VALUE_CONSTANT OutputTensor=f32[3] ValueDataType=INT8",
     {"ValueDataType is INT8; expected OutputTensor.DataType, which is FLOAT32"}},
    {"UPSAMPLE_2D InputTensor=f32[1,3,2,2] OutputTensor=f32[1,3,6,4] ScaleSize=[2,4294967295]",
     {"ScaleSize.Height is 4294967295; expected at most 4294967295 / InputTensor.Sizes[2], which is 2147483647"}},
    {"UPSAMPLE_2D InputTensor=f32[1,3,2,2] OutputTensor=f32[1,3,6,4] ScaleSize=[0,3]",
     {"ScaleSize.Width is 0; expected more than 0"}},
    {"TOP_K InputTensor=f32[1,1,3,4] OutputValueTensor=f32[1,1,3,5] OutputIndexTensor=u32[1,1,3,5] Axis=3 K=5",
     {"K is 5; expected at most InputTensor.Sizes[3], which is 4"}},
    {"VALUE_SCALE_2D InputTensor=f32[1,2,2,2] OutputTensor=f32[1,2,2,2] Bias=[0,1]",
     {"ChannelCount is 2; expected 1 or 3"}},
    {"BATCH_NORMALIZATION InputTensor=f32[2,3,4] MeanTensor=f32[1,2,1] VarianceTensor=f32[1,3,4] "
     "ScaleTensor=f32[1,1,1] BiasTensor=f32[1,3,1] OutputTensor=f32[2,3,4]",
     {"MeanTensor.Sizes[1] is 2; expected 1 or InputTensor.Sizes[1], which is 3"}},
    {"BATCH_NORMALIZATION_GRAD InputTensor=f32[2,3] InputGradientTensor=f32[2,3] MeanTensor=f32[1,2] "
     "VarianceTensor=f32[1,2] ScaleTensor=f32[1,2] OutputGradientTensor=f32[2,3] OutputScaleGradientTensor=f32[1,2] "
     "OutputBiasGradientTensor=f32[1,2]",
     {"MeanTensor.Sizes[1] is 2; expected 1 or InputTensor.Sizes[1], which is 3",
      "VarianceTensor.Sizes[1] is 2; expected 1 or InputTensor.Sizes[1], which is 3",
      "ScaleTensor.Sizes[1] is 2; expected 1 or InputTensor.Sizes[1], which is 3"}},
    {"GATHER InputTensor=f32[3,2] IndicesTensor=u32[1,4] OutputTensor=f32[3,2] Axis=0 IndexDimensions=1",
     {"OutputTensor: sizes are [3, 2]; expected [4, 2], the sizes of InputTensor with the last 1 sizes of "
      "IndicesTensor in place of dimension 0, its Axis"}},
    {"GATHER_ND1 InputTensor=f32[1,3,2,2] IndicesTensor=u32[1,3,2,3] OutputTensor=f32[1,1,3,2] InputDimensionCount=3 "
     "IndicesDimensionCount=3 BatchDimensionCount=1",
     {"IndicesTensor.Sizes[3] is 3; expected at most InputDimensionCount - BatchDimensionCount, which is 2"}},
    {"SCATTER_ND InputTensor=f32[3,4,5] IndicesTensor=u32[1,2,1] UpdatesTensor=f32[2,4,4] OutputTensor=f32[3,4,5] "
     "InputDimensionCount=3 IndicesDimensionCount=2",
     {"UpdatesTensor: sizes are [2, 4, 4]; expected [2, 4, 5], the sizes of IndicesTensor except its last, then those "
      "of "
      "InputTensor that the 1 coordinates do not index"}},
    {"SLICE InputTensor=f32[4] OutputTensor=f32[3] Offsets=[1] Sizes=[3] Strides=[2]",
     {"Offsets[0]: Offsets[0] + (Sizes[0] - 1) * Strides[0] is 5; expected less than InputTensor.Sizes[0], which is "
      "4"}},
    {"SLICE1 InputTensor=f32[4] OutputTensor=f32[4] InputWindowOffsets=[0] InputWindowSizes=[4] "
     "InputWindowStrides=[-2147483648]",
     {"OutputTensor.Sizes[0] is 4; expected at most 1 + (InputWindowSizes[0] - 1) / abs(InputWindowStrides[0]), which "
      "is "
      "1"}},
    {"SLICE1 InputTensor=f32[4] OutputTensor=f32[4] InputWindowOffsets=[0] InputWindowSizes=[4] InputWindowStrides=[0]",
     {"InputWindowStrides[0] is 0; expected anything but 0"}},
    {"ONE_HOT IndicesTensor=u32[3,1] ValuesTensor=f32[1,1] OutputTensor=f32[3,4] Axis=1",
     {"ValuesTensor holds 1 element; expected 2 or more"}},
    {"ACTIVATION_HARDMAX InputTensor=f32[1,2,2,3] OutputTensor=f32[1,2,2,3]",
     {"InputTensor.DimensionCount is 3 without leading 1s; expected 2 at most"}},
    {"MEAN_VARIANCE_NORMALIZATION InputTensor=f32[2,3,4,4] ScaleTensor=f32[1,3,1,1] OutputTensor=f32[2,3,4,4]",
     {"ScaleTensor: 1 of ScaleTensor and BiasTensor is given; expected 0 or 2 at feature level 5_1"},
     FeatureLevel::v5_1},
    {"ROI_ALIGN_GRAD InputGradientTensor=f32[5,3,2,2] ROITensor=f32[1,5,4] BatchIndicesTensor=u32[1,5] "
     "ReductionFunction=MAX",
     {"OutputGradientTensor: none of OutputGradientTensor and OutputROIGradientTensor is given; expected 1 or more",
      "InputTensor: the tensor is null; expected a DML_TENSOR_DESC, since ReductionFunction is MAX"}},
    {"UNFOLD InputTensor=f32[1,1,5,5] OutputTensor=f32[1,8,9] WindowSizes=[3,3] Strides=[1,1] Dilations=[1,1] "
     "StartPadding=[0,0] EndPadding=[0,0]",
     {"OutputTensor.Sizes[1] is 8; expected InputTensor.Sizes[1] * (the product of WindowSizes[d]), which is 9"}},
    {"ELEMENT_WISE_ADD1 ATensor=f32[3] BTensor=f32[3] OutputTensor=f32[3] FusedActivation=ACTIVATION_RELU", {}},
    {"JOIN OutputTensor=f32[2] Axis=0", {"InputTensors holds no tensor; expected 1 or more"}},
};

TEST(Rules, SayWhatIsWrong) {
  for (const Wrong& wrong : kWrong) {
    EXPECT_EQ(check(wrong.text, wrong.level), wrong.expected) << wrong.text;
  }
}

TEST(Rules, AskFusedOperatorsForNoTensors) {
  Described gemm = parse_described("GEMM ATensor=f32[3,2] BTensor=f32[2,4] OutputTensor=f32[3,4]");
  Argument& fused = gemm.arguments[static_cast<std::size_t>(
      std::ranges::find(gemm.op->fields, "FusedActivation", &facts::Field::name) - gemm.op->fields.begin())];
  fused.present = true;
  fused.operators = {parse_described("ACTIVATION_RELU OutputTensor=f32[3,4]")};
  EXPECT_EQ(sentences(gemm, check_operator(gemm, facts::kNewestLevel)),
            Sentences{"FusedActivation: ACTIVATION_RELU: OutputTensor is given; expected null, since the operator is "
                      "fused"});
  fused.operators = {parse_described("ACTIVATION_SOFTPLUS Steepness=0.25")};
  EXPECT_EQ(sentences(gemm, check_relations(gemm, FeatureLevel::v6_0, false)),
            Sentences{"FusedActivation: ACTIVATION_SOFTPLUS: Steepness is 0.25; expected 1 or more at feature level "
                      "6_0"});
}

// Callers other than DirectML may pass 64-bit sizes. A value that does not fit breaks the rule.
TEST(Rules, KnowWhenNumbersDoNotFit) {
  constexpr i64 kMax = std::numeric_limits<i64>::max();
  Described padding = parse_described("PADDING InputTensor=f32[4] OutputTensor=f32[8] StartPadding=[1] EndPadding=[3]");
  padding.arguments[0].tensors[0].sizes[0] = kMax;
  EXPECT_EQ(sentences(padding, check_relations(padding, facts::kNewestLevel, false)),
            Sentences{"OutputTensor.Sizes[0] is 8; expected InputTensor.Sizes[0] + StartPadding[0] + EndPadding[0], "
                      "which does not fit into 64 bits"});
  Described tile = parse_described("TILE InputTensor=f32[4] OutputTensor=f32[8] Repeats=[4294967295]");
  tile.arguments[0].tensors[0].sizes[0] = kMax / 2;
  EXPECT_EQ(
      sentences(tile, check_relations(tile, facts::kNewestLevel, false)),
      Sentences{"OutputTensor.Sizes[0] is 8; expected InputTensor.Sizes[0] * Repeats[0], which does not fit into 64 "
                "bits"});
  Described join = parse_described("JOIN InputTensors=f32[3]|f32[4] OutputTensor=f32[7] Axis=0");
  join.arguments[1].tensors[0].sizes[0] = kMax;
  EXPECT_EQ(
      sentences(join, check_relations(join, facts::kNewestLevel, false)),
      Sentences{"OutputTensor.Sizes[0] is 7; expected the sum of InputTensors[k].Sizes[0], which does not fit into 64 "
                "bits"});
  Described one_hot =
      parse_described("ONE_HOT IndicesTensor=u32[3,1] ValuesTensor=f32[1,2] OutputTensor=f32[3,4] Axis=1");
  std::ranges::fill(one_hot.arguments[1].tensors[0].sizes, kMax);
  EXPECT_EQ(sentences(one_hot, check_relations(one_hot, facts::kNewestLevel, false)),
            Sentences{"ValuesTensor holds more elements than fit into 64 bits; expected 2 or more"});
}

TEST(Rules, TellOfThousandsOfTensorsAFew) {
  Described join = parse_described("JOIN InputTensors=f32[3,2] OutputTensor=f32[3,4] Axis=1");
  auto& tensors = join.arguments[1].tensors;
  join.arguments[0].numbers = {Scalar(u64{65536})};
  tensors[0].sizes[0] = 4;
  tensors.assign(65536, tensors[0]);
  const auto told = sentences(join, check_relations(join, facts::kNewestLevel, false));
  EXPECT_EQ(told.size(), 65U);
  EXPECT_EQ(told.front(), "InputTensors[0].Sizes[0] is 4; expected OutputTensor.Sizes[0], which is 3");
  EXPECT_EQ(told.back(), "OutputTensor.Sizes[1] is 4; expected the sum of InputTensors[k].Sizes[1], which is 131072");
}

TEST(Rules, ReadUnionsInTheirType) {
  const auto number = [](u32 type, u64 bits) {
    return schema::union_number(type, bits).value_or(Scalar(-9.0)).as<f64>();
  };
  EXPECT_EQ(number(1, 0xffff'ffff'3fc0'0000), 1.5);
  EXPECT_EQ(number(2, 0xffff'ffff'ffff'c000), -2.0);
  EXPECT_EQ(number(5, 0xffff'ff80), 128.0);
  EXPECT_EQ(number(8, 0xffff'ff80), -128.0);
  EXPECT_EQ(number(11, ~u64{0}), -1.0);
  for (const u32 type : {0U, 12U, 13U, 14U, 0xffff'ffffU}) {
    EXPECT_FALSE(schema::union_number(type, 1).has_value()) << type;
  }
}

// Generates nonsensical operators, which are the same on every run.
class Garbage {
 public:
  explicit Garbage(u64 seed) : state_(seed) {}

  u64 bits() {
    state_ += 0x9e37'79b9'7f4a'7c15;
    u64 mixed = (state_ ^ (state_ >> 30)) * 0xbf58'476d'1ce4'e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
    return mixed ^ (mixed >> 31);
  }
  u64 below(u64 limit) { return bits() % limit; }
  i64 number() {
    constexpr i64 kEdges[] = {0,
                              1,
                              2,
                              3,
                              4,
                              5,
                              8,
                              -1,
                              0x7fff'ffff,
                              0xffff'ffff,
                              std::numeric_limits<i64>::max(),
                              std::numeric_limits<i64>::min(),
                              -2147483648LL};
    return below(8) == 0 ? static_cast<i64>(bits()) : kEdges[below(std::size(kEdges))];
  }
  Scalar scalar() {
    switch (below(6)) {
      case 0:
        return Scalar(std::numeric_limits<f64>::quiet_NaN());
      case 1:
        return Scalar(static_cast<f64>(number()));
      case 2:
        return Scalar(static_cast<u64>(number()));
      default:
        return Scalar(number());
    }
  }

  schema::GivenTensor tensor() {
    schema::GivenTensor given;
    given.tensor_type = below(16) == 0 ? static_cast<u32>(number()) : 1;
    given.has_desc = below(16) != 0;
    given.type = below(16) == 0 ? static_cast<u32>(number()) : static_cast<u32>(1 + below(4));
    given.flags = below(16) == 0 ? static_cast<u32>(number()) : 0;
    given.rank = below(16) == 0 ? static_cast<u32>(number()) : static_cast<u32>(below(9));
    given.has_sizes = below(16) != 0;
    given.has_strides = below(4) == 0;
    for (u32 d = 0; d < kMaxRank; ++d) {
      given.sizes[d] = below(4) == 0 ? number() : static_cast<i64>(1 + below(4));
      given.strides[d] = number();
    }
    given.total_bytes = static_cast<u64>(number());
    given.alignment = static_cast<u32>(number());
    return given;
  }

  Described described(const facts::Operator& op, int depth) {
    Described all(op);
    for (std::size_t i = 0; i < op.fields.size(); ++i) {
      Argument& argument = all.arguments[i];
      argument.present = below(8) != 0;
      const u64 count = op.fields[i].count_field < 0 ? 1 : below(5);
      for (u64 k = 0; k < count && (argument.present || below(8) == 0); ++k) {
        if (op.fields[i].type == facts::FieldType::tensors) {
          argument.tensors.push_back(tensor());
        } else if (op.fields[i].type != facts::FieldType::operators) {
          argument.numbers.assign(1 + below(3), scalar());
        } else if (depth > 0) {
          argument.operators.push_back(described(facts::operators()[below(facts::operators().size())], depth - 1));
        }
      }
      if (below(32) == 0) {
        argument = {};
        argument.present = true;  // the list is present but empty
      }
    }
    return all;
  }

 private:
  u64 state_;
};

// Each violation names a field of the operator, or the operator as a whole, and says what was expected.
std::size_t expect_told(const Described& described, FeatureLevel level, const std::vector<Violation>& violations) {
  for (const Violation& violation : violations) {
    const std::string sentence = schema::sentence(*described.op, violation);
    const std::string offer = "this device offers " + std::string(facts::level_name(level));
    const auto says = [&](std::string_view words) { return sentence.find(words) != std::string::npos; };
    EXPECT_TRUE(violation.location.field == schema::kNone || violation.location.field < described.op->fields.size())
        << sentence;
    EXPECT_TRUE(says("expected ") || says(offer) || says(", the most a tensor may have")) << sentence;
  }
  return violations.size();
}

TEST(AllOperators, AreJudgedWhateverTheyHold) {
  Garbage garbage(20240815);
  std::size_t told = 0;
  for (const facts::Operator& op : facts::operators()) {
    for (int round = 0; round < 200; ++round) {
      const Described described = garbage.described(op, 2);
      const FeatureLevel level = facts::feature_levels()[garbage.below(facts::feature_levels().size())].level;
      told += expect_told(described, level, check_operator(described, level));
      const auto relations = check_relations(described, level, round % 2 == 0);
      told += expect_told(described, level, relations);
      for (const facts::Rule& rule : facts::rules_of(op).rules) {
        told += judge(described, level, rule) == Verdict::broken ? 1U : 0U;
      }
      ASSERT_FALSE(HasFailure()) << op.name << " in round " << round;
    }
  }
  EXPECT_GT(told, 10000U);
}

// Valid operators with one number changed, which reach rules that random garbage never reaches.
TEST(AllOperators, AreJudgedWithOneExtremeNumber) {
  constexpr i64 kExtremes[] = {0, -1, 0xffff'ffff, std::numeric_limits<i64>::max(), std::numeric_limits<i64>::min()};
  constexpr FeatureLevel kLevel = facts::kNewestLevel;
  std::size_t broken = 0;
  // A broken rule must be reported, either itself or through a violation that implies it.
  const auto check_rules = [&](const Described& wrong) {
    const auto relations = check_relations(wrong, kLevel, false);
    expect_told(wrong, kLevel, relations);
    for (const facts::Rule& rule : facts::rules_of(*wrong.op).rules) {
      if (judge(wrong, kLevel, rule) == Verdict::broken) {
        EXPECT_FALSE(relations.empty());
        ++broken;
      }
    }
  };
  for (const std::string_view text : kRightOperators) {
    const Described right = parse_described(text);
    for (std::size_t i = 0; i < right.arguments.size(); ++i) {
      for (const i64 extreme : kExtremes) {
        Described wrong = right;
        for (Scalar& number : wrong.arguments[i].numbers) {
          number = Scalar(extreme);
          check_rules(wrong);
        }
        for (schema::GivenTensor& tensor : wrong.arguments[i].tensors) {
          for (u32 d = 0; d < tensor.rank; ++d) {
            tensor.sizes[d] = extreme;
            check_rules(wrong);
            const auto violations = check_operator(wrong, kLevel);
            EXPECT_GT(expect_told(wrong, kLevel, violations), 0U) << extreme;
          }
        }
        ASSERT_FALSE(HasFailure()) << text << ", " << right.op->fields[i].name << " of " << extreme;
      }
    }
  }
  EXPECT_GT(broken, 1000U);
}

}  // namespace
}  // namespace anydml::test
