// SPDX-License-Identifier: MIT
// Outputs in the memory of inputs: any output is correct there, and a cache of keys and values is updated in place.
#include <anydml/onnx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "onnx/onnx_models.h"

namespace anydml::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct NodeText {
  const char* domain;
  const char* op;
  std::vector<const char*> inputs, outputs;
  std::vector<anydml_onnx_attribute> attributes;
};

struct Input {
  const char* name;
  std::int32_t type;
  std::int32_t rank;
};

struct Constant {
  const char* name;
  anydml_onnx_tensor tensor;
};

ModelPointer build(const std::vector<Input>& inputs, const std::vector<NodeText>& nodes,
                   const std::vector<const char*>& outputs, const std::vector<Constant>& constants = {}) {
  anydml_onnx_builder* created = nullptr;
  EXPECT_EQ(anydml_onnx_builder_create(&created), ANYDML_OK);
  const BuilderPointer builder(created);
  EXPECT_EQ(anydml_onnx_builder_set_opset(created, "", 17), ANYDML_OK);
  EXPECT_EQ(anydml_onnx_builder_set_opset(created, "com.microsoft", 1), ANYDML_OK);
  const std::vector<std::int64_t> any(8, -1);
  for (const Input& one : inputs) {
    EXPECT_EQ(anydml_onnx_builder_add_input(created, one.name, one.type, one.rank, any.data(), nullptr), ANYDML_OK)
        << anydml_last_error();
  }
  for (const Constant& one : constants) {
    EXPECT_EQ(anydml_onnx_builder_add_initializer(created, one.name, &one.tensor), ANYDML_OK) << anydml_last_error();
  }
  for (const NodeText& one : nodes) {
    const anydml_onnx_node node = {one.op,
                                   one.domain,
                                   one.op,
                                   one.inputs.data(),
                                   one.inputs.size(),
                                   one.outputs.data(),
                                   one.outputs.size(),
                                   one.attributes.data(),
                                   one.attributes.size()};
    EXPECT_EQ(anydml_onnx_builder_add_node(created, &node), ANYDML_OK) << anydml_last_error();
  }
  for (const char* name : outputs) {
    EXPECT_EQ(anydml_onnx_builder_add_output(created, name, ANYDML_ONNX_UNDEFINED, -1, nullptr, nullptr), ANYDML_OK);
  }
  anydml_onnx_model* model = nullptr;
  EXPECT_EQ(anydml_onnx_builder_finish(created, nullptr, &model), ANYDML_OK) << anydml_last_error();
  return ModelPointer(model);
}

// Runs a model whose outputs have the given addresses.
void run_into(const ModelPointer& model, const std::vector<anydml_tensor>& inputs, std::vector<void*> targets) {
  const auto provide = [](void* context, std::size_t index, std::int32_t, const anydml_tensor*) -> void* {
    return (*static_cast<std::vector<void*>*>(context))[index];
  };
  EXPECT_EQ(anydml_onnx_run(model.get(), inputs.data(), inputs.size(), provide, &targets), ANYDML_OK)
      << anydml_last_error();
}

// ---- Any operators --------------------------------------------------------------------------------------------------

TEST(OnnxInPlace, OtherOutputsSeeTheInputAsItWas) {
  const std::int64_t sizes[] = {4};
  const std::vector<Input> inputs = {{"x", ANYDML_ONNX_FLOAT, 1}};
  const std::vector<float> was = {1, 2, 3, 4};
  // The memory of x becomes that of "twice". "same" is x itself, and "late" reads x after a step on the host.
  const ModelPointer model = build(inputs,
                                   {{"", "Add", {"x", "x"}, {"twice"}, {}},
                                    {"", "Identity", {"x"}, {"same"}, {}},
                                    {"", "NonZero", {"x"}, {"places"}, {}},
                                    {"", "Neg", {"x"}, {"late"}, {}}},
                                   {"twice", "same", "places", "late"});
  for (int round = 0; round < 2; ++round) {
    std::vector<float> x = was;
    std::vector<float> same(4);
    std::vector<float> late(4);
    std::vector<std::int64_t> places(4);
    run_into(model, {{ANYDML_FLOAT32, 1, sizes, nullptr, x.data()}},
             {x.data(), same.data(), places.data(), late.data()});
    EXPECT_EQ(x, (std::vector<float>{2, 4, 6, 8}));
    EXPECT_EQ(same, was);
    EXPECT_EQ(late, (std::vector<float>{-1, -2, -3, -4}));
  }
  std::vector<float> x = was;
  std::vector<float> twice(4);
  std::vector<std::int64_t> places(4);
  run_into(model, {{ANYDML_FLOAT32, 1, sizes, nullptr, x.data()}},
           {twice.data(), std::vector<float>(4).data(), places.data(), x.data()});
  EXPECT_EQ(twice, (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(x, (std::vector<float>{-1, -2, -3, -4}));
}

TEST(OnnxInPlace, MayOverlapInPart) {
  const std::int64_t sizes[] = {4};
  const ModelPointer model = build({{"x", ANYDML_ONNX_FLOAT, 1}}, {{"", "Add", {"x", "x"}, {"y"}, {}}}, {"y"});
  std::vector<float> memory = {1, 2, 3, 4, 0, 0};
  run_into(model, {{ANYDML_FLOAT32, 1, sizes, nullptr, memory.data()}}, {memory.data() + 1});
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 4, 6, 8, 0}));
}

TEST(OnnxInPlace, AViewOfTheInputIsNotTheResultYet) {
  // A transposition with so many dimensions runs on the host, and its result is a view with the address of x.
  anydml_onnx_attribute order{};
  const std::int64_t axes[] = {0, 1, 2, 3, 4, 5, 6, 8, 7};
  order.name = "perm";
  order.type = ANYDML_ONNX_ATTRIBUTE_INTS;
  order.count = 9;
  order.value.ints = axes;
  const ModelPointer model = build({{"x", ANYDML_ONNX_FLOAT, -1}}, {{"", "Transpose", {"x"}, {"y"}, {order}}}, {"y"});
  const std::int64_t sizes[] = {1, 1, 1, 1, 1, 1, 1, 2, 3};
  std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  run_into(model, {{ANYDML_FLOAT32, 9, sizes, nullptr, memory.data()}}, {memory.data()});
  EXPECT_EQ(memory, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

// ---- Caches ---------------------------------------------------------------------------------------------------------

constexpr std::int64_t kHeads = 4, kShared = 2, kElements = 8, kSlots = 300;
constexpr std::int64_t kWidth = (kHeads + 2 * kShared) * kElements;  // of a packed query

NodeText attention_node() {
  return {"com.microsoft",
          "GroupQueryAttention",
          {"query", nullptr, nullptr, "past_key", "past_value", "last", "total"},
          {"y", "present_key", "present_value"},
          {number_attribute("num_heads", kHeads), number_attribute("kv_num_heads", kShared)}};
}

ModelPointer attention_model() {
  return build({{"query", ANYDML_ONNX_FLOAT, 3},
                {"past_key", ANYDML_ONNX_FLOAT, 4},
                {"past_value", ANYDML_ONNX_FLOAT, 4},
                {"last", ANYDML_ONNX_INT32, 1},
                {"total", ANYDML_ONNX_INT32, 1}},
               {attention_node()}, {"y", "present_key", "present_value"});
}

struct Cache {
  std::int64_t rows;
  std::vector<float> key, value;

  explicit Cache(std::int64_t count, float element = 0)
      : rows(count), key(static_cast<std::size_t>(kShared * count * kElements), element), value(key) {}
};

// Appends these tokens to the rows before them.
std::vector<float> attend(const ModelPointer& model, const std::vector<float>& query, std::int64_t before,
                          std::int64_t total, const Cache& past, Cache& present) {
  const std::int64_t tokens = static_cast<std::int64_t>(query.size()) / kWidth;
  std::vector<float> y(static_cast<std::size_t>(tokens * kHeads * kElements));
  const std::int64_t query_sizes[] = {1, tokens, kWidth};
  const std::int64_t past_sizes[] = {1, kShared, past.rows, kElements};
  const std::int64_t one[] = {1};
  const auto last = static_cast<std::int32_t>(before + tokens - 1);
  const auto all = static_cast<std::int32_t>(total);
  run_into(model,
           {anydml_const_tensor(ANYDML_FLOAT32, 3, query_sizes, nullptr, query.data()),
            anydml_const_tensor(ANYDML_FLOAT32, 4, past_sizes, nullptr, past.key.data()),
            anydml_const_tensor(ANYDML_FLOAT32, 4, past_sizes, nullptr, past.value.data()),
            anydml_const_tensor(ANYDML_INT32, 1, one, nullptr, &last),
            anydml_const_tensor(ANYDML_INT32, 1, one, nullptr, &all)},
           {y.data(), present.key.data(), present.value.data()});
  return y;
}

std::vector<float> tokens_of(std::int64_t first, std::int64_t count) {
  std::vector<float> query;
  for (std::int64_t i = first * kWidth; i < (first + count) * kWidth; ++i) {
    query.push_back(std::sin(static_cast<float>(i) * 0.37F));
  }
  return query;
}

bool are_same_bits(const std::vector<float>& one, const std::vector<float>& other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

TEST(OnnxInPlace, ACacheOfFixedSizeHasTheBitsOfAGrowingOne) {
  const ModelPointer model = attention_model();
  Cache fixed(kSlots, kNan);  // whatever the unused rows hold does not matter
  Cache growing(0);
  std::int64_t before = 0;
  for (const std::int64_t tokens : {1, 7, 1, 256, 1, 1, 20}) {
    const std::vector<float> query = tokens_of(before, tokens);
    const std::vector<float> in_place = attend(model, query, before, kSlots, fixed, fixed);
    Cache grown(before + tokens);
    const std::vector<float> y = attend(model, query, before, before + tokens, growing, grown);
    EXPECT_TRUE(are_same_bits(in_place, y)) << before << " and " << tokens;
    before += tokens;
    growing = std::move(grown);
    for (std::int64_t head = 0; head < kShared; ++head) {
      for (std::int64_t i = 0; i < kSlots * kElements; ++i) {
        const float found = fixed.key[static_cast<std::size_t>(head * kSlots * kElements + i)];
        if (i < before * kElements) {
          ASSERT_EQ(found, growing.key[static_cast<std::size_t>(head * before * kElements + i)]);
        } else {
          ASSERT_TRUE(std::isnan(found)) << "row " << i / kElements << " was written";
        }
      }
    }
  }
}

TEST(OnnxInPlace, InOtherMemoryTheRestIsZero) {
  const ModelPointer model = attention_model();
  const Cache past(5, kNan);
  Cache present(5, 7);
  const std::vector<float> y = attend(model, tokens_of(0, 2), 0, 5, past, present);
  EXPECT_FALSE(std::isnan(y[0]));
  for (std::size_t i = 2 * kElements; i < 5 * kElements; ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(present.key[i]), 0U) << i;
  }
}

constexpr std::int64_t kCapacity = 6;  // of the caches below, which contain two tokens, and then three
constexpr std::int64_t kPastSizes[] = {1, kShared, kCapacity, kElements};
constexpr std::int64_t kQuerySizes[] = {1, 1, kWidth};
constexpr std::int64_t kOne[] = {1};
constexpr std::int32_t kLast = 2;
constexpr std::int32_t kTotal = kCapacity;

bool are_zero(const std::vector<float>& elements, std::int64_t first, std::int64_t end) {
  return std::all_of(elements.begin() + first, elements.begin() + end,
                     [](float one) { return std::bit_cast<std::uint32_t>(one) == 0; });
}

TEST(OnnxInPlace, APartOfAJoinHasNoOldBytes) {
  const ModelPointer model =
      build({{"query", ANYDML_ONNX_FLOAT, 3},
             {"past_key", ANYDML_ONNX_FLOAT, 4},
             {"past_value", ANYDML_ONNX_FLOAT, 4},
             {"last", ANYDML_ONNX_INT32, 1},
             {"total", ANYDML_ONNX_INT32, 1},
             {"z", ANYDML_ONNX_FLOAT, 4}},
            {attention_node(), {"", "Concat", {"present_key", "z"}, {"joined"}, {number_attribute("axis", 2)}}},
            {"y", "joined"});
  const Cache past(kCapacity, 1);
  const std::vector<float> query = tokens_of(0, 1);
  std::vector<float> y(kHeads * kElements);
  std::vector<float> joined(kShared * (kCapacity + 1) * kElements, 777);
  const std::vector<float> z(kShared * kElements, 5);
  const std::int64_t z_sizes[] = {1, kShared, 1, kElements};
  run_into(model,
           {anydml_const_tensor(ANYDML_FLOAT32, 3, kQuerySizes, nullptr, query.data()),
            anydml_const_tensor(ANYDML_FLOAT32, 4, kPastSizes, nullptr, past.key.data()),
            anydml_const_tensor(ANYDML_FLOAT32, 4, kPastSizes, nullptr, past.value.data()),
            anydml_const_tensor(ANYDML_INT32, 1, kOne, nullptr, &kLast),
            anydml_const_tensor(ANYDML_INT32, 1, kOne, nullptr, &kTotal),
            anydml_const_tensor(ANYDML_FLOAT32, 4, z_sizes, nullptr, z.data())},
           {y.data(), joined.data()});
  EXPECT_TRUE(are_zero(joined, 3 * kElements, kCapacity * kElements));
  EXPECT_EQ(joined[0], 1);
  EXPECT_EQ(joined[kCapacity * kElements], 5);
}

TEST(OnnxInPlace, AnAppendThatRunsOnceHasNoOldBytes) {
  const Cache past(kCapacity, 1);
  const std::vector<float> query = tokens_of(0, 1);
  const ModelPointer model =
      build({{"x", ANYDML_ONNX_FLOAT, 4}}, {attention_node(), {"", "Add", {"present_key", "x"}, {"sum"}, {}}}, {"sum"},
            {{"query", {ANYDML_ONNX_FLOAT, 3, kQuerySizes, query.data()}},
             {"past_key", {ANYDML_ONNX_FLOAT, 4, kPastSizes, past.key.data()}},
             {"past_value", {ANYDML_ONNX_FLOAT, 4, kPastSizes, past.value.data()}},
             {"last", {ANYDML_ONNX_INT32, 1, kOne, &kLast}},
             {"total", {ANYDML_ONNX_INT32, 1, kOne, &kTotal}}});
  const std::int64_t sizes[] = {1, 1, 1, 1};
  const float zero = 0;
  std::vector<float> sum(kShared * kCapacity * kElements, 777);
  run_into(model, {anydml_const_tensor(ANYDML_FLOAT32, 4, sizes, nullptr, &zero)}, {sum.data()});
  EXPECT_TRUE(are_zero(sum, 3 * kElements, kCapacity * kElements));
  EXPECT_EQ(sum[0], 1);
}

}  // namespace
}  // namespace anydml::test
