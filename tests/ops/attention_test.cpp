// SPDX-License-Identifier: MIT
// Checks attention through the C API against an independent implementation of its definition, output by output, at
// sizes that are too large for the Python oracle. Also checks the error messages and the compiled plans.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/float_bits.h"
#include "graph/compile.h"
#include "ops/attention/cpu/kernels.h"
#include "ops/attention/scalar/scores.h"
#include "plan/device_traits.h"
#include "support/graph_text.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

struct Sizes {
  std::int64_t batches;
  std::int64_t heads;
  std::int64_t shared;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t depth;
  std::int64_t width;
};

f32 product_of(const std::vector<f32>& a, const std::vector<f32>& b) {
  f32 total = 0;
  for (std::size_t first = 0; first < a.size(); first += 256) {
    f32 sum = 0;
    for (std::size_t k = first; k < std::min(a.size(), first + 256); ++k) {
      sum = __builtin_fmaf(a[k], b[k], sum);
    }
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

f32 sum_of(const std::vector<f32>& exponentials) {
  BlockTree<f32> tree;
  for (std::size_t first = 0; first < exponentials.size(); first += 4096) {
    f32 lanes[64];
    std::fill_n(lanes, 64, -0.0F);
    for (std::size_t i = first; i < std::min(exponentials.size(), first + 4096); ++i) {
      lanes[i % 64] += exponentials[i];
    }
    for (std::size_t half = 32; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) {
        lanes[i] += lanes[i + half];
      }
    }
    tree.add(lanes[0], sum_exponentials);
  }
  return tree.total(sum_exponentials);
}

// Tokens in FLOAT32 or FLOAT16, packed.
template <class T>
struct Tokens {
  std::int64_t rows;
  std::int64_t heads;
  std::int64_t elements;
  std::vector<T> values;

  Tokens(std::mt19937& random, std::int64_t batches, std::int64_t of_rows, std::int64_t of_heads,
         std::int64_t of_elements)
      : rows(of_rows), heads(of_heads), elements(of_elements) {
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < batches * rows * heads * elements; ++i) {
      values.push_back(narrow<T>(normal(random)));
    }
  }
  [[nodiscard]] f32 at(std::int64_t batch, std::int64_t row, std::int64_t head, std::int64_t element) const {
    return widen(values[static_cast<std::size_t>(((batch * rows + row) * heads + head) * elements + element)]);
  }
};

anydml_attribute number(const char* name, double value) {
  anydml_attribute result{name, ANYDML_FLOAT64, 0, {}};
  result.value.f64 = value;
  return result;
}
anydml_attribute count(const char* name, std::int64_t value) {
  anydml_attribute result{name, ANYDML_INT64, 0, {}};
  result.value.i64 = value;
  return result;
}
anydml_attribute word(const char* name, const char* value) {
  anydml_attribute result{name, ANYDML_TEXT, 0, {}};
  result.value.text = value;
  return result;
}

template <class T>
constexpr anydml_type kType = std::is_same_v<T, f16> ? ANYDML_FLOAT16 : ANYDML_FLOAT32;

constexpr f32 kScale = 0.3F;
constexpr f32 kFilter = -7.5F;

// Every optional operation between the two products, at sizes that are and are not multiples of panels, strips and
// blocks.
template <class T>
void check(const Sizes& sizes, std::uint32_t seed) {
  std::mt19937 random(seed);
  const Tokens<T> q(random, sizes.batches, sizes.queries, sizes.heads, sizes.depth);
  const Tokens<T> k(random, sizes.batches, sizes.keys, sizes.shared, sizes.depth);
  const Tokens<T> v(random, sizes.batches, sizes.keys, sizes.shared, sizes.width);
  const Tokens<T> bias(random, sizes.heads, sizes.queries, 1, sizes.keys);
  std::vector<i32> lengths;
  for (std::int64_t b = 0; b < sizes.batches; ++b) {
    lengths.push_back(static_cast<i32>(sizes.keys - 3 * b - 1));
  }
  std::vector<T> result(static_cast<std::size_t>(sizes.batches * sizes.queries * sizes.heads * sizes.width));
  const std::int64_t of_q[] = {sizes.batches, sizes.queries, sizes.heads * sizes.depth};
  const std::int64_t of_k[] = {sizes.batches, sizes.keys, sizes.shared * sizes.depth};
  const std::int64_t of_v[] = {sizes.batches, sizes.keys, sizes.shared * sizes.width};
  const std::int64_t of_bias[] = {1, sizes.heads, sizes.queries, sizes.keys};
  const std::int64_t of_mask[] = {1, sizes.batches};
  const std::int64_t of_result[] = {sizes.batches, sizes.queries, sizes.heads * sizes.width};
  anydml_tensor inputs[12] = {};
  inputs[0] = anydml_const_tensor(kType<T>, 3, of_q, nullptr, q.values.data());
  inputs[1] = anydml_const_tensor(kType<T>, 3, of_k, nullptr, k.values.data());
  inputs[2] = anydml_const_tensor(kType<T>, 3, of_v, nullptr, v.values.data());
  inputs[7] = anydml_const_tensor(ANYDML_INT32, 2, of_mask, nullptr, lengths.data());
  inputs[8] = anydml_const_tensor(kType<T>, 4, of_bias, nullptr, bias.values.data());
  anydml_tensor outputs[3] = {{kType<T>, 3, of_result, nullptr, result.data()}, {}, {}};
  const anydml_attribute attributes[] = {number("Scale", kScale), number("MaskFilterValue", kFilter),
                                         count("QueryHeadCount", sizes.heads), count("KeyValueHeadCount", sizes.shared),
                                         word("MaskType", "KEY_SEQUENCE_LENGTH")};
  ASSERT_EQ(anydml_run(nullptr, "MULTIHEAD_ATTENTION1", inputs, 12, outputs, 3, attributes, std::size(attributes)),
            ANYDML_OK)
      << anydml_last_error();
  std::size_t different = 0;
  for (std::int64_t b = 0; b < sizes.batches; ++b) {
    for (std::int64_t h = 0; h < sizes.heads; ++h) {
      const std::int64_t shared = h / (sizes.heads / sizes.shared);
      for (std::int64_t i = 0; i < sizes.queries; ++i) {
        std::vector<f32> query;
        for (std::int64_t d = 0; d < sizes.depth; ++d) {
          query.push_back(q.at(b, i, h, d));
        }
        std::vector<f32> scores;
        f32 maximum = -std::numeric_limits<f32>::infinity();
        for (std::int64_t j = 0; j < sizes.keys; ++j) {
          std::vector<f32> key;
          for (std::int64_t d = 0; d < sizes.depth; ++d) {
            key.push_back(k.at(b, j, shared, d));
          }
          f32 score = product_of(query, key) * kScale;
          score += bias.at(h, i, 0, j);
          score = j < lengths[static_cast<std::size_t>(b)] ? score : score + kFilter;
          maximum = std::max(maximum, score);
          scores.push_back(score);
        }
        for (f32& score : scores) {
          score = exponential_of_score(score - maximum);
        }
        const f32 total = sum_of(scores);
        for (std::int64_t c = 0; c < sizes.width; ++c) {
          std::vector<f32> values;
          for (std::int64_t j = 0; j < sizes.keys; ++j) {
            values.push_back(v.at(b, j, shared, c));
          }
          const T expected = narrow<T>(product_of(scores, values) / total);
          const std::int64_t offset = ((b * sizes.queries + i) * sizes.heads + h) * sizes.width + c;
          different += to_bits(expected) != to_bits(result[static_cast<std::size_t>(offset)]) ? 1U : 0U;
        }
      }
    }
  }
  EXPECT_EQ(different, 0U) << sizes.queries << " queries, " << sizes.keys << " keys of " << sizes.depth
                           << ", values of " << sizes.width;
}

TEST(Attention, IsItsDefinition) {
  std::uint32_t seed = 1;
  for (const Sizes& sizes : std::vector<Sizes>{{1, 1, 1, 130, 200, 64, 64},
                                               {2, 4, 2, 33, 97, 40, 24},
                                               {1, 2, 2, 17, 1030, 8, 10},
                                               {1, 2, 1, 4, 700, 33, 20},
                                               {2, 1, 1, 1, 5000, 16, 5},
                                               {1, 1, 1, 20, 4200, 3, 2},
                                               {1, 1, 1, 70, 20, 600, 7},
                                               {1, 3, 3, 5, 1, 1, 1}}) {
    check<f32>(sizes, seed++);
    check<f16>(sizes, seed++);
  }
}

// Compares the exponentials of each target with the definition, for differences from 0 to -110, whose exponential is 0.
// Tests one in 97 of them; ANYDML_ALL_DIFFERENCES tests all 1,121,714,177.
TEST(Attention, ExponentialsAreTheDefinition) {
  const u32 step = std::getenv("ANYDML_ALL_DIFFERENCES") != nullptr ? 1 : 97;
  constexpr u32 kLast = 0xc2dc0000;  // -110
  constexpr std::size_t kAtOnce = 4096;
  const std::vector<f32> zeros(kScorePeriod, 0.0F);
  for (const cpu::Target target : cpu::machine_targets()) {
    const ScoreKernels* const kernels = vector_score_kernels(target);
    if (kernels == nullptr) {
      continue;
    }
    std::size_t different = 0;
    std::vector<f32> x(kAtOnce);
    for (u64 first = 0x80000000; first <= kLast; first += u64{step} * kAtOnce) {
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        x[i] = from_bits<f32>(static_cast<u32>(std::min<u64>(kLast, first + i * step)));
      }
      std::vector<f32> result = x;
      kernels->raise(result.data(), kAtOnce, 1.0F, zeros.data(), nullptr, 0);
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        different += to_bits(result[i]) != to_bits(exponential_of_score(x[i])) ? 1U : 0U;
      }
    }
    EXPECT_EQ(different, 0U) << cpu::target_name(target);
    std::vector<f32> special(kScoresTogether, -std::numeric_limits<f32>::infinity());
    special[1] = std::numeric_limits<f32>::quiet_NaN();
    special[2] = -1e30F;
    kernels->raise(special.data(), kScoresTogether, 1.0F, zeros.data(), nullptr, 0);
    EXPECT_EQ(to_bits(special[0]), 0U);
    EXPECT_NE(special[1], special[1]);
    EXPECT_EQ(to_bits(special[2]), 0U);
  }
}

// ---- Invalid data ---------------------------------------------------------------------------------------------------

// Past lengths that exceed the tensor are clamped to the nearest valid length, and nothing outside the tensors is
// accessed.
TEST(Attention, LengthsOutsideOfThePastCountAsTheNearest) {
  const std::int64_t tokens[] = {1, 2, 4};
  const std::int64_t rows[] = {1, 1, 3, 4};
  const std::int64_t one[] = {1};
  const std::int64_t all[] = {1, 1, 5, 4};
  std::vector<f32> x(8, 1.0F);
  std::vector<f32> past(12, 2.0F);
  for (const auto& [length, expected] : std::map<i32, i32>{
           {std::numeric_limits<i32>::min(), 0}, {-1, 0}, {2, 2}, {4, 3}, {std::numeric_limits<i32>::max(), 3}}) {
    std::vector<f32> out(8);
    std::vector<f32> keys(20);
    anydml_tensor inputs[12] = {};
    for (int i = 0; i < 3; ++i) {
      inputs[i] = anydml_const_tensor(ANYDML_FLOAT32, 3, tokens, nullptr, x.data());
    }
    inputs[9] = inputs[10] = anydml_const_tensor(ANYDML_FLOAT32, 4, rows, nullptr, past.data());
    inputs[11] = anydml_const_tensor(ANYDML_INT32, 1, one, nullptr, &length);
    anydml_tensor outputs[3] = {
        {ANYDML_FLOAT32, 3, tokens, nullptr, out.data()}, {ANYDML_FLOAT32, 4, all, nullptr, keys.data()}, {}};
    const anydml_attribute attributes[] = {number("Scale", 1), number("MaskFilterValue", 0), count("QueryHeadCount", 1),
                                           count("KeyValueHeadCount", 1), word("MaskType", "NONE")};
    ASSERT_EQ(anydml_run(nullptr, "MULTIHEAD_ATTENTION1", inputs, 12, outputs, 3, attributes, std::size(attributes)),
              ANYDML_OK)
        << anydml_last_error();
    for (std::size_t row = 0; row < 5; ++row) {
      const auto offset = static_cast<i32>(row);
      EXPECT_EQ(keys[row * 4], offset < expected ? 2.0F : offset < expected + 2 ? 1.0F : 0.0F) << length << ", " << row;
    }
  }
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

std::string error_of(const std::string& operator_text) {
  try {
    static_cast<void>(parse_graph("a = input 65536\nx = " + operator_text + "\nout x\n"));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Attention, RefusesWhatHasNoMeaning) {
  const std::string rest = " - - - - - - - - -> ";
  const std::string numbers = " -> - -> - Scale=1 MaskFilterValue=0 ";
  EXPECT_EQ(error_of("MULTIHEAD_ATTENTION a:f32[1,2,6] a:f32[1,3,6] a:f32[1,3,4]" + rest + "f32[1,2,4]" + numbers +
                     "HeadCount=0"),
            "MULTIHEAD_ATTENTION: HeadCount: is 0; expected at least one head");
  EXPECT_EQ(
      error_of("MULTIHEAD_ATTENTION a:f32[1,2,6] a:f32[1,3,6] a:f32[1,3,4]" + rest + "f32[1,2,4]" + numbers +
               "HeadCount=4"),
      "MULTIHEAD_ATTENTION: QueryTensor: sizes are [1, 2, 6]; expected a multiple of 4 elements at the end, one row "
      "for each head");
  EXPECT_EQ(error_of("MULTIHEAD_ATTENTION a:f32[1,2,6] a:f32[1,3,6] a:f32[1,3,4]" + rest + "f32[1,2,4]" + numbers +
                     "HeadCount=2 MaskType=BOOLEAN"),
            "MULTIHEAD_ATTENTION: MaskTensor: is absent; expected a mask, because MaskType is not NONE");
  EXPECT_EQ(error_of("MULTIHEAD_ATTENTION a:f32[1,2,6] a:f32[1,3,6] a:f32[1,3,4] - - - - a:i32[3,2,3] - - - -> "
                     "f32[1,2,4]" +
                     numbers + "HeadCount=2 MaskType=BOOLEAN"),
            "MULTIHEAD_ATTENTION: MaskTensor: sizes are [3, 2, 3]; expected [1, 2, 2, 3], or 1 instead of any of them");
  EXPECT_EQ(error_of("MULTIHEAD_ATTENTION1 a:f32[1,2,6] a:f32[1,3,4] a:f32[1,3,4]" + rest.substr(0, rest.size() - 4) +
                     " - -> f32[1,2,6]" + numbers + "QueryHeadCount=3 KeyValueHeadCount=2"),
            "MULTIHEAD_ATTENTION1: KeyValueHeadCount: is 2; expected a divisor of QueryHeadCount, which is 3");
}

// ---- Plans ----------------------------------------------------------------------------------------------------------

std::string run_of(const DeviceTraits& traits, const std::string& nodes) {
  std::string shown;
  const auto plans = compile_graph(parse_graph(nodes), traits, &shown);
  return plans.ok() ? shown.substr(shown.find("run: ")) : plans.error().message;
}

constexpr const char* kStacked =
    "x = input 4608\ny = MULTIHEAD_ATTENTION - - - - - x:f32[2,8,3,3,8] - - - - - -> f32[2,8,24] -> - -> - Scale=1 "
    "MaskFilterValue=0 HeadCount=3 MaskType=NONE\nout y\n";

// Stacked tensors are read in place.
TEST(AttentionPlan, PacksAndAttends) {
  const std::string plan = run_of({.joins_from = 1, .vector_bytes = 16, .has_fused_attention = true}, kStacked);
  EXPECT_EQ(plan.find("SLICE"), std::string::npos) << plan;
  EXPECT_NE(plan.find("run: 3 steps"), std::string::npos) << plan;
}

// Absent outputs stay absent when an operator's decomposition contains operators that are decomposed themselves.
TEST(AttentionPlan, IsTwoProductsWhereItIsNoStepOfItsOwn) {
  const std::string plan = run_of({.joins_from = 1, .has_fused_attention = false}, kStacked);
  EXPECT_NE(plan.find("ATTENTION_ROWS"), std::string::npos) << plan;
  EXPECT_NE(plan.find("run: 3 steps"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("IDENTITY"), std::string::npos) << plan;
  // With outputs that nothing reads, as for a stand-alone operator.
  const std::string alone =
      run_of({.joins_from = 1, .has_fused_attention = false}, std::string(kStacked) + "out y.1\nout y.2\n");
  EXPECT_NE(alone.find("run: 3 steps"), std::string::npos) << alone;
}

// The scores of all queries would exceed the temporary memory limit, so the queries are processed in groups.
TEST(AttentionPlan, TakesSomeQueriesAtATimeInProducts) {
  const std::string plan = run_of({.joins_from = 1, .has_fused_attention = false},
                                  "x = input 1\ny = MULTIHEAD_ATTENTION x:f32[1,16384,96] x:f32[1,16384,96] "
                                  "x:f32[1,16384,96] - - - - - - - - -> f32[1,16384,96] -> - -> - Scale=1 "
                                  "MaskFilterValue=0 HeadCount=12 MaskType=NONE\nout y\n");
  EXPECT_NE(plan.find("ATTENTION_ROWS"), plan.rfind("ATTENTION_ROWS")) << plan;
}

}  // namespace
}  // namespace anydml::test
