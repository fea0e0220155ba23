// SPDX-License-Identifier: MIT
// Tests the passes over small graphs through descriptions of the resulting plan: which nodes are folded, which are
// fused into one program, the order of steps, and the offsets of values.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <numeric>
#include <random>

#include "base/quoted.h"
#include "graph/compile.h"
#include "graph/passes.h"
#include "ops/operators.h"
#include "support/graph_text.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

constexpr DeviceTraits kJoins{.joins_from = 1};

std::string compiled(const Graph& graph) {
  std::string text;
  const auto plans = compile_graph(graph, kJoins, &text);
  return plans.ok() ? text : plans.error().message;
}
std::string compiled(std::string_view text) { return compiled(parse_graph(text)); }

TEST(GraphText, SaysAllThatThereIs) {
  EXPECT_EQ(graph_text(parse_graph("a = input 16\n"
                                   "w = owned 16\n"
                                   "c = constant 8\n"
                                   "x = ADD a:f32[2,2] w:f32[2,2/1,2] -> f32[2,2]\n"
                                   "y = QUANTIZE_LINEAR x:f32[4] w:f32[4] - -> u8[4]\n"
                                   "z = REDUCE x:f32[2,2] -> f32[2,1] Function=SUM Axes=[1]\n"
                                   "s = IDENTITY x:f32[4] -> f32[4] ScaleBias=[2,0.1]\n"
                                   "f = ADD1 x:f32[4] s:f32[4] -> f32[4]\n"
                                   "i = FILL_VALUE_CONSTANT -> i32[2] ValueDataType=INT32 Value=-7\n"
                                   "out y\nout z\nout y\n")),
            "input0: 16 bytes\n"
            "input1: 16 bytes, owned\n"
            "constant0: 8 bytes\n"
            "%0: FLOAT32[2, 2] = ELEMENT_WISE_ADD(input0:FLOAT32[2, 2], input1:FLOAT32[2, 2]/[1, 2])\n"
            "%1: UINT8[4] = ELEMENT_WISE_QUANTIZE_LINEAR(%0:FLOAT32[4], input1:FLOAT32[4], -:-)\n"
            "%2: FLOAT32[2, 1] = REDUCE(%0:FLOAT32[2, 2]; Function=SUM, Axes=[1])\n"
            "%3: FLOAT32[4] = ELEMENT_WISE_IDENTITY(%0:FLOAT32[4]; ScaleBias=[2, 0.1])\n"
            "%4: FLOAT32[4] = ELEMENT_WISE_ADD1(%0:FLOAT32[4], %3:FLOAT32[4])\n"
            "%5: INT32[2] = FILL_VALUE_CONSTANT(ValueDataType=INT32, Value=-7)\n"
            "output0: %1\n"
            "output1: %2\n"
            "output2: %1\n");
}

TEST(GraphText, ANodesNameStaysOnItsLine) {
  Graph graph = parse_graph(
      "a = input 16\n"
      "x = NEGATE a:f32[4] -> f32[4]\n"
      "out x\n");
  graph.nodes[0].name = "minus\n%9: \xff" + std::string(1000, 'x');
  const std::string shown = "minus\\x0A%9: \\xFF" + std::string(kMaxQuotedBytes - 11, 'x') + "...";
  EXPECT_EQ(graph_text(graph),
            "input0: 16 bytes\n%0 '" + shown + "': FLOAT32[4] = ELEMENT_WISE_NEGATE(input0:FLOAT32[4])\noutput0: %0\n");
  EXPECT_EQ(node_label(graph, 0), "node 0 (ELEMENT_WISE_NEGATE '" + shown + "')");
}

TEST(GraphOrder, ACycleIsNamed) {
  Graph graph = parse_graph(
      "a = input 16\n"
      "x = ADD a:f32[4] a:f32[4] -> f32[4]\n"
      "y = NEGATE x:f32[4] -> f32[4]\n"
      "z = ABS y:f32[4] -> f32[4]\n"
      "out z\n");
  graph.nodes[0].sources[1] = {.kind = SourceKind::node, .index = 2};
  graph.nodes[1].name = "minus";
  EXPECT_EQ(
      compiled(graph),
      "the edges form a cycle: node 0 (ELEMENT_WISE_ADD), which needs node 2 (ELEMENT_WISE_ABS), which needs node 1 "
      "(ELEMENT_WISE_NEGATE 'minus'), which needs node 0 (ELEMENT_WISE_ADD); expected a graph without cycles");
}

TEST(Expand, AnOperatorThatIsMadeOfOthersIsThose) {
  EXPECT_EQ(compiled("a = input 24\n"
                     "x = NEGATE a:f16[3,4] -> f16[3,4]\n"
                     "y = REDUCE x:f16[3,4] -> f16[3,1] Function=LOG_SUM_EXP Axes=[1]\n"
                     "z = ABS y:f16[3] -> f16[3]\n"
                     "out z\n"),
            "expanded\n"
            "input0: 24 bytes\n"
            "%0: FLOAT16[3, 4] = ELEMENT_WISE_NEGATE(input0:FLOAT16[3, 4])\n"
            "%1: FLOAT16[3, 1] = REDUCE(%0:FLOAT16[3, 4]; Function=MAX, Axes=[1])\n"
            "%2: FLOAT32[3, 1] = CAST(%1:FLOAT16[3, 1])\n"
            "%3: FLOAT32[3, 1] = ELEMENT_WISE_CLIP(%2:FLOAT32[3, 1]; Min=-3.4028235e+38, Max=3.4028235e+38)\n"
            "%4: FLOAT32[3, 4] = CAST(%0:FLOAT16[3, 4])\n"
            "%5: FLOAT32[3, 4] = ELEMENT_WISE_SUBTRACT(%4:FLOAT32[3, 4], %3:FLOAT32[3, 4]/[1, 0])\n"
            "%6: FLOAT32[3, 4] = ELEMENT_WISE_EXP(%5:FLOAT32[3, 4])\n"
            "%7: FLOAT32[3, 1] = REDUCE(%6:FLOAT32[3, 4]; Function=SUM, Axes=[1])\n"
            "%8: FLOAT32[3, 1] = ELEMENT_WISE_LOG(%7:FLOAT32[3, 1])\n"
            "%9: FLOAT32[3, 1] = ELEMENT_WISE_ADD(%8:FLOAT32[3, 1], %3:FLOAT32[3, 1])\n"
            "%10: FLOAT16[3, 1] = CAST(%9:FLOAT32[3, 1])\n"
            "%11: FLOAT16[3] = ELEMENT_WISE_ABS(%10:FLOAT16[3])\n"
            "output0: %11\n"
            "12 nodes\n"
            "run: prologue %0 ELEMENT_WISE_NEGATE, %4 CAST; %1 REDUCE; epilogue %2 CAST, %3 ELEMENT_WISE_CLIP | reads "
            "input0 | writes temporary+0, temporary+64\n"
            "run: prologue %5 ELEMENT_WISE_SUBTRACT, %6 ELEMENT_WISE_EXP; %7 REDUCE; epilogue %8 ELEMENT_WISE_LOG, %9 "
            "ELEMENT_WISE_ADD, %10 CAST, %11 ELEMENT_WISE_ABS | reads temporary+0, temporary+64 | writes output0\n"
            "run: 2 steps, 128 bytes of temporary for 60 bytes of values\n");
}

// A function of the same type that always returns an error.
template <class Answer, class... Arguments>
auto refusal(Answer (*)(Arguments...)) -> Answer (*)(Arguments...) {
  return [](Arguments...) -> Answer { return Error{ErrorKind::unsupported, "no parts today"}; };
}

TEST(Expand, AnErrorNamesTheNode) {
  Graph graph = parse_graph(
      "a = input 16\n"
      "x = NEGATE a:f32[4] -> f32[4]\n"
      "y = ABS x:f32[4] -> f32[4]\n"
      "out y\n");
  OpDesc op = *graph.nodes[1].op;
  Family family = *op.family;
  family.decompose = refusal(family.decompose);
  op.family = &family;
  graph.nodes[1].op = std::make_shared<const OpDesc>(op);
  EXPECT_EQ(compiled(graph), "node 1 (ELEMENT_WISE_ABS): no parts today");
  EXPECT_EQ(compiled(graph_of(graph.nodes[1].op)), "ELEMENT_WISE_ABS: no parts today");
}

// The device is queried about each operator that has its own steps. The message names the caller's operator.
TEST(Compile, ADeviceIsAskedForEveryPartWithItsTypes) {
  const Graph graph = parse_graph(
      "a = input 32\n"
      "x = NEGATE a:f16[4,4] -> f16[4,4]\n"
      "y = GEMM x:f16[4,4] a:f16[4,4] - -> f16[4,4] TransA=NONE TransB=NONE Alpha=1 Beta=1\n"
      "out y\n");
  std::vector<std::string> asked;
  const auto lacks = [&](std::string_view lacking) {
    return [&asked, lacking](const AskedOperator& op) -> std::string {
      std::string text = std::string(op.name) + " of " + std::string(op.part_of);
      for (const DataType type : op.types) {
        text += " " + std::string(type_name(type));
      }
      asked.push_back(text);
      return op.name == lacking ? "it has no kernels for " + std::string(op.name) : "";
    };
  };
  EXPECT_TRUE(compile_graph(graph, kJoins, nullptr, nullptr, lacks("REDUCE")).ok());
  EXPECT_EQ(asked, (std::vector<std::string>{"ELEMENT_WISE_NEGATE of ELEMENT_WISE_NEGATE FLOAT16 FLOAT16",
                                             "CAST of GEMM FLOAT16 FLOAT32", "CAST of GEMM FLOAT16 FLOAT32",
                                             "PRODUCT of GEMM FLOAT32 FLOAT32 UNKNOWN FLOAT32",
                                             "CAST of GEMM FLOAT32 FLOAT16"}));
  const auto plans = compile_graph(graph, kJoins, nullptr, nullptr, lacks("PRODUCT"));
  ASSERT_FALSE(plans.ok());
  EXPECT_EQ(plans.error().message, "node 1 (GEMM): it has no kernels for PRODUCT");
  EXPECT_EQ(plans.error().kind, ErrorKind::unsupported);
}

// The caller may number the nodes differently. In DirectML, for example, constants are nodes too.
TEST(Compile, WhatADeviceLacksHasTheCallersNumber) {
  Graph graph = parse_graph(
      "a = input 32\n"
      "x = NEGATE a:f16[4,4] -> f16[4,4]\n"
      "y = GEMM x:f16[4,4] a:f16[4,4] - -> f16[4,4] TransA=NONE TransB=NONE Alpha=1 Beta=1\n"
      "out y\n");
  graph.nodes[0].number = 3;
  graph.nodes[1].number = 7;
  const LacksOperator lacks = [](const AskedOperator& op) { return op.part_of == "GEMM" ? "lost" : ""; };
  EXPECT_EQ(compile_graph(graph, kJoins, nullptr, nullptr, lacks).error().message, "node 7 (GEMM): lost");
}

TEST(Compile, WhatADeviceLacksCountsWhereItIsNeeded) {
  const auto error_of = [](std::string_view text) -> std::string {
    const Graph graph = parse_graph(text);
    const LacksOperator lacks = [](const AskedOperator& op) {
      return op.family == static_cast<std::uint32_t>(FamilyId::reduce) ? "no kernels" : "";
    };
    const auto plans = compile_graph(graph, kJoins, nullptr, nullptr, lacks);
    return plans.ok() ? "" : plans.error().message;
  };
  EXPECT_EQ(error_of("a = input 16\n"
                     "x = NEGATE a:f32[4] -> f32[4]\n"
                     "y = REDUCE x:f32[4] -> f32[1] Function=SUM Axes=[0]\n"
                     "out y\n"),
            "node 1 (REDUCE): no kernels");
  EXPECT_EQ(error_of("a = input 16\n"
                     "x = NEGATE a:f32[4] -> f32[4]\n"
                     "y = REDUCE x:f32[4] -> f32[1] Function=SUM Axes=[0]\n"
                     "out x\n"),
            "");
  EXPECT_EQ(error_of("a = input 16\n"
                     "y = REDUCE a:f32[0,4] -> f32[0,1] Function=SUM Axes=[1]\n"
                     "out y\n"),
            "");
}

TEST(Compile, MoreBytesThanCanBeCountedAreSomebodys) {
  Graph graph = parse_graph(
      "a = input 16\n"
      "x = NEGATE a:f32[4] -> f32[4]\n"
      "y = ABS x:f32[4] -> f32[4]\n"
      "out y\n");
  graph.nodes[0].outputs[0].bytes = std::uint64_t{1} << 62;
  EXPECT_EQ(compiled(graph),
            "node 0 (ELEMENT_WISE_NEGATE): with its 4611686018427387904 bytes the values of the graph have more "
            "bytes than can be counted; expected less than 2^62 in all");
}

TEST(Prune, WhatNoOutputNeedsIsLeftOut) {
  EXPECT_EQ(compiled("a = input 16\n"
                     "w = owned 16\n"
                     "x = NEGATE a:f32[4] -> f32[4]\n"
                     "p = NEGATE w:f32[4] -> f32[4]\n"
                     "y = ADD x:f32[4] p:f32[4] -> f32[4]\n"
                     "out x\n"),
            "one node\n"
            "run: %0 ELEMENT_WISE_NEGATE | reads input0 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(Fold, WhatIsKnownIsMadeOnce) {
  EXPECT_EQ(compiled("a = input 16\n"
                     "w = owned 16\n"
                     "p = IDENTITY w:f32[4] -> f32[4]\n"  // folded together with its consumer
                     "q = NEGATE p:f32[4] -> f32[4]\n"
                     "x = ADD a:f32[4] q:f32[4] -> f32[4]\n"
                     "y = MULTIPLY x:f32[4] w:f32[4] -> f32[4]\n"  // w itself is also kept
                     "out y\n"),
            "4 nodes\n"
            "initialize: %0 ELEMENT_WISE_IDENTITY, %1 ELEMENT_WISE_NEGATE | reads input1 | writes persistent+256\n"
            "initialize: 1 step, 0 bytes of temporary for 0 bytes of values\n"
            "run: %2 ELEMENT_WISE_ADD, %3 ELEMENT_WISE_MULTIPLY | reads input0, persistent+256, persistent+0 | writes "
            "output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(Fold, NotWhatMakesMuchOfLittle) {
  const Graph graph = parse_graph(
      "w = owned 4\n"
      "p = IDENTITY w:f32[1048576/0] -> f32[1048576]\n"
      "q = IDENTITY w:f32[64/0] -> f32[64]\n"
      "f = FILL_VALUE_CONSTANT -> f32[4] ValueDataType=FLOAT32\n"
      "out p\nout q\nout f\n");
  EXPECT_EQ(fold(graph, sorted_nodes(graph).value()), NodeSet({false, true, false}));
}

TEST(Fuse, AChainIsOneStep) {
  EXPECT_EQ(compiled("a = input 16\n"
                     "x = ADD a:f32[4] a:f32[4] -> f32[4]\n"
                     "y = NEGATE x:f32[2,2] -> f32[2,2]\n"  // different sizes, same elements
                     "z = CAST y:f32[1,4] -> u8[1,4]\n"
                     "out z\n"),
            "3 nodes\n"
            "run: %0 ELEMENT_WISE_ADD, %1 ELEMENT_WISE_NEGATE, %2 CAST | reads input0 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(Fuse, NotWhereElementsDoNotMeet) {
  EXPECT_EQ(compiled("a = input 16\n"
                     "x = NEGATE a:f32[4] -> f32[4]\n"
                     "y = NEGATE x:f32[2,2/1,2] -> f32[2,2]\n"  // transposed
                     "z = NEGATE y:u16[4] -> u16[4]\n"          // the first half, as a different type
                     "out y\nout z\n"),
            "3 nodes\n"
            "run: %0 ELEMENT_WISE_NEGATE | reads input0 | writes temporary+0\n"
            "run: %1 ELEMENT_WISE_NEGATE | reads temporary+0 | writes output0\n"
            "run: %2 ELEMENT_WISE_NEGATE | reads output0 | writes output1\n"
            "run: 3 steps, 64 bytes of temporary for 16 bytes of values\n");
}

// x and z would be one step if r did not separate them.
TEST(Fuse, NotAroundWhatLiesBetween) {
  EXPECT_EQ(compiled("a = input 16\n"
                     "x = NEGATE a:f32[4] -> f32[4]\n"
                     "r = REDUCE x:f32[4] -> f32[1] Function=SUM Axes=[0]\n"
                     "z = ADD x:f32[4] r:f32[4/0] -> f32[4]\n"
                     "out z\n"),
            "3 nodes\n"
            "run: prologue %0 ELEMENT_WISE_NEGATE; %1 REDUCE | reads input0 | writes temporary+0, temporary+64\n"
            "run: %2 ELEMENT_WISE_ADD | reads temporary+0, temporary+64 | writes output0\n"
            "run: 2 steps, 128 bytes of temporary for 20 bytes of values\n");
}

constexpr char kNorms[] =
    "a = input 4096\n"
    "b = input 128\n"
    "x = ADD a:f32[32,32] b:f32[32,32/0,1] -> f32[32,32]\n"
    "y = MULTIPLY x:f32[1024] x:f32[1024] -> f32[1024]\n"  // different sizes, same elements
    "r = REDUCE y:f32[32,32] -> f32[32,1] Function=SUM Axes=[1]\n"
    "s = ADD r:f32[32] b:f32[32] -> f32[32]\n"
    "t = SQRT s:f32[32] -> f32[32]\n"
    "out t\n";

TEST(Join, WhatStandsBeforeAndAfterAReductionIsOneStepWithIt) {
  EXPECT_EQ(compiled(kNorms),
            "5 nodes\n"
            "run: prologue %0 ELEMENT_WISE_ADD, %1 ELEMENT_WISE_MULTIPLY; %2 REDUCE; epilogue %3 ELEMENT_WISE_ADD, %4 "
            "ELEMENT_WISE_SQRT | reads input0, input1 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(Join, NotForADeviceThatDoesNot) {
  std::string text;
  ASSERT_TRUE(compile_graph(parse_graph(kNorms), DeviceTraits{}, &text).ok());
  EXPECT_EQ(text,
            "5 nodes\n"
            "run: %0 ELEMENT_WISE_ADD, %1 ELEMENT_WISE_MULTIPLY | reads input0, input1 | writes temporary+0\n"
            "run: %2 REDUCE | reads temporary+0 | writes temporary+4096\n"
            "run: %3 ELEMENT_WISE_ADD, %4 ELEMENT_WISE_SQRT | reads temporary+4096, input1 | writes output0\n"
            "run: 3 steps, 4224 bytes of temporary for 4224 bytes of values\n");
}

// One reduction reads elements in a different order than they are written, and the result of another has a second
// reader.
TEST(Join, NotWhatIsReadOtherwise) {
  EXPECT_EQ(compiled("a = input 4096\n"
                     "x = NEGATE a:f32[32,32] -> f32[32,32]\n"
                     "r = REDUCE x:f32[32,32/1,32] -> f32[32,1] Function=SUM Axes=[1]\n"
                     "s = ABS r:f32[32,1] -> f32[32,1]\n"
                     "t = ADD r:f32[32,32/1,0] s:f32[32,32/1,0] -> f32[32,32]\n"
                     "out t\n"),
            "4 nodes\n"
            "run: %0 ELEMENT_WISE_NEGATE | reads input0 | writes temporary+0\n"
            "run: %1 REDUCE | reads temporary+0 | writes temporary+4096\n"
            "run: %2 ELEMENT_WISE_ABS | reads temporary+4096 | writes temporary+0\n"
            "run: %3 ELEMENT_WISE_ADD | reads temporary+4096, temporary+0 | writes output0\n"
            "run: 4 steps, 4224 bytes of temporary for 4352 bytes of values\n");
}

// Here the epilogue would read a result of its own prologue, directly or through another step.
TEST(Join, NotAroundWhatLiesBetween) {
  EXPECT_EQ(compiled("a = input 4096\n"
                     "x = NEGATE a:f32[32,32] -> f32[32,32]\n"
                     "r = REDUCE x:f32[32,32] -> f32[32,1] Function=SUM Axes=[1]\n"
                     "s = ADD r:f32[32] x:f32[32] -> f32[32]\n"
                     "out s\n"),
            "3 nodes\n"
            "run: prologue %0 ELEMENT_WISE_NEGATE; %1 REDUCE | reads input0 | writes temporary+0, temporary+4096\n"
            "run: %2 ELEMENT_WISE_ADD | reads temporary+4096, temporary+0 | writes output0\n"
            "run: 2 steps, 4224 bytes of temporary for 4224 bytes of values\n");
  EXPECT_EQ(compiled("a = input 4096\n"
                     "x = NEGATE a:f32[32,32] -> f32[32,32]\n"
                     "r = REDUCE x:f32[32,32] -> f32[32,1] Function=SUM Axes=[1]\n"
                     "m = REDUCE x:f32[32,32] -> f32[32,1] Function=MAX Axes=[1]\n"
                     "s = ADD r:f32[32] m:f32[32] -> f32[32]\n"
                     "out s\n"),
            "4 nodes\n"
            "run: prologue %0 ELEMENT_WISE_NEGATE; %1 REDUCE | reads input0 | writes temporary+0, temporary+4096\n"
            "run: %2 REDUCE; epilogue %3 ELEMENT_WISE_ADD | reads temporary+0, temporary+4096 | writes output0\n"
            "run: 2 steps, 4224 bytes of temporary for 4224 bytes of values\n");
}

TEST(Fuse, NoMoreNodesThanAGroupMayHave) {
  std::string text = "x0 = input 16\n";
  const int count = static_cast<int>(kMaxOfGroup) + 1;
  for (int i = 0; i < count; ++i) {
    text += "x" + std::to_string(i + 1) + " = NEGATE x" + std::to_string(i) + ":f32[4] -> f32[4]\n";
  }
  const Graph graph = parse_graph(text + "out x" + std::to_string(count) + "\n");
  EXPECT_EQ(compile_graph(graph, kJoins).value().steps, 2U);
}

TEST(Fuse, NoMoreOperandsThanAStepMayHave) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxOperands; ++i) {
    text += "i" + std::to_string(i) + " = input 16\n";
  }
  text += "x0 = NEGATE i0:f32[4] -> f32[4]\n";
  for (std::size_t i = 1; i <= kMaxOperands; ++i) {
    text += "x" + std::to_string(i) + " = ADD x" + std::to_string(i - 1) + ":f32[4] i" + std::to_string(i) +
            ":f32[4] -> f32[4]\n";
  }
  const Graph graph = parse_graph(text + "out x" + std::to_string(kMaxOperands) + "\n");
  const ValueNumbers values(graph);
  const auto order = sorted_nodes(graph).value();
  ValueSet kept(values.count());
  kept[values.of(graph.outputs[0])] = true;
  const auto groups = fuse(graph, values, order, kept, kJoins);
  EXPECT_EQ(groups.size(), 2U);
  for (const GraphGroup& group : groups) {
    EXPECT_LE(group.reads.size() + group.writes.size(), kMaxOperands);
  }
}

TEST(Placement, AValueTakesThePlaceOfOneThatIsReadLast) {
  EXPECT_EQ(compiled("a = input 4096\n"
                     "r = REDUCE a:f32[1024] -> f32[1] Function=SUM Axes=[0]\n"
                     "x = ADD a:f32[1024] r:f32[1024/0] -> f32[1024]\n"
                     "s = REDUCE x:f32[1024] -> f32[1] Function=SUM Axes=[0]\n"
                     "y = ADD x:f32[1024] s:f32[1024/0] -> f32[1024]\n"  // in place of x
                     "t = REDUCE y:f32[1024] -> f32[1] Function=SUM Axes=[0]\n"
                     "z = ADD y:f32[1024/0] t:f32[1024/0] -> f32[1024]\n"  // not in place: one element is read for all
                     "u = REDUCE z:f32[1024/0] -> f32[1] Function=SUM Axes=[0]\n"
                     "out u\n"),
            "7 nodes\n"
            "run: %0 REDUCE | reads input0 | writes temporary+0\n"
            "run: prologue %1 ELEMENT_WISE_ADD; %2 REDUCE | reads input0, temporary+0 | writes temporary+64, "
            "temporary+4160\n"
            "run: prologue %3 ELEMENT_WISE_ADD; %4 REDUCE | reads temporary+64, temporary+4160 | writes temporary+64, "
            "temporary+0\n"
            "run: %5 ELEMENT_WISE_ADD | reads temporary+64, temporary+0 | writes temporary+4160\n"
            "run: %6 REDUCE | reads temporary+4160 | writes output0\n"
            "run: 5 steps, 8256 bytes of temporary for 12300 bytes of values\n");
}

// Values of many sizes, none of which can overwrite another, because each is read by broadcasting its first element.
Graph random_values(std::mt19937_64& random, int nodes) {
  std::string text = "v0 = input 4\n";
  for (int i = 1; i <= nodes; ++i) {
    const auto elements = std::to_string(16 * (1 + random() % 12));
    const auto source = [&] {
      const auto near = random() % static_cast<std::uint64_t>(std::min(i, 4));
      return "v" + std::to_string(i - 1 - static_cast<int>(near)) + ":f32[" + elements + "/0]";
    };
    text += "v" + std::to_string(i) + " = ADD " + source() + " " + source() + " -> f32[" + elements + "]\n";
  }
  return parse_graph(text + "out v" + std::to_string(nodes) + "\n");
}

// Returns the minimum number of bytes for values with these lifetimes. This is the best of all placement orders, with
// each value at the lowest free offset.
std::uint64_t min_bytes(std::span<const Lifetime> lifetimes) {
  std::vector<std::size_t> turns(lifetimes.size());
  std::iota(turns.begin(), turns.end(), std::size_t{0});
  std::uint64_t minimum = ~std::uint64_t{0};
  do {
    std::vector<std::pair<std::uint64_t, std::size_t>> placed;
    std::uint64_t end = 0;
    for (const std::size_t one : turns) {
      std::uint64_t at = 0;
      for (const auto& [offset, other] : placed) {
        const bool together =
            lifetimes[other].first <= lifetimes[one].last && lifetimes[one].first <= lifetimes[other].last;
        if (together && at + lifetimes[one].extent.bytes > offset) {
          at = std::max(at, offset + lifetimes[other].extent.bytes);
        }
      }
      placed.insert(std::ranges::lower_bound(placed, std::pair(at, one)), {at, one});
      end = std::max(end, at + lifetimes[one].extent.bytes);
    }
    minimum = std::min(minimum, end);
  } while (std::ranges::next_permutation(turns).found);
  return minimum;
}

// Calls use(groups) for every topological order of the groups.
void for_each_order(const std::vector<GraphGroup>& groups, std::vector<GraphGroup>& done, ValueSet& result,
                    const std::function<void(const std::vector<GraphGroup>&)>& use) {
  if (done.size() == groups.size()) {
    return use(done);
  }
  for (const GraphGroup& group : groups) {
    const bool ready = std::ranges::all_of(group.reads, [&](std::uint32_t value) { return result[value]; });
    if (!ready || result[group.writes.front()]) {
      continue;
    }
    result[group.writes.front()] = true;
    done.push_back(group);
    for_each_order(groups, done, result, use);
    done.pop_back();
    result[group.writes.front()] = false;
  }
}

TEST(Placement, IsNearTheBestThereIs) {
  std::mt19937_64 random(18);
  std::uint64_t ours = 0;
  std::uint64_t best = 0;
  std::uint64_t all = 0;
  int equal = 0;
  constexpr int kGraphs = kSanitized ? 20 : 200;
  for (int i = 0; i < kGraphs; ++i) {
    const Graph graph = random_values(random, 7);
    const ValueNumbers values(graph);
    ValueSet kept(values.count());
    kept[values.of(graph.outputs[0])] = true;
    const auto needed = prune(graph, sorted_nodes(graph).value());
    const auto groups = fuse(graph, values, needed, kept, kJoins);
    ASSERT_EQ(groups.size(), needed.size());
    ValueSet temporary(values.count(), true);
    temporary[values.of(graph.outputs[0])] = false;
    std::uint64_t minimum = ~std::uint64_t{0};
    std::vector<GraphGroup> done;
    ValueSet result(values.count());
    result[values.of_input(0)] = true;
    for_each_order(groups, done, result, [&](const std::vector<GraphGroup>& order) {
      const auto lives = lifetimes(graph, values, order, temporary);
      if (peak_bytes(lives) < minimum) {  // a lower bound for every placement
        minimum = std::min(minimum, min_bytes(lives));
      }
    });
    const auto plans = compile_graph(graph, kJoins).value();
    EXPECT_GE(plans.run.temporary_bytes(), minimum);
    ours += plans.run.temporary_bytes();
    best += minimum;
    all += plans.temporary_values;
    equal += plans.run.temporary_bytes() == minimum ? 1 : 0;
  }
  std::printf("temporary memory: %d of %d graphs are optimal; %.4f times the optimum overall; %.3f of all values\n",
              equal, kGraphs, static_cast<double>(ours) / static_cast<double>(best),
              static_cast<double>(ours) / static_cast<double>(all));
  EXPECT_GE(equal, kGraphs * 3 / 4);
  EXPECT_LE(static_cast<double>(ours), 1.05 * static_cast<double>(best));
}

// Random graphs, checked for properties that hold for every graph: each node is in one group, after the groups that it
// depends on, and values that are alive together do not overlap, except for in-place results.
Graph random_graph(std::mt19937_64& random, int nodes) {
  static constexpr const char* kViews[] = {"f32[24]", "f32[4,6]", "i32[24]", "f32[24/0]", "f32[4,6/1,4]", "f32[2,3,4]"};
  static constexpr const char* kShapes[] = {"f32[24]", "f32[4,6]", "i32[24]", "f32[24]", "f32[4,6]", "f32[2,3,4]"};
  std::string text = "v0 = input 96\n";
  for (int i = 1; i <= nodes; ++i) {
    const auto source = [&] { return "v" + std::to_string(random() % static_cast<std::uint64_t>(i)) + ":"; };
    const std::string name = "v" + std::to_string(i) + " = ";
    const std::size_t view = random() % std::size(kViews);
    if (random() % 6 == 0) {
      text += name + "REDUCE " + source() + "f32[24,2/1,0] -> f32[24,1] Function=MAX Axes=[1]\n";
    } else {
      text += name + "ADD " + source() + kViews[view] + " " + source() + kShapes[view] + " -> " + kShapes[view] + "\n";
    }
  }
  text += "out v" + std::to_string(1 + random() % static_cast<std::uint64_t>(nodes)) + "\n";
  return parse_graph(text + "out v" + std::to_string(nodes) + "\n");
}

TEST(Fuse, GroupsHaveNoCycleAndNothingTwice) {
  std::mt19937_64 random(19);
  std::size_t nodes = 0;
  std::size_t steps = 0;
  for (int round = 0; round < (kSanitized ? 40 : 400); ++round) {
    const Graph graph = random_graph(random, 1 + static_cast<int>(random() % 60));
    const ValueNumbers values(graph);
    ValueSet kept(values.count());
    for (const GraphSource& output : graph.outputs) {
      kept[values.of(output)] = true;
    }
    const auto groups = fuse(graph, values, sorted_nodes(graph).value(), kept, kJoins);
    std::vector<int> times(graph.nodes.size());
    ValueSet result(values.count());
    result[values.of_input(0)] = true;
    for (const GraphGroup& group : groups) {
      ASSERT_LE(group.nodes.size(), kMaxOfGroup);
      for (const std::uint32_t value : group.reads) {
        ASSERT_TRUE(result[value]) << compiled(graph);
      }
      for (const std::uint32_t value : group.writes) {
        result[value] = true;
      }
      for (const std::uint32_t node : group.nodes) {
        ++times[node];
      }
    }
    ASSERT_EQ(times, std::vector<int>(graph.nodes.size(), 1));
    for (const GraphSource& output : graph.outputs) {
      ASSERT_TRUE(result[values.of(output)]);
    }
    nodes += graph.nodes.size();
    steps += groups.size();
  }
  std::printf("%zu nodes in %zu steps\n", nodes, steps);
  EXPECT_LT(steps, nodes);
}

}  // namespace
}  // namespace anydml::test
