// SPDX-License-Identifier: MIT
// Compares graphs built with the C API bit for bit with the same operators run one by one.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/graph_twin.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

Bytes floats(std::size_t count, float first = -3.0F) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = first + 0.625F * static_cast<float>(i % 37);
  }
  Bytes data(count * sizeof(float));
  std::memcpy(data.data(), values.data(), data.size());
  return data;
}

TEST(GraphApi, ChainsFanOutAndSeveralOutputs) {
  Twin twin;
  const Form form(ANYDML_FLOAT32, {7, 33});
  const Form row(ANYDML_FLOAT32, {33});
  const std::size_t x = twin.input(form, floats(7 * 33));
  const std::size_t b = twin.input(row, floats(33, 1.0F));
  const std::size_t added = twin.run("ELEMENT_WISE_ADD", {x, b}, form);  // broadcast
  const std::size_t relu = twin.run("ACTIVATION_RELU", {added}, form);
  const std::size_t clipped = twin.run("ELEMENT_WISE_CLIP", {added}, form, {number("Min", -1), number("Max", 2)});
  const std::size_t product = twin.run("ELEMENT_WISE_MULTIPLY", {relu, clipped}, form);
  const std::vector<int64_t> axes = {1};
  const Form column(ANYDML_FLOAT32, {7, 1});
  const std::size_t sums = twin.run("REDUCE", {product}, column, {sum(), axes_of(axes)});
  const std::size_t scaled = twin.run("ELEMENT_WISE_DIVIDE", {product, sums}, form);
  twin.output(scaled);
  twin.output(sums);
  twin.output(added);   // an output that other nodes read
  twin.output(scaled);  // twice
  twin.output(x);       // an input, unchanged
  twin.compile();
  EXPECT_EQ(twin.difference(), "");
  EXPECT_EQ(twin.difference(), "");
}

TEST(GraphApi, ViewsAreTheSameBytes) {
  Twin twin;
  const Form form(ANYDML_FLOAT32, {6, 10});
  const std::size_t x = twin.input(form, floats(60));
  const std::size_t doubled = twin.run("ELEMENT_WISE_ADD", {x, x}, form);
  const std::size_t flat = twin.view(doubled, Form(ANYDML_FLOAT32, {4, 15}));
  const std::size_t bits = twin.view(doubled, Form(ANYDML_UINT32, {6, 10}));
  const std::size_t turned = twin.view(doubled, Form(ANYDML_FLOAT32, {10, 6}, {1, 10}));
  const std::size_t negated = twin.run("ELEMENT_WISE_NEGATE", {flat}, Form(ANYDML_FLOAT32, {4, 15}));
  const std::size_t counted = twin.run("ELEMENT_WISE_BIT_COUNT", {bits}, Form(ANYDML_UINT8, {6, 10}));
  const std::size_t moved = twin.run("ACTIVATION_RELU", {turned}, Form(ANYDML_FLOAT32, {10, 6}));
  const std::size_t repeated = twin.run("ELEMENT_WISE_ABS", {twin.view(x, Form(ANYDML_FLOAT32, {3, 10}, {0, 1}))},
                                        Form(ANYDML_FLOAT32, {3, 10}));
  for (const std::size_t value : {negated, counted, moved, repeated, flat, bits, turned}) {
    twin.output(value);
  }
  twin.compile();
  EXPECT_EQ(twin.difference(), "");
}

// Views may begin anywhere in an input, a constant, a result or another view.
TEST(GraphApi, ViewsBeginAnywhere) {
  Twin twin;
  const Form form(ANYDML_FLOAT32, {6, 10});
  const Form part(ANYDML_FLOAT32, {4, 3}, {10, 1});
  const std::size_t x = twin.input(form, floats(60));
  const std::size_t c = twin.constant(form, floats(60, 5.0F));
  const std::size_t doubled = twin.run("ELEMENT_WISE_ADD", {x, x}, form);
  const std::size_t of_x = twin.view(x, part, 12);
  const std::size_t of_c = twin.view(c, part, 23);
  const std::size_t of_doubled = twin.view(doubled, part, 31 - 10);
  const std::size_t back = twin.view(of_doubled, Form(ANYDML_FLOAT32, {4, 3}, {10, -1}), 2);  // each row reversed
  const std::size_t before = twin.view(of_doubled, part, -21);               // this starts at the first element again
  const std::size_t bytes = twin.view(doubled, Form(ANYDML_UINT8, {7}), 3);  // a view may start at any byte
  const Form packed(ANYDML_FLOAT32, {4, 3});
  std::size_t all = of_x;
  for (const std::size_t value : {of_c, of_doubled, back, before, of_x}) {
    all = twin.run("ELEMENT_WISE_ADD", {all, value}, packed);
    all = twin.run("ELEMENT_WISE_NEGATE", {all}, packed);
  }
  const std::size_t counted = twin.run("ELEMENT_WISE_BIT_COUNT", {bytes}, Form(ANYDML_UINT8, {7}));
  const std::vector<int64_t> axes = {1};
  const std::size_t sums = twin.run("REDUCE", {of_doubled}, Form(ANYDML_FLOAT32, {4, 1}), {sum(), axes_of(axes)});
  const std::size_t back_twice = twin.run("ELEMENT_WISE_ABS", {back}, packed);
  for (const std::size_t value : {all, counted, sums, back_twice, of_x, of_c, of_doubled, back, before, bytes}) {
    twin.output(value);
  }
  twin.compile();
  EXPECT_EQ(twin.difference(), "");
}

// A value cannot be overwritten by its last reader if that reader views another part of it.
TEST(GraphApi, AShiftedViewIsNotWrittenInPlace) {
  Twin twin;
  const Form form(ANYDML_FLOAT32, {1000});
  const Form shorter(ANYDML_FLOAT32, {999});
  const std::size_t x = twin.input(form, floats(1000));
  const std::size_t y = twin.run("ELEMENT_WISE_NEGATE", {x}, form);
  const std::size_t differences =
      twin.run("ELEMENT_WISE_SUBTRACT", {twin.view(y, shorter, 1), twin.view(y, shorter)}, shorter);
  const std::size_t again = twin.run(
      "ELEMENT_WISE_SUBTRACT",
      {twin.view(differences, Form(ANYDML_FLOAT32, {998}), 1), twin.view(differences, Form(ANYDML_FLOAT32, {998}))},
      Form(ANYDML_FLOAT32, {998}));
  twin.output(again);
  twin.compile();
  EXPECT_EQ(twin.difference(), "");
}

TEST(GraphApi, ConstantsAreReadOnceAndFolded) {
  std::vector<float> weights = {1, 2, 3, 4};
  const int64_t sizes[] = {4};
  const anydml_tensor tensor = {ANYDML_FLOAT32, 1, sizes, nullptr, weights.data()};
  anydml_graph* graph = nullptr;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  anydml_value x = 0;
  anydml_value unused = 0;
  anydml_value w = 0;
  anydml_value negated = 0;
  anydml_value result = 0;
  ASSERT_EQ(anydml_graph_add_input(graph, &tensor, &x), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_input(graph, &tensor, &unused), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_constant(graph, &tensor, &w), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_NEGATE", &w, 1, &tensor, 1, nullptr, 0, &negated),
            ANYDML_OK);
  const anydml_value terms[] = {x, negated};
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_ADD", terms, 2, &tensor, 1, nullptr, 0, &result), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_ABS", &unused, 1, &tensor, 1, nullptr, 0, &unused),
            ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, result), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, negated), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, w), ANYDML_OK);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_graph_compile(graph, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
  anydml_graph_release(graph);
  std::fill(weights.begin(), weights.end(), 99.0F);
  std::vector<float> given = {10, 10, 10, 10};
  std::vector<float> sums(4), negatives(4), same(4);
  const void* inputs[] = {given.data(), nullptr};  // no output depends on the second input
  void* outputs[] = {sums.data(), negatives.data(), same.data()};
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(anydml_compiled_run(compiled, inputs, 2, outputs, 3), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(sums, (std::vector<float>{9, 8, 7, 6}));
    EXPECT_EQ(negatives, (std::vector<float>{-1, -2, -3, -4}));
    EXPECT_EQ(same, (std::vector<float>{1, 2, 3, 4}));
  }
  anydml_compiled_release(compiled);
}

// The graph computes y = x + x and z = x * y, with memory shared in several ways.
TEST(GraphApi, OverlapsAreAsIfCopiedFirst) {
  const int64_t sizes[] = {64};
  const anydml_tensor tensor = {ANYDML_FLOAT32, 1, sizes, nullptr, nullptr};
  anydml_graph* graph = nullptr;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  anydml_value x = 0, y = 0, z = 0;
  ASSERT_EQ(anydml_graph_add_input(graph, &tensor, &x), ANYDML_OK);
  const anydml_value twice[] = {x, x};
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_ADD", twice, 2, &tensor, 1, nullptr, 0, &y), ANYDML_OK);
  const anydml_value both[] = {x, y};
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_MULTIPLY", both, 2, &tensor, 1, nullptr, 0, &z), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, y), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, z), ANYDML_OK);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_graph_compile(graph, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
  anydml_graph_release(graph);
  for (const std::size_t shift : {0U, 1U, 17U, 63U}) {
    std::vector<float> memory(192);
    for (std::size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<float>(i);
    }
    const std::vector<float> before = memory;
    const void* inputs[] = {memory.data()};
    void* outputs[] = {memory.data() + shift, memory.data() + shift + 64};
    ASSERT_EQ(anydml_compiled_run(compiled, inputs, 1, outputs, 2), ANYDML_OK) << anydml_last_error();
    for (std::size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(memory[shift + i], 2 * before[i]);
      ASSERT_EQ(memory[shift + 64 + i], 2 * before[i] * before[i]);
    }
    outputs[1] = memory.data() + shift + 63;
    EXPECT_EQ(anydml_compiled_run(compiled, inputs, 1, outputs, 2), ANYDML_INVALID_ARGUMENT);
    EXPECT_STREQ(anydml_last_error(), "graph: output 1: overlaps output 0; expected memory of its own");
  }
  anydml_compiled_release(compiled);
}

TEST(GraphApi, StridedOutputsLeaveWhatIsBetween) {
  const int64_t sizes[] = {5};
  const int64_t steps[] = {3};
  const anydml_tensor packed = {ANYDML_FLOAT32, 1, sizes, nullptr, nullptr};
  const anydml_tensor spread = {ANYDML_FLOAT32, 1, sizes, steps, nullptr};
  anydml_graph* graph = nullptr;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  anydml_value x = 0, y = 0;
  ASSERT_EQ(anydml_graph_add_input(graph, &packed, &x), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_NEGATE", &x, 1, &spread, 1, nullptr, 0, &y), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, y), ANYDML_OK);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_graph_compile(graph, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
  anydml_graph_release(graph);
  const std::vector<float> given = {1, 2, 3, 4, 5};
  std::vector<float> out(15, 7);
  const void* inputs[] = {given.data()};
  void* outputs[] = {out.data()};
  ASSERT_EQ(anydml_compiled_run(compiled, inputs, 1, outputs, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, (std::vector<float>{-1, 7, 7, -2, 7, 7, -3, 7, 7, -4, 7, 7, -5, 7, 7}));
  anydml_compiled_release(compiled);
}

TEST(GraphApi, EmptyValuesAreFine) {
  Twin twin;
  const Form none(ANYDML_FLOAT32, {0, 3});
  const std::size_t x = twin.input(none, {});
  const std::size_t c = twin.constant(none, {});
  twin.output(twin.run("ELEMENT_WISE_ADD", {x, c}, none));
  twin.output(twin.run("ELEMENT_WISE_ABS", {c}, none));
  twin.compile();
  EXPECT_EQ(twin.difference(), "");
}

TEST(GraphApi, MoreTensorsThanAWordHasBits) {
  Twin twin;
  const Form form(ANYDML_FLOAT32, {3});
  std::size_t sum = twin.input(form, floats(3));
  for (std::size_t i = 1; i < 90; ++i) {
    const std::size_t x = twin.input(form, floats(3, static_cast<float>(i)));
    sum = twin.run("ELEMENT_WISE_ADD", {sum, x}, form);
    if (i % 3 == 0) {
      twin.output(sum);
    }
  }
  twin.compile();
  EXPECT_EQ(twin.difference(), "");
}

// A graph of `count` independent operators, where output i is -input i. If `strides` is null, the outputs are packed.
anydml_compiled* negations(std::size_t count, const int64_t* sizes, const int64_t* strides) {
  const anydml_tensor input = {ANYDML_FLOAT32, 1, sizes, nullptr, nullptr};
  const anydml_tensor output = {ANYDML_FLOAT32, 1, sizes, strides, nullptr};
  anydml_graph* graph = nullptr;
  EXPECT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  for (std::size_t i = 0; i < count; ++i) {
    anydml_value x = 0;
    anydml_value y = 0;
    EXPECT_EQ(anydml_graph_add_input(graph, &input, &x), ANYDML_OK);
    EXPECT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_NEGATE", &x, 1, &output, 1, nullptr, 0, &y), ANYDML_OK);
    EXPECT_EQ(anydml_graph_add_output(graph, y), ANYDML_OK);
  }
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_graph_compile(graph, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
  anydml_graph_release(graph);
  return compiled;
}

// Building and running this graph would take minutes if either took quadratic time.
TEST(GraphApi, AHundredThousandInputsAndOutputs) {
  if (kThreadSanitizer) {
    GTEST_SKIP() << "one thread does almost everything here";
  }
  constexpr std::size_t kCount = 100'000;
  const int64_t sizes[] = {1};
  anydml_compiled* compiled = negations(kCount, sizes, nullptr);
  std::vector<float> memory(3 * kCount);
  std::vector<const void*> inputs(kCount);
  std::vector<void*> outputs(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {  // outputs 2, 5, 8 ... overwrite the inputs of other nodes
    memory[3 * i] = static_cast<float>(i);
    inputs[i] = &memory[3 * i];
    outputs[i] = i % 3 == 2 ? &memory[3 * ((i + 1) % kCount)] : &memory[3 * i + 1];
  }
  ASSERT_EQ(anydml_compiled_run(compiled, inputs.data(), kCount, outputs.data(), kCount), ANYDML_OK)
      << anydml_last_error();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    wrong += *static_cast<const float*>(outputs[i]) == -static_cast<float>(i) ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U);
  // If several outputs overlap, the overlap with the lowest output indices is reported.
  outputs[90'000] = outputs[80'001];
  outputs[70'000] = outputs[50'000];
  outputs[60'001] = outputs[50'000];
  EXPECT_EQ(anydml_compiled_run(compiled, inputs.data(), kCount, outputs.data(), kCount), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "graph: output 60001: overlaps output 50000; expected memory of its own");
  anydml_compiled_release(compiled);
}

// The outputs are columns of one matrix. Their ranges overlap, but no two columns share an element.
TEST(GraphApi, OutputsThatAreManyColumns) {
  constexpr std::size_t kCount = 2000;
  const int64_t sizes[] = {3};
  const int64_t strides[] = {kCount};
  anydml_compiled* compiled = negations(kCount, sizes, strides);
  std::vector<float> given(3 * kCount);
  std::vector<float> matrix(3 * kCount);
  std::vector<const void*> inputs(kCount);
  std::vector<void*> outputs(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      given[3 * i + k] = static_cast<float>(3 * i + k);
    }
    inputs[i] = &given[3 * i];
    outputs[i] = &matrix[kCount - 1 - i];
  }
  ASSERT_EQ(anydml_compiled_run(compiled, inputs.data(), kCount, outputs.data(), kCount), ANYDML_OK)
      << anydml_last_error();
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      ASSERT_EQ(matrix[k * kCount + kCount - 1 - i], -given[3 * i + k]);
    }
  }
  outputs[1500] = outputs[7];
  EXPECT_EQ(anydml_compiled_run(compiled, inputs.data(), kCount, outputs.data(), kCount), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "graph: output 1500: overlaps output 7; expected memory of its own");
  anydml_compiled_release(compiled);
}

TEST(GraphApi, ThreadsRunOneGraphAtOnce) {
  Twin twin;
  const Form form(ANYDML_FLOAT32, {64, 128});
  const std::size_t x = twin.input(form, floats(64 * 128));
  const std::size_t y = twin.run("ELEMENT_WISE_MULTIPLY", {x, x}, form);
  const std::vector<int64_t> axes = {0, 1};
  const Form one(ANYDML_FLOAT32, {1, 1});
  const std::size_t total = twin.run("REDUCE", {y}, one, {sum(), axes_of(axes)});
  twin.output(twin.run("ELEMENT_WISE_DIVIDE", {y, total}, form));
  twin.compile();
  std::vector<std::string> answers(8);
  {
    std::vector<std::jthread> threads;
    for (std::string& answer : answers) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 20 && answer.empty(); ++turn) {
          answer = twin.difference();
        }
      });
    }
  }
  EXPECT_EQ(answers, std::vector<std::string>(8));
}

// Random graphs of a few types, with views, constants, reductions and broadcasts.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint32_t seed) : random_(seed) {}

  std::string difference() {
    for (int i = 0; i < 3; ++i) {
      const Form form = some_form();
      i == 1 ? twin_.constant(form, some_bytes(form)) : twin_.input(form, some_bytes(form));
    }
    for (std::uint32_t nodes = 1 + pick(20); nodes > 0; --nodes) {
      add_one();
    }
    for (std::uint32_t outputs = 1 + pick(4); outputs > 0; --outputs) {
      std::size_t value = pick(static_cast<std::uint32_t>(twin_.count()));
      while (std::ranges::find(twin_[value].form.strides, 0) != twin_[value].form.strides.end()) {
        --value;  // the first value has no such stride
      }
      twin_.output(value);
    }
    twin_.compile();
    return twin_.difference();
  }

 private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  Form some_form() {
    static constexpr anydml_type kTypes[] = {ANYDML_FLOAT32, ANYDML_INT32, ANYDML_FLOAT16, ANYDML_UINT8};
    return {kTypes[pick(4)], {12, 10}};
  }
  // The elements include no infinities and no NaN, whose bits may differ.
  Bytes some_bytes(const Form& form) {
    Bytes data(form.bytes());
    for (std::size_t i = 0; i < data.size(); i += anydml_type_size(form.type)) {
      const float real = static_cast<float>(static_cast<int>(pick(64)) - 32) / 8;
      const std::int32_t whole = static_cast<std::int32_t>(pick(100)) - 50;
      const auto half = static_cast<std::uint16_t>(0x3c00 + pick(0x400));
      const void* from = form.type == ANYDML_FLOAT32   ? static_cast<const void*>(&real)
                         : form.type == ANYDML_FLOAT16 ? static_cast<const void*>(&half)
                                                       : static_cast<const void*>(&whole);
      std::memcpy(&data[i], from, anydml_type_size(form.type));
    }
    return data;
  }

  void add_one() {
    const std::size_t a = pick(static_cast<std::uint32_t>(twin_.count()));
    const Form form = twin_[a].form;
    const Form packed(form.type, form.sizes);
    switch (pick(6)) {
      case 0: {  // another view
        if (form.strides != packed.strides || form.sizes.size() != 2) {
          return;
        }
        const int64_t rows = form.sizes[0];
        const int64_t columns = form.sizes[1];
        const Form views[] = {{form.type, {columns, rows}, {1, columns}},
                              {form.type, {columns, rows}},
                              {form.type, {rows * columns, 1}},
                              {form.type, {rows, 1, columns}},
                              {form.type, {2, columns}, {0, 1}}};
        const std::uint32_t way = pick(9);
        if (way < 5) {
          twin_.view(a, views[way]);
        } else if (way == 5 && rows > 1 && columns > 2) {  // without the first row and the first two columns
          twin_.view(a, {form.type, {rows - 1, columns - 2}, {columns, 1}}, columns + 2);
        } else if (way == 6) {  // the last row
          twin_.view(a, {form.type, {1, columns}}, (rows - 1) * columns);
        } else if (way == 7) {  // upside down
          twin_.view(a, {form.type, {rows, columns}, {-columns, 1}}, (rows - 1) * columns);
        } else {  // reversed
          twin_.view(a, {form.type, {rows, columns}, {-columns, -1}}, rows * columns - 1);
        }
        return;
      }
      case 1: {
        const std::vector<int64_t> axes = {pick(static_cast<std::uint32_t>(form.sizes.size()))};
        Sizes sizes = form.sizes;
        sizes[static_cast<std::size_t>(axes[0])] = 1;
        anydml_attribute function = sum();
        function.value.text = "MAX";
        twin_.run("REDUCE", {a}, Form(form.type, sizes), {function, axes_of(axes)});
        return;
      }
      case 2:
        twin_.run("ELEMENT_WISE_CLIP", {a}, packed, {number("Min", 1), number("Max", 100)});
        return;
      case 3:
        twin_.run("CAST", {a}, Form(form.type == ANYDML_INT32 ? ANYDML_FLOAT32 : ANYDML_INT32, form.sizes));
        return;
      default: {
        std::vector<std::size_t> partners;
        for (std::size_t i = 0; i < twin_.count(); ++i) {
          if (twin_[i].form.type == form.type && goes_with(twin_[i].form.sizes, form.sizes)) {
            partners.push_back(i);
          }
        }
        const std::size_t b = partners[pick(static_cast<std::uint32_t>(partners.size()))];
        static constexpr const char* kNames[] = {"ELEMENT_WISE_ADD", "ELEMENT_WISE_MAX", "ELEMENT_WISE_SUBTRACT"};
        twin_.run(kNames[pick(3)], {a, b}, packed);
      }
    }
  }

  static bool goes_with(const Sizes& input, const Sizes& output) {
    for (std::size_t i = 0; i < std::min(input.size(), output.size()); ++i) {
      const int64_t size = input[input.size() - 1 - i];
      if (size != 1 && size != output[output.size() - 1 - i]) {
        return false;
      }
    }
    return input.size() <= output.size();
  }

  std::mt19937 random_;
  Twin twin_;
};

// The header promises a packed output for any stride below 0, even for a dimension of size 1, where the stride has no
// effect.
TEST(GraphApi, AnOutputWithAStrideBelowZeroIsPacked) {
  Twin twin;
  const Form form(ANYDML_FLOAT32, {4, 4});
  Bytes data(form.bytes());
  for (std::size_t i = 0; i < data.size(); i += sizeof(float)) {
    const float value = static_cast<float>(i);
    std::memcpy(&data[i], &value, sizeof(value));
  }
  const std::size_t x = twin.input(form, std::move(data));
  twin.output(twin.view(x, Form(ANYDML_FLOAT32, {1, 4}, {-16, 4})));
  twin.compile();
  EXPECT_EQ(twin.difference(), "");
}

TEST(GraphApi, RandomGraphsAreTheirOperatorsOneByOne) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    ASSERT_EQ(RandomGraph(seed).difference(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace anydml::test
