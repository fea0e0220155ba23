// SPDX-License-Identifier: MIT
// Runs GPU plans with the CPU's kernels: random instances of every supported operator are lowered with a GPU's traits
// and with the CPU's own traits, and both must give the same bits. This tests without a GPU everything that a backend
// can request through its traits, and shows that a device built on the CPU's kernels can have any traits. ANYDML_CASES
// sets the number of instances per operator; a failure reports the case.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "ops/op_desc.h"
#include "support/bits.h"
#include "support/random_operator.h"
#include "support/sanitizers.h"
#include "support/trial_graph.h"

namespace anydml::test {
namespace {

constexpr DeviceTraits kGpu{.threads = 64,
                            .joins_from = 1,
                            .forwards_tiles = false,
                            .vector_bytes = 0,
                            .has_fused_attention = false,
                            .has_row_moments = false};

Device with_traits(const DeviceTraits& traits) {
  Device device = cpu();
  device.info.traits = traits;
  return device;
}

// Numbers that expose a wrong order of summation, with an occasional NaN, infinity or -0.
Bytes random_elements(const TensorDesc& tensor, u64 bytes, Random& random) {
  Bytes result(bytes);
  if (is_four_bits(tensor.type)) {
    for (std::byte& byte : result) {
      byte = static_cast<std::byte>(random());
    }
    return result;
  }
  visit_type(tensor.type, [&]<class T>() {
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
      T element;
      if constexpr (is_float<T>) {
        constexpr f64 kRare[] = {-0.0, 1e30, -1e-30, std::numeric_limits<f64>::infinity(),
                                 std::numeric_limits<f64>::quiet_NaN()};
        const auto number = static_cast<compute_t<T>>(static_cast<i64>(random() % 4001) - 2000);
        element = random() % 200 == 0 ? narrow<T>(static_cast<compute_t<T>>(kRare[random() % std::size(kRare)]))
                                      : narrow<T>(number / 700);
      } else {
        element = static_cast<T>(random() % 2 == 0 ? random() % 4 : random());
      }
      std::memcpy(result.data() + at, &element, sizeof(T));
    }
  });
  return result;
}

// The elements of packed outputs as text; all NaNs have the same text.
std::string element_text(const TensorDesc& tensor, const Bytes& bytes, std::size_t at) {
  return visit_type(tensor.type, [&]<class T>() {
    T element;
    std::memcpy(&element, bytes.data() + at * sizeof(T), sizeof(T));
    if constexpr (is_float<T>) {
      element = is_nan(element) ? quiet_nan<T>() : element;
    }
    return std::to_string(bits_of(element));
  });
}

// Returns an empty string if all elements of the outputs have the same bits.
std::string difference(const OpDesc& op, const std::vector<Bytes>& expected, const std::vector<Bytes>& got) {
  for (std::size_t output = 0; output < expected.size(); ++output) {
    const TensorDesc& tensor = op.outputs()[output].tensor;
    if (!op.outputs()[output].present || expected[output] == got[output]) {
      continue;
    }
    if (is_four_bits(tensor.type)) {
      return "output " + std::to_string(output);
    }
    const auto count = expected[output].size() / element_size(tensor.type);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string one = element_text(tensor, expected[output], i);
      const std::string other = element_text(tensor, got[output], i);
      if (one != other) {
        return "output " + std::to_string(output) + ", element " + std::to_string(i) + ": " + other + "; expected " +
               one;
      }
    }
  }
  return "";
}

// Runs an operator with both sets of traits. The plan for the GPU's traits is appended to `text`.
std::string compare(const std::shared_ptr<const OpDesc>& op, bool has_weights, Random& random, std::string& text) {
  Graph graph = graph_of(op);
  std::vector<Bytes> memory;
  std::vector<std::byte*> inputs;
  for (u32 i = 0; i < graph.inputs.size(); ++i) {
    graph.inputs[i].owned = has_weights && i > 0 && op->tensors[i].present;
    memory.push_back(random_elements(op->tensors[i].tensor, graph.inputs[i].extent.bytes, random));
  }
  for (Bytes& bytes : memory) {
    inputs.push_back(bytes.data());
  }
  const std::vector<Bytes> expected = run_graph(cpu(), true, graph, inputs, {});
  const std::vector<Bytes> got = run_graph(with_traits(kGpu), true, graph, inputs, {}, &text);
  return difference(*op, expected, got);
}

// Replaces the type of the first tensor with the given type wherever it occurs.
schema::Described with_type(schema::Described described, DataType type) {
  u32 from = 0;
  for (schema::Argument& argument : described.arguments) {
    for (schema::GivenTensor& tensor : argument.tensors) {
      from = from == 0 ? tensor.type : from;
      tensor.type = tensor.type == from ? static_cast<u32>(type) : tensor.type;
    }
  }
  return described;
}

TEST(GpuPlans, GiveTheBitsOfTheCpusOwn) {
  static constexpr i64 kLargeSizes[] = {1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 70};
  const u32 cases = number_from("ANYDML_CASES", kSanitized ? 4 : 16);
  std::set<std::string> steps;  // in all plans
  std::size_t compared = 0;
  for (const facts::Operator& op : facts::operators()) {
    if (find_family(op) == nullptr) {
      continue;
    }
    std::size_t of_operator = 0;
    for (u32 i = 0; i < cases && !HasFailure(); ++i) {
      RandomOperators operators(kSeed + i, i % 2 == 0 ? std::span<const i64>(RandomOperators::kSmallSizes)
                                                      : std::span<const i64>(kLargeSizes));
      const auto result = operators.make(op, facts::kNewestLevel, 400);
      if (!result) {
        continue;
      }
      for (const DataType type : {DataType::unknown, DataType::FLOAT16, DataType::FLOAT64, DataType::INT8}) {
        auto desc =
            make_op_desc(type == DataType::unknown ? *result : with_type(*result, type), SchemaState::unchecked);
        if (!desc.ok() || desc.value().empty || element_count(desc.value().output().tensor) > 100'000) {
          continue;
        }
        const auto checked = std::make_shared<const OpDesc>(std::move(desc.value()));
        if (!compile_graph(graph_of(checked), cpu().info.traits).ok()) {
          continue;  // its decomposition does not support the type
        }
        SCOPED_TRACE(std::string(op.name) + ", case " + std::to_string(i) + ", " + std::string(type_name(type)));
        Random random(kSeed + i);
        std::string text;
        ASSERT_EQ(compare(checked, i % 3 == 0, random, text), "") << text;
        for (const char* const step :
             {"CONVOLUTION_PRODUCT", "INTEGER_CONVOLUTION", "RECURRENT_PACK", "epilogue", "prologue", "PRODUCT_PACK",
              "CONVOLUTION_FILTER", "INTEGER_PACK", "INTEGER_FILTER", "ROW_MOMENTS", "ROW_GRADIENTS"}) {
          if (text.find(step) != std::string::npos) {
            steps.insert(step);
          }
        }
        ++of_operator;
      }
    }
    compared += of_operator != 0 ? 1U : 0U;
  }
  EXPECT_GT(compared, 150U);
  // None of the plans contains layouts or steps that are specific to the CPU.
  EXPECT_EQ(steps, (std::set<std::string>{"CONVOLUTION_PRODUCT", "INTEGER_CONVOLUTION", "RECURRENT_PACK", "epilogue",
                                          "prologue"}));
}

// Operators that are rarely drawn, or whose steps depend on more than one tensor: "name tensors -> outputs attributes".
TEST(GpuPlans, GiveTheBitsOfTheCpusOwnForDecompositions) {
  const std::string attend = " Scale=0.3 MaskFilterValue=-5 MaskType=NONE HeadCount=";
  const std::string window = " Dilations=1,1 StartPadding=1,1 EndPadding=1,1 GroupCount=";
  const std::string backward =
      " Mode=CROSS_CORRELATION Direction=BACKWARD Strides=2,3 Dilations=1,1 StartPadding=0,1 EndPadding=1,0 "
      "OutputPadding=0,0 GroupCount=1";
  const std::string none = " - - - - - - - - -> ";
  const std::vector<std::pair<std::string, std::string>> written = {
      {"MULTIHEAD_ATTENTION x:f32[2,9,24] x:f32[2,7,24] x:f32[2,7,12]" + none + "f32[2,9,12] -> - -> -" + attend + "3",
       "ATTENTION_ROWS"},
      {"MULTIHEAD_ATTENTION x:f16[2,9,24] x:f16[2,7,24] x:f16[2,7,12]" + none + "f16[2,9,12] -> - -> -" + attend + "3",
       "ATTENTION_ROWS"},
      {"MULTIHEAD_ATTENTION - - - - - x:f32[2,8,3,3,8] - - - - - -> f32[2,8,24] -> - -> -" + attend + "3",
       "ATTENTION_ROWS"},
      {"CONVOLUTION_INTEGER x:u8[2,6,9,9] - x:i8[4,3,3,3] - -> i32[2,4,9,9] Strides=1,1" + window + "2",
       "INTEGER_CONVOLUTION"},
      {"CONVOLUTION_INTEGER x:i8[1,64,7,7] x:i8[1,1,1,1] x:i8[20,64,3,3] x:i8[1,20,1,1] -> i32[1,20,4,4] Strides=2,2" +
           window + "1",
       "INTEGER_CONVOLUTION"},
      {"CONVOLUTION x:f32[1,3,5,5] x:f32[3,2,3,3] - -> f32[1,2,10,15]" + backward, "CONVOLUTION_PRODUCT"},
      {"CONVOLUTION x:f16[1,3,5,5] x:f16[3,2,3,3] - -> f16[1,2,10,15]" + backward, "CONVOLUTION_PRODUCT"},
  };
  for (const auto& [node, step] : written) {
    for (const bool has_weights : {false, true}) {
      SCOPED_TRACE(node);
      const Graph graph = parse_graph("x = input 1000000\ny = " + node + "\nout y\n");
      Random random(kSeed);
      std::string text;
      ASSERT_EQ(compare(graph.nodes.front().op, has_weights, random, text), "") << text;
      EXPECT_NE(text.find(step), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace anydml::test
