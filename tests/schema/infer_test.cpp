// SPDX-License-Identifier: MIT
// Outputs that are inferred from inputs and attributes: they are the described ones, they break no rule, and a table of
// all 177 operators says which of them can be inferred.
#include "schema/infer.h"
#include "base/shape.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "schema/check.h"
#include "schema/words.h"
#include "support/described_text.h"
#include "support/random_operator.h"
#include "support/rule_samples.h"

namespace anydml::test {
namespace {

using schema::Described;
using schema::GivenTensor;
using schema::Inference;
using schema::SizeRule;
using Sentences = std::vector<std::string>;

constexpr int kSamples = 40;  // of each operator

Sentences sentences(const facts::Operator& op, const std::vector<schema::Violation>& violations) {
  Sentences all;
  for (const schema::Violation& violation : violations) {
    all.push_back(schema::sentence(op, violation));
  }
  return all;
}

std::string text_of(const GivenTensor& tensor) {
  return type_names(1U << tensor.type) + shape_text(tensor.sizes, tensor.rank);
}

std::string outputs_text(const Described& described) {
  std::string text;
  for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
    if (facts::is_output(described.op->fields[field].kind)) {
      for (const GivenTensor& tensor : described.arguments[field].tensors) {
        text += (text.empty() ? "" : " ") + std::string(described.op->fields[field].name) + "=" + text_of(tensor);
      }
    }
  }
  return text;
}

// The outputs of the text, or what is unknown of them.
std::string inferred(std::string_view text, SizeRule sizes = SizeRule::same) {
  const Inference found = schema::infer_outputs(without_outputs(parse_described(text)), facts::kNewestLevel, sizes);
  std::string unknown;
  for (const auto* violations : {&found.unknown, &found.faults}) {
    for (const std::string& one : sentences(*found.described.op, *violations)) {
      unknown += (unknown.empty() ? "" : "; ") + one;
    }
  }
  return unknown.empty() ? outputs_text(found.described) : unknown;
}

// Whether every part of an output that was found is the described one.
bool agree(const Described& right, const Inference& found) {
  for (std::size_t field = 0; field < right.arguments.size(); ++field) {
    for (std::size_t i = 0; i < right.arguments[field].tensors.size(); ++i) {
      const GivenTensor& a = right.arguments[field].tensors[i];
      const GivenTensor& b = found.described.arguments[field].tensors[i];
      const bool same_type = b.type == 0 || a.type == b.type;
      const bool same_sizes =
          !b.has_sizes || (a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes, [](auto x, auto y) {
                             return x == y || y == schema::kUnknownSize;
                           }));
      if (!same_type || !same_sizes) {
        return false;
      }
    }
  }
  return true;
}

// Descriptions that keep every rule and have another output than the usual one, where the documents leave it open.
const std::set<std::string_view> kUnusual{
    "MAX_POOLING2 InputTensor=f32[1,1,8,8] OutputTensor=f32[1,1,6,6] Strides=[1,1] WindowSize=[3,3] "
    "StartPadding=[0,0] EndPadding=[0,0] Dilations=[2,1]",
    "NONZERO_COORDINATES InputTensor=f32[1,1,2,4] OutputCountTensor=u32[1,1,1,1] OutputCoordinatesTensor=u32[1,1,8,3]",
    "NONZERO_COORDINATES InputTensor=f32[1,1,12,5] OutputCountTensor=u32[1,1,1,1] "
    "OutputCoordinatesTensor=u32[1,1,60,2]",
};

TEST(Infer, GivesTheOutputsOfRightOperators) {
  for (const std::string_view text : kRightOperators) {
    const Described right = parse_described(text);
    const Inference found = schema::infer_outputs(without_outputs(right), facts::kNewestLevel);
    EXPECT_EQ(agree(right, found), !kUnusual.contains(text)) << text << "\n  found " << outputs_text(found.described);
    if (found.unknown.empty() && found.faults.empty()) {
      EXPECT_EQ(sentences(*right.op, check_operator(found.described, facts::kNewestLevel)), Sentences()) << text;
    }
  }
}

// What one sample after another told of an output.
struct Told {
  int types = 0;
  int sizes = 0;
  int count = 0;
  std::string why;  // the first reason
};

std::string often(int found, int count) { return found == count ? "yes" : found == 0 ? "no" : "sometimes"; }

TEST(Infer, GivesTheOutputsOfRandomOperatorsAndATableOfThem) {
  RandomOperators random(1);
  std::string table =
      "# SPDX-License-Identifier: MIT\n"
      "# Which outputs follow from the inputs and attributes, in samples of every operator; infer_test makes this.\n";
  int covered = 0;
  int all_known = 0;
  for (const facts::Operator& op : facts::operators()) {
    std::map<std::size_t, Told> told;
    int made = 0;
    for (int i = 0; i < kSamples; ++i) {
      const auto right = random.make(op);
      if (!right) {
        continue;
      }
      ++made;
      const Inference found = schema::infer_outputs(without_outputs(*right), facts::kNewestLevel);
      EXPECT_TRUE(agree(*right, found)) << op.name << ": " << outputs_text(*right) << "\n  found "
                                        << outputs_text(found.described);
      if (found.unknown.empty() && found.faults.empty()) {
        EXPECT_EQ(sentences(op, check_operator(found.described, facts::kNewestLevel)), Sentences()) << op.name;
      }
      for (std::size_t field = 0; field < op.fields.size(); ++field) {
        for (const GivenTensor& tensor : found.described.arguments[field].tensors) {
          if (!facts::is_output(op.fields[field].kind)) {
            continue;
          }
          Told& one = told[field];
          ++one.count;
          one.types += tensor.type != 0 ? 1 : 0;
          GivenTensor typed = tensor;
          typed.type = 1;
          one.sizes += schema::is_unknown(typed) ? 0 : 1;
        }
      }
      for (const schema::Violation& unknown : found.unknown) {
        Told& one = told[unknown.place.field];
        const std::string reason = schema::sentence(op, unknown);
        if (one.why.empty() || (one.why.find(".Sizes") != std::string::npos && reason.size() < one.why.size())) {
          one.why = reason;
        }
      }
    }
    covered += made > 0 ? 1 : 0;
    EXPECT_GT(made, 0) << op.name << ": no right operator was found";
    bool known = made > 0;
    for (const auto& [field, one] : told) {
      known = known && one.types == one.count && one.sizes == one.count;
      table += std::string(op.name) + " " + std::string(op.fields[field].name) + ": type " +
               often(one.types, one.count) + ", sizes " + often(one.sizes, one.count) +
               (one.why.empty() ? "" : " (" + one.why + ")") + "\n";
    }
    all_known += known ? 1 : 0;
  }
  table += std::to_string(covered) + " of 177 operators made at random, all outputs of " + std::to_string(all_known) +
           " always determined\n";
  std::ifstream file(ANYDML_INFERRED_OUTPUTS);
  std::stringstream committed;
  committed << file.rdbuf();
  if (committed.str() != table) {
    std::ofstream("inferred_outputs.txt") << table;
  }
  EXPECT_EQ(committed.str(), table) << "inferred_outputs.txt was written where the test ran: compare and copy it";
}

TEST(Infer, SolvesEquations) {
  EXPECT_EQ(inferred("REDUCE Function=SUM InputTensor=f32[2,3,4] OutputTensor=f32[1] Axes=[0,2]"),
            "OutputTensor=FLOAT32[1, 3, 1]");
  EXPECT_EQ(inferred("GEMM ATensor=f16[5,3,2] BTensor=f16[5,4,3] OutputTensor=f32[1] TransA=TRANSPOSE "
                     "TransB=TRANSPOSE"),
            "OutputTensor=FLOAT16[5, 2, 4]");
  EXPECT_EQ(inferred("CONVOLUTION InputTensor=f32[2,4,8] FilterTensor=f32[4,3,3] OutputTensor=f32[1] "
                     "Direction=BACKWARD Strides=[2] Dilations=[1] StartPadding=[1] EndPadding=[1] OutputPadding=[1] "
                     "GroupCount=2"),
            "OutputTensor=FLOAT32[2, 6, 16]");
  EXPECT_EQ(inferred("JOIN InputTensors=i8[2,3]|i8[2,4]|i8[2,1] OutputTensor=i8[1] Axis=1"), "OutputTensor=INT8[2, 8]");
  EXPECT_EQ(inferred("GATHER InputTensor=f32[1,3,2] IndicesTensor=u32[1,2,2] OutputTensor=f32[1] Axis=1 "
                     "IndexDimensions=2"),
            "OutputTensor=FLOAT32[2, 2, 2]");
  EXPECT_EQ(inferred("ELEMENT_WISE_LOGICAL_EQUALS ATensor=f32[3] BTensor=f32[3] OutputTensor=u32[3]"),
            "OutputTensor=UINT8[3]");
}

TEST(Infer, BroadcastsByNumpysRule) {
  const auto add = [](std::string_view a, std::string_view b, SizeRule sizes) {
    return inferred(
        "ELEMENT_WISE_ADD ATensor=f32" + std::string(a) + " BTensor=f32" + std::string(b) + " OutputTensor=f32[1]",
        sizes);
  };
  EXPECT_EQ(add("[2,1,3]", "[4,1]", SizeRule::broadcast), "OutputTensor=FLOAT32[2, 4, 3]");
  EXPECT_EQ(add("[1]", "[0,5]", SizeRule::broadcast), "OutputTensor=FLOAT32[0, 5]");
  EXPECT_EQ(add("[]", "[]", SizeRule::broadcast), "OutputTensor=FLOAT32[]");
  EXPECT_EQ(add("[2,3]", "[4]", SizeRule::broadcast),
            "OutputTensor.Sizes is not determined by the inputs and attributes; BTensor: sizes are [4]; expected sizes "
            "that broadcast with [2, 3], the sizes of the inputs before it");
  EXPECT_EQ(add("[2,3]", "[2,3]", SizeRule::same), "OutputTensor=FLOAT32[2, 3]");
}

TEST(Infer, SaysWhatIsUnknown) {
  EXPECT_EQ(inferred("CAST InputTensor=f32[3] OutputTensor=i8[3]"),
            "OutputTensor.DataType is not determined by the inputs and attributes; DirectML accepts FLOAT32, FLOAT16, "
            "UINT32, UINT16, UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64");
  EXPECT_EQ(inferred("RESAMPLE InputTensor=f32[1,1,2,2] OutputTensor=f32[1,1,4,4] Scales=[1,1,2,2]"),
            "OutputTensor.Sizes is not determined by the inputs and attributes");
  EXPECT_EQ(inferred("ONE_HOT IndicesTensor=u32[3,1] ValuesTensor=f32[1,2] OutputTensor=f32[3,4] Axis=1"),
            "OutputTensor.Sizes[1] is not determined by the inputs and attributes");
  EXPECT_EQ(inferred("AVERAGE_POOLING InputTensor=f32[2,3,2,9] OutputTensor=f32[1,1,1,1] Strides=[1,1] "
                     "WindowSize=[4,3] StartPadding=[0,0] EndPadding=[0,0]"),
            "OutputTensor.Sizes[2] would be (InputTensor.Sizes[2] + StartPadding[0] + EndPadding[0] - WindowSize[0]) / "
            "Strides[0] + 1, which is -1");
  EXPECT_EQ(inferred("AVERAGE_POOLING InputTensor=f32[2,3,2,9] OutputTensor=f32[1,1,1,1] Strides=[0,1] "
                     "WindowSize=[1,3] StartPadding=[0,0] EndPadding=[0,0]"),
            "OutputTensor.Sizes[2] would be (InputTensor.Sizes[2] + StartPadding[0] + EndPadding[0] - WindowSize[0]) / "
            "Strides[0] + 1, which divides by 0");
}

// A part that the caller gave stays, and others follow from it.
TEST(Infer, KeepsWhatIsKnown) {
  Described cast = without_outputs(parse_described("CAST InputTensor=f32[3,4] OutputTensor=i8[3]"));
  cast.arguments[1].tensors[0].type = 8;
  Inference found = schema::infer_outputs(cast, facts::kNewestLevel);
  EXPECT_EQ(found.unknown.size(), 0U);
  EXPECT_EQ(outputs_text(found.described), "OutputTensor=INT8[3, 4]");
  EXPECT_EQ(found.described.arguments[1].tensors[0].total_bytes, 12U);

  Described indices = without_outputs(
      parse_described("TOP_K InputTensor=f32[1,1,3,4] OutputValueTensor=f32[1] OutputIndexTensor=u32[1] Axis=3 K=2"));
  indices.arguments[2].tensors[0].type = 10;
  found = schema::infer_outputs(indices, facts::kNewestLevel);
  EXPECT_EQ(outputs_text(found.described),
            "OutputValueTensor=FLOAT32[1, 1, 3, 2] OutputIndexTensor=UINT64[1, 1, 3, 2]");

  Described padding = without_outputs(
      parse_described("PADDING1 InputTensor=i16[4] OutputTensor=f32[8] StartPadding=[1] EndPadding=[3]"));
  for (std::size_t i = 0; i < padding.op->fields.size(); ++i) {
    if (i == schema::union_type_field(*padding.op)) {
      padding.arguments[i].numbers.clear();  // it follows from the output
    }
  }
  found = schema::infer_outputs(padding, facts::kNewestLevel);
  EXPECT_EQ(outputs_text(found.described), "OutputTensor=INT16[8]");
  EXPECT_EQ(found.described.arguments[schema::union_type_field(*padding.op)].numbers.front().as<u32>(), 7U);
}

// Inferring comes before every check: it takes whatever a caller describes.
TEST(Infer, TakesAnything) {
  constexpr i64 kNumbers[] = {
      0, 1, 3, -1, 0x7fff'ffff, 0xffff'ffff, std::numeric_limits<i64>::max(), std::numeric_limits<i64>::min()};
  RandomOperators random(3);
  std::size_t turn = 0;
  for (const facts::Operator& op : facts::operators()) {
    const auto right = random.make(op);
    ASSERT_TRUE(right) << op.name;
    for (const auto& given : {*right, without_outputs(*right)}) {
      for (std::size_t field = 0; field < op.fields.size(); ++field) {
        for (const i64 number : kNumbers) {
          Described wrong = given;
          schema::Argument& argument = wrong.arguments[field];
          for (GivenTensor& tensor : argument.tensors) {
            tensor.sizes[++turn % kMaxRank] = number;
            tensor.type = turn % 3 == 0 ? static_cast<u32>(number) : tensor.type;
            tensor.rank = turn % 5 == 0 ? static_cast<u32>(number) : tensor.rank;
            tensor.has_sizes = turn % 7 != 0;
          }
          for (Scalar& one : argument.numbers) {
            one = Scalar(number);
          }
          for (const SizeRule rule : {SizeRule::same, SizeRule::broadcast}) {
            (void)schema::infer_outputs(wrong, facts::kNewestLevel, rule);
          }
          argument = {};
          (void)schema::infer_outputs(wrong, facts::kNewestLevel);
        }
      }
    }
  }
  Described deep = parse_described("ELEMENT_WISE_ABS InputTensor=f32[3] OutputTensor=f32[3]");
  deep.arguments[0].tensors[0].rank = 9;
  const Inference found = schema::infer_outputs(deep, facts::kNewestLevel);
  EXPECT_EQ(sentences(*deep.op, found.faults), Sentences{"InputTensor: rank is 9; expected 0 to 8"});
}

// Whatever the levels admit, the same equations hold.
TEST(Infer, KnowsLevels) {
  RandomOperators random(2);
  for (const facts::FeatureLevelName& level : facts::feature_levels()) {
    int made = 0;
    for (const facts::Operator& op : facts::operators()) {
      const auto right = op.introduced <= level.level ? random.make(op, level.level) : std::nullopt;
      if (right) {
        ++made;
        const Inference found = schema::infer_outputs(without_outputs(*right), level.level);
        EXPECT_TRUE(agree(*right, found)) << op.name << " at " << level.name << ": " << outputs_text(*right)
                                          << "\n  found " << outputs_text(found.described);
      } else if (op.name != "SLICE_GRAD") {  // where it must have four dimensions, chance does not keep all their rules
        EXPECT_GT(op.introduced, level.level) << op.name << " at " << level.name;
      }
    }
    EXPECT_GT(made, 50) << level.name;
  }
}

}  // namespace
}  // namespace anydml::test
