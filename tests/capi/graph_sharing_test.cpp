// SPDX-License-Identifier: MIT
// Tests constants that several C API graphs share, and the values derived from these constants.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "support/graph_twin.h"

namespace anydml::test {
namespace {

anydml_attribute plain(const char* name) {
  anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
  attribute.value.text = "NONE";
  return attribute;
}

// x @ weights + bias for some rows, with shared constants.
class Layer {
 public:
  Layer(anydml_constants* constants, std::vector<float>& weights, std::vector<float>& bias, int64_t rows)
      : rows_(rows) {
    const int64_t sizes_of_x[] = {1, 1, rows, 24};
    const int64_t sizes_of_y[] = {1, 1, rows, 40};
    const int64_t sizes_of_weights[] = {1, 1, 24, 40};
    const int64_t row[] = {0, 0, 0, 1};
    const anydml_tensor x = {ANYDML_FLOAT32, 4, sizes_of_x, nullptr, nullptr};
    const anydml_tensor y = {ANYDML_FLOAT32, 4, sizes_of_y, nullptr, nullptr};
    const anydml_tensor w = {ANYDML_FLOAT32, 4, sizes_of_weights, nullptr, weights.data()};
    const anydml_tensor b = {ANYDML_FLOAT32, 4, sizes_of_y, row, bias.data()};
    anydml_graph* graph = nullptr;
    anydml_value terms[3] = {};
    anydml_value product = 0;
    anydml_value result = 0;
    check(anydml_graph_create(&graph));
    check(anydml_graph_add_input(graph, &x, &terms[0]));
    check(anydml_graph_add_shared_constant(graph, constants, &w, &terms[1]));
    check(anydml_graph_add_shared_constant(graph, constants, &b, &terms[2]));
    const anydml_attribute attributes[] = {plain("TransA"), plain("TransB"), number("Alpha", 1), number("Beta", 0)};
    check(anydml_graph_add_operator(graph, "GEMM", terms, 2, &y, 1, attributes, 4, &product));
    const anydml_value sum[] = {product, terms[2]};
    check(anydml_graph_add_operator(graph, "ELEMENT_WISE_ADD", sum, 2, &y, 1, nullptr, 0, &result));
    check(anydml_graph_add_output(graph, result));
    static std::string lines;
    lines.clear();
    check(anydml_set_log([](void*, int, const char* line) { lines.append(line).append("\n"); }, nullptr,
                         ANYDML_LOG_GRAPH));
    check(anydml_graph_compile(graph, nullptr, &compiled_));
    check(anydml_set_log(nullptr, nullptr, 0));
    anydml_graph_release(graph);
    has_packed_ = lines.find("initialize: ") != std::string::npos;
  }
  ~Layer() { anydml_compiled_release(compiled_); }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  [[nodiscard]] bool has_packed() const { return has_packed_; }
  [[nodiscard]] bool is_right(const std::vector<float>& weights, const std::vector<float>& bias) const {
    std::vector<float> x(static_cast<std::size_t>(rows_) * 24);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 7) - 2;  // so that every sum is exact
    }
    std::vector<float> y(static_cast<std::size_t>(rows_) * 40);
    const void* input = x.data();
    void* output = y.data();
    check(anydml_compiled_run(compiled_, &input, 1, &output, 1));
    for (std::size_t i = 0; i < y.size(); ++i) {
      float sum = bias[i % 40];
      for (std::size_t k = 0; k < 24; ++k) {
        sum += x[i / 40 * 24 + k] * weights[k * 40 + i % 40];
      }
      if (y[i] != sum) {
        return false;
      }
    }
    return true;
  }

 private:
  static void check(int code) { ASSERT_EQ(code, ANYDML_OK) << anydml_last_error(); }

  int64_t rows_;
  anydml_compiled* compiled_ = nullptr;
  bool has_packed_ = false;
};

TEST(GraphApi, GraphsShareWhatFollowsFromSharedConstants) {
  std::vector<float> weights(24 * 40), bias(40);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i % 11) - 5;
  }
  std::iota(bias.begin(), bias.end(), -7.0F);
  anydml_constants* constants = nullptr;
  ASSERT_EQ(anydml_constants_create(&constants), ANYDML_OK);
  {
    auto first = std::make_unique<Layer>(constants, weights, bias, 18);
    const bool packs = first->has_packed();  // a device may use the weights unpacked
    const Layer second(constants, weights, bias, 19);
    EXPECT_FALSE(second.has_packed());
    EXPECT_TRUE(first->is_right(weights, bias));
    first.reset();
    EXPECT_TRUE(second.is_right(weights, bias));
    std::vector<float> others(weights.rbegin(), weights.rend());
    const Layer third(constants, others, bias, 18);
    EXPECT_EQ(third.has_packed(), packs);
    EXPECT_TRUE(third.is_right(others, bias));
    EXPECT_TRUE(second.is_right(weights, bias));
  }
  const Layer again(constants, weights, bias, 18);  // no live object has the packed weights
  anydml_constants_release(constants);
  EXPECT_TRUE(again.is_right(weights, bias));
}

TEST(GraphApi, ManyThreadsCompileFromSharedConstants) {
  std::vector<float> weights(24 * 40, 2.0F), bias(40, 1.0F);
  anydml_constants* constants = nullptr;
  ASSERT_EQ(anydml_constants_create(&constants), ANYDML_OK);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 20; ++turn) {
        anydml_graph* graph = nullptr;
        const int64_t sizes[] = {24, 40};
        const anydml_tensor tensor = {ANYDML_FLOAT32, 2, sizes, nullptr, weights.data()};
        anydml_value w = 0;
        anydml_value negated = 0;
        anydml_compiled* compiled = nullptr;
        std::vector<float> y(weights.size());
        void* output = y.data();
        const bool is_done = anydml_graph_create(&graph) == ANYDML_OK &&
                             anydml_graph_add_shared_constant(graph, constants, &tensor, &w) == ANYDML_OK &&
                             anydml_graph_add_operator(graph, i % 2 == 0 ? "ELEMENT_WISE_NEGATE" : "ELEMENT_WISE_ABS",
                                                       &w, 1, &tensor, 1, nullptr, 0, &negated) == ANYDML_OK &&
                             anydml_graph_add_output(graph, negated) == ANYDML_OK &&
                             anydml_graph_compile(graph, nullptr, &compiled) == ANYDML_OK &&
                             anydml_compiled_run(compiled, nullptr, 0, &output, 1) == ANYDML_OK;
        wrong += is_done && y.front() == (i % 2 == 0 ? -2.0F : 2.0F) && y.back() == y.front() ? 0 : 1;
        anydml_graph_release(graph);
        anydml_compiled_release(compiled);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  anydml_constants_release(constants);
}

}  // namespace
}  // namespace anydml::test
