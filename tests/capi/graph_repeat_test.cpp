// SPDX-License-Identifier: MIT
// Tests operators that a C API graph repeats with other inputs.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace anydml::test {
namespace {

class GraphRepeatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(anydml_graph_create(&graph_), ANYDML_OK);
    ASSERT_EQ(anydml_graph_add_input(graph_, &four_, &x_), ANYDML_OK);
    ASSERT_EQ(anydml_graph_add_input(graph_, &eight_, &y_), ANYDML_OK);
    const anydml_value terms[] = {x_, x_};
    ASSERT_EQ(anydml_graph_add_operator(graph_, "ELEMENT_WISE_SUBTRACT", terms, 2, &four_, 1, nullptr, 0, &zero_),
              ANYDML_OK);
  }
  void TearDown() override { anydml_graph_release(graph_); }

  std::vector<float> run(anydml_value result) {
    EXPECT_EQ(anydml_graph_add_output(graph_, result), ANYDML_OK) << anydml_last_error();
    anydml_compiled* compiled = nullptr;
    EXPECT_EQ(anydml_graph_compile(graph_, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
    const std::array<float, 4> x = {1, 2, 3, 4};
    const std::array<float, 8> y = {10, 20, 30, 40, 50, 60, 70, 80};
    std::vector<float> out(4);
    const void* inputs[] = {x.data(), y.data()};
    void* outputs[] = {out.data()};
    EXPECT_EQ(anydml_compiled_run(compiled, inputs, 2, outputs, 1), ANYDML_OK) << anydml_last_error();
    anydml_compiled_release(compiled);
    return out;
  }

  // Expects an error for these inputs, which does not change the graph.
  void expect_error(anydml_value like, const std::vector<anydml_value>& inputs, const std::vector<int64_t>& offsets,
                    std::size_t value_count, const std::string& message) {
    std::array<anydml_value, 4> values = {};
    EXPECT_EQ(anydml_graph_repeat_operator(graph_, like, inputs.data(), offsets.empty() ? nullptr : offsets.data(),
                                           inputs.size(), values.data(), value_count),
              ANYDML_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(anydml_last_error()), "anydml_graph_repeat_operator: " + message);
  }

  const std::array<int64_t, 1> sizes_4_ = {4};
  const std::array<int64_t, 1> sizes_8_ = {8};
  const anydml_tensor four_ = {ANYDML_FLOAT32, 1, sizes_4_.data(), nullptr, nullptr};
  const anydml_tensor eight_ = {ANYDML_FLOAT32, 1, sizes_8_.data(), nullptr, nullptr};
  anydml_graph* graph_ = nullptr;
  anydml_value x_ = 0, y_ = 0, zero_ = 0;
};

TEST_F(GraphRepeatTest, OtherInputsAtOffsets) {
  const anydml_value inputs[] = {y_, x_};
  const int64_t offsets[] = {16, 0};
  anydml_value difference = 0;
  ASSERT_EQ(anydml_graph_repeat_operator(graph_, zero_, inputs, offsets, 2, &difference, 1), ANYDML_OK);
  anydml_value again = 0;
  const anydml_value results[] = {difference, x_};
  ASSERT_EQ(anydml_graph_repeat_operator(graph_, difference, results, nullptr, 2, &again, 1), ANYDML_OK);
  EXPECT_EQ(run(again), (std::vector<float>{48, 56, 64, 72}));
}

TEST_F(GraphRepeatTest, WrongCalls) {
  const auto another = x_ + (std::uint64_t{1} << 32);
  expect_error(0, {x_, x_}, {}, 1, "like: is 0; expected a value of the graph");
  expect_error(another, {x_, x_}, {}, 1,
               "like: is a value of another graph, or not a value; expected one of this graph's");
  expect_error(x_, {x_, x_}, {}, 1, "like is not computed by an operator; expected the value of an operator's output");
  expect_error(zero_, {x_, x_, x_}, {}, 1, "there are 3 inputs and 1 values; expected up to 2 and 1");
  expect_error(zero_, {x_, x_}, {}, 2, "there are 2 inputs and 2 values; expected up to 2 and 1");
  expect_error(zero_, {x_}, {}, 1, "inputs[1]: is absent; expected a value, as in the other operator");
  expect_error(zero_, {x_, 0}, {}, 1, "inputs[1]: is absent; expected a value, as in the other operator");
  expect_error(zero_, {x_, another}, {}, 1,
               "inputs[1]: is a value of another graph, or not a value; expected one of this graph's");
  EXPECT_EQ(anydml_graph_repeat_operator(nullptr, zero_, nullptr, nullptr, 0, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(anydml_graph_repeat_operator(graph_, zero_, nullptr, nullptr, 2, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(run(zero_), (std::vector<float>{0, 0, 0, 0}));
}

TEST_F(GraphRepeatTest, BytesOutsideOfTheSource) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  for (const int64_t offset : {int64_t{1}, int64_t{-1}, int64_t{16}, kLargest, -kLargest}) {
    expect_error(zero_, {x_, x_}, {0, offset}, 1,
                 "inputs[1]: offset " + std::to_string(offset) + " reaches outside of the 16 bytes of its source");
  }
  expect_error(zero_, {y_, y_}, {0, 20}, 1, "inputs[1]: offset 20 reaches outside of the 32 bytes of its source");
}

}  // namespace
}  // namespace anydml::test
