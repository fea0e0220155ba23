// SPDX-License-Identifier: MIT
// Tests requests from the command line: models with one operator, values given as words, comparisons.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "compare.h"
#include "fill.h"
#include "model_reader.h"
#include "operator_model.h"
#include "random_values.h"
#include "requests.h"
#include "tensor_words.h"
#include "value_words.h"

namespace anydml::dmlrun {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{1} << 30;

std::string all_problems(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems.list()) {
    text += problem.path + ": " + problem.reason + "\n";
  }
  return text;
}

Model read(const std::string& text, Problems& problems) {
  const auto document = JsonDocument::parse(text);
  EXPECT_TRUE(document) << text;
  const ReadOptions options{.folders = {.input = ".", .output = ".", .allow_outside = true}, .max_memory = kMemory};
  return read_model(document.value(), options, problems);
}

std::string fault_of(OperatorRequest request) {
  const auto result = operator_model(request);
  return result ? "" : result.error().message;
}

TEST(OperatorModel, EveryOperatorHasASkeletonThatIsRight) {
  for (const facts::Operator& op : facts::operators()) {
    const auto result = operator_model({.name = std::string(op.name)});
    ASSERT_TRUE(result) << op.name << ": " << result.error().message;
    EXPECT_FALSE(result.value().results.empty()) << op.name;
    Problems problems;
    const Model model = read(result.value().model, problems);
    check_level(model, facts::kNewestLevel, problems);
    EXPECT_TRUE(problems.none()) << op.name << "\n" << all_problems(problems) << result.value().model;
  }
}

TEST(OperatorModel, OutputsFollowFromTheInputs) {
  const auto result =
      operator_model({.name = "reduce", .inputs = {"float16:2x3x4:ones"}, .attributes = {"function=sum", "AXES=2,0"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_NE(result.value().model.find("\"OutputTensor\": { \"DataType\": \"FLOAT16\", \"Sizes\": [1, 3, 1] }"),
            std::string::npos)
      << result.value().model;
}

TEST(OperatorModel, InputsAreBroadcast) {
  const auto result = operator_model({.name = "add", .inputs = {"f4:2x1x4", "B=f4:3x1"}});
  ASSERT_TRUE(result) << result.error().message;
  for (const char* part :
       {"\"ATensor\": { \"DataType\": \"FLOAT32\", \"Sizes\": [2, 3, 4], \"Strides\": [4, 0, 1] }",
        "\"BTensor\": { \"DataType\": \"FLOAT32\", \"Sizes\": [2, 3, 4], \"Strides\": [0, 1, 0] }"}) {
    EXPECT_NE(result.value().model.find(part), std::string::npos) << result.value().model;
  }
  EXPECT_EQ(fault_of({.name = "add", .inputs = {"f4:2", "f4:3"}}),
            "sizes [3] do not broadcast to [2]: 3 is neither 2 nor 1");
}

TEST(OperatorModel, FaultsAreNamed) {
  const auto fault = [](std::string name, std::vector<std::string> inputs, std::vector<std::string> attributes = {},
                        std::vector<std::string> results = {}) {
    return fault_of({.name = std::move(name),
                     .inputs = std::move(inputs),
                     .attributes = std::move(attributes),
                     .results = std::move(results)});
  };
  EXPECT_EQ(fault("SOFTMAXX", {}), "'SOFTMAXX' is not an operator of DirectML; did you mean 'SOFTMAX'?");
  EXPECT_EQ(fault("ADD", {"f4:2"}),
            "ELEMENT_WISE_ADD needs BTensor; expected --input BTensor=FILE.npy, or a type and sizes such as --input "
            "BTensor=float32:2x3");
  EXPECT_EQ(fault("ADD", {"f4:2", "f4:2", "f4:2"}), "--input 'f4:2' is one too many for ELEMENT_WISE_ADD");
  EXPECT_EQ(fault("ADD", {"A=f4:2", "A=f4:2"}), "--input ATensor is given more than once");
  EXPECT_EQ(fault("ADD", {"ATensr=f4:2"}),
            "--input 'ATensr' is not an input of ELEMENT_WISE_ADD; did you mean 'ATensor'?");
  EXPECT_EQ(fault("REDUCE", {"f4:2"}),
            "REDUCE needs more attributes, for example --attribute Function=SUM --attribute Axes=1");
  EXPECT_EQ(fault("REDUCE", {"f4:2"}, {"Axis=1"}),
            "--attribute 'Axis' is not an attribute of REDUCE; did you mean 'Axes'?");
  EXPECT_EQ(fault("REDUCE", {"f4:2"}, {"Axes=1,,2"}),
            "--attribute Axes is '1,,2'; expected a value as in models, or numbers such as 1,2");
  EXPECT_EQ(fault("REDUCE", {"f4:2"}, {"Axes=0", "Function=SUMM"}),
            "REDUCE: Function: 'SUMM' is not a DML_REDUCE_FUNCTION; did you mean 'SUM'?");
  EXPECT_NE(fault("CAST", {"f4:2"}).find("specify it with --result OutputTensor=TYPE:SIZES"), std::string::npos);
  EXPECT_EQ(fault("CAST", {"f4:2"}, {}, {"Outptu=i4:2"}),
            "--result 'Outptu' is not an output of CAST; expected one of OutputTensor");
  for (const char* wrong : {"f4", "f4:", "f4:0", "f4:2x", "f4:2y3", "f4:-1", "f4:99999999999", "f5:2", ":2", "",
                            "f4:4294967295x4294967295x4294967295"}) {
    EXPECT_NE(fault("ABS", {wrong}).find("--input InputTensor: '"), std::string::npos) << wrong;
  }
  EXPECT_EQ(fault("ABS", {"f4:2:randon"}),
            "--input InputTensor: 'randon' is neither a file nor values; did you mean 'random'?");
}

TEST(ValueWords, BecomeInitialValues) {
  const auto text = [](std::string_view words) {
    const auto result = initial_values(words, 3, 5);
    std::string flat = result ? result.value() : "! " + result.error().message;
    std::erase_if(flat, [](char letter) { return letter == '\n' || letter == ' '; });
    return flat;
  };
  EXPECT_EQ(text("zeros"), "{\"valueCount\":3,\"value\":0}");
  EXPECT_EQ(text("random:-1:2.5"), "{\"valueCount\":3,\"random\":\"uniform\",\"seed\":5,\"low\":-1,\"high\":2.5}");
  EXPECT_EQ(text("normal"), "{\"valueCount\":3,\"random\":\"normal\",\"seed\":5}");
  EXPECT_EQ(text("sequence:1:2"), "{\"valueCount\":3,\"valueStart\":1,\"valueDelta\":2}");
  EXPECT_EQ(text("7"), "{\"valueCount\":3,\"value\":7}");
  EXPECT_EQ(text("1,nan,-inf"), "[1,\"nan\",\"-inf\"]");
  EXPECT_EQ(text("a\"b.npy"), "{\"sourcePath\":\"a\\\"b.npy\"}");
  EXPECT_EQ(text("random:1").substr(0, 2), "!'");
  EXPECT_EQ(text("zeros:1").substr(0, 2), "!'");
}

template <class T>
std::vector<T> random_of(const RandomValues& random, std::size_t count) {
  std::vector<T> values(count);
  fill_random(std::as_writable_bytes(std::span(values)), random, kDataTypeOf<T>);
  return values;
}

TEST(RandomValues, AreTheSameEverywhere) {
  using Distribution = RandomValues::Distribution;
  RandomValues uniform = default_random(Distribution::uniform, DataType::FLOAT32);
  const auto floats = random_of<f32>(uniform, 10000);
  EXPECT_EQ(floats, random_of<f32>(uniform, 10000));
  EXPECT_EQ(floats[0], 0x1.8882ap-1F);
  double sum = 0;
  for (const f32 value : floats) {
    EXPECT_TRUE(value >= -1 && value <= 1);
    sum += value;
  }
  EXPECT_LT(std::abs(sum), 300);
  uniform.seed = 1;
  EXPECT_NE(floats, random_of<f32>(uniform, 10000));
  double squares = 0;
  for (const f64 value : random_of<f64>(default_random(Distribution::normal, DataType::FLOAT64), 10000)) {
    squares += value * value;
  }
  EXPECT_NEAR(squares / 10000, 1, 0.05);
  RandomValues bytes = default_random(Distribution::uniform, DataType::INT8);
  bytes.first = 0x80;
  bytes.second = 0x7f;
  std::vector<bool> seen(256);
  for (const i8 value : random_of<i8>(bytes, 10000)) {
    seen[static_cast<u8>(value)] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 256);
  const RandomValues all{.first = 0, .second = ~ElementBits{0}};
  EXPECT_NE(random_of<u64>(all, 2)[0], random_of<u64>(all, 2)[1]);
}

template <class T>
Comparison compare(std::vector<T> values, std::vector<T> expected, const Tolerance& tolerance = {}) {
  return compare_elements(std::as_bytes(std::span(values)), std::as_bytes(std::span(expected)), kDataTypeOf<T>,
                          tolerance);
}

TEST(Compare, ExactlyAndWithinTolerances) {
  constexpr f32 kNan = std::numeric_limits<f32>::quiet_NaN();
  constexpr f32 kInfinity = std::numeric_limits<f32>::infinity();
  EXPECT_EQ(compare<f32>({1, kNan, kInfinity}, {1, -kNan, kInfinity}).different, 0U);
  EXPECT_EQ(compare<f32>({0.0F}, {-0.0F}).different, 1U);
  EXPECT_EQ(compare<f32>({0.0F}, {-0.0F}, {.absolute = 0}).different, 0U);
  EXPECT_EQ(compare<f32>({kNan, 1, kInfinity, kInfinity}, {1, kNan, -kInfinity, 3e38F}, {.absolute = 1e300}).different,
            4U);
  const auto off = compare<f32>({1, 2.5F, 3, 10}, {1, 2, 3, 4}, {.absolute = 0.25, .relative = 0.1});
  EXPECT_EQ(off.different, 2U);
  EXPECT_EQ(off.first.index, 1U);
  EXPECT_EQ(off.worst.index, 3U);
  EXPECT_EQ(off.largest_distance, 6);
  EXPECT_EQ(compare<f32>({1.0000001F}, {1}, {.ulps = 1}).different, 0U);
  EXPECT_EQ(compare<f32>({1.0000002F}, {1}, {.ulps = 1}).different, 1U);
  EXPECT_EQ(compare<f32>({1e-45F}, {-1e-45F}, {.ulps = 2}).different, 0U);
  EXPECT_EQ(compare<i64>({std::numeric_limits<i64>::min()}, {std::numeric_limits<i64>::max()}).first.ulps,
            ~std::uint64_t{0});
  EXPECT_EQ(compare<u8>({250}, {5}, {.absolute = 244}).different, 1U);
  EXPECT_EQ(compare<i32>({5}, {6}, {.ulps = 1}).different, 0U);
}

TEST(Requests, ChangeAModelOrSayWhyNot) {
  const std::string text = operator_model({.name = "ADD"}).value().model;
  Problems problems;
  Model model = read(text, problems);
  apply_requests({.inputs = {"A=5"}, .expected = {"Output=sequence"}, .outputs = {"Output=x.npy"}}, model, problems);
  EXPECT_TRUE(problems.none()) << all_problems(problems);
  ASSERT_EQ(model.commands.size(), 4U);
  EXPECT_EQ(std::get<WriteFileCommand>(model.commands[3].what).dimensions, std::vector<std::uint64_t>{4});
  EXPECT_TRUE(std::holds_alternative<ConstantValues>(model.resources[0].values));
  Model other = read(text, problems);
  apply_requests({.inputs = {"A", "C=1", "A=1,2", "A=normal:0:inf", "B=absent.npy"},

                  .outputs = {"=x"}},
                 other, problems);
  EXPECT_EQ(problems.list().size(), 6U) << all_problems(problems);
}

}  // namespace
}  // namespace anydml::dmlrun
