// SPDX-License-Identifier: MIT
// Checks the operators that train a network through the C API, element by element, against independent
// implementations of their definitions that ignore layouts, threads and passes. Also checks the steps of their plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "graph/compile.h"
#include "ops/scalar/functions/power.h"
#include "support/graph_text.h"
#include "support/placed.h"
#include "support/row_sums.h"
#include "support/sanitizers.h"
#include "support/type_names.h"

namespace anydml::test {
namespace {

constexpr f32 kEpsilon = 1e-3F;

// The elements of a tensor, and the index of the sum to which each belongs.
struct Rows {
  std::vector<std::size_t> row_of;
  std::size_t count = 1;
  bool lanes = false;

  Rows(const Sizes& sizes, const Sizes& kept) {
    i64 elements = 1;
    i64 last_long = -1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      elements *= sizes[i];
      count *= static_cast<std::size_t>(kept[i]);
      last_long = sizes[i] != 1 ? static_cast<i64>(i) : last_long;
    }
    lanes = last_long >= 0 && kept[static_cast<std::size_t>(last_long)] == 1;
    for (i64 n = 0; n < elements; ++n) {
      i64 row = 0;
      i64 stride = 1;
      i64 rest = n;
      for (std::size_t i = sizes.size(); i-- > 0;) {
        row += kept[i] == 1 ? 0 : rest % sizes[i] * stride;
        stride *= kept[i];
        rest /= sizes[i];
      }
      row_of.push_back(static_cast<std::size_t>(row));
    }
  }

  template <class Element>
  [[nodiscard]] std::vector<f32> sums(const Element& element) const {
    std::vector<std::vector<f32>> elements(count);
    for (std::size_t n = 0; n < row_of.size(); ++n) {
      elements[row_of[n]].push_back(element(static_cast<i64>(n)));
    }
    std::vector<f32> result;
    for (const std::vector<f32>& one : elements) {
      result.push_back(sum_in_order(one, lanes));
    }
    return result;
  }
  [[nodiscard]] f32 elements_of_row() const { return static_cast<f32>(row_of.size() / count); }
};

// An output, and the expected contents of its memory.
template <class T>
struct Result {
  Placed<T> placed;
  Memory<T> expected;

  Result(const Sizes& sizes, Random& random) : placed(sizes, random, false), expected(placed.memory) {}
  void expect(i64 n, f32 value) { expected.store(placed.layout.offset(n), narrow<T>(value)); }
  [[nodiscard]] bool is_right() const { return placed.memory.equals(expected, placed.layout, 0); }
};

template <class T>
struct Batch {
  const Sizes& sizes;
  Placed<T> x, gradient, addend, mean, variance, scale, bias;
  Result<T> output, first, second;
  Rows rows;

  Batch(const Sizes& of, const Sizes& kept, Random& random)
      : sizes(of),
        x(of, random, true),
        gradient(of, random, true),
        addend(of, random, true),
        mean(kept, random, true),
        variance(kept, random, true),
        scale(kept, random, true),
        bias(kept, random, true),
        output(of, random),
        first(kept, random),
        second(kept, random),
        rows(of, kept) {
    for (Placed<T>* one : {&x, &gradient, &addend, &scale, &bias, &mean}) {
      one->fill(random, -2, 3);
    }
    variance.fill(random, 0.25, 2);
  }

  void check(const char* name, const std::vector<anydml_tensor>& inputs) {
    ASSERT_EQ(run(name, inputs, std::vector{output.placed.tensor(), first.placed.tensor(), second.placed.tensor()},
                  {number("Epsilon", kEpsilon)}),
              ANYDML_OK)
        << anydml_last_error();
    EXPECT_TRUE(output.is_right()) << name;
    EXPECT_TRUE(first.is_right()) << name;
    EXPECT_TRUE(second.is_right()) << name;
    ASSERT_FALSE(testing::Test::HasFailure())
        << type_name(kDataTypeOf<T>) << " " << text_of(sizes) << "of " << text_of(scale.layout.sizes);
  }

  void check_training(bool has_addend) {
    const f32 count = rows.elements_of_row();
    std::vector<f32> means = rows.sums([&](i64 n) { return x.at(sizes, n); });
    std::ranges::for_each(means, [&](f32& one) { one /= count; });
    const auto difference = [&](i64 n) { return x.at(sizes, n) - means[rows.row_of[static_cast<std::size_t>(n)]]; };
    std::vector<f32> variances = rows.sums([&](i64 n) { return difference(n) * difference(n); });
    std::ranges::for_each(variances, [&](f32& one) { one /= count; });
    for (i64 n = 0; n < x.layout.count(); ++n) {
      const f32 spread = variances[rows.row_of[static_cast<std::size_t>(n)]] + kEpsilon;
      const f32 result = std::fma(difference(n), scale.at(sizes, n) / std::sqrt(spread), bias.at(sizes, n));
      output.expect(n, has_addend ? result + addend.at(sizes, n) : result);
    }
    for (std::size_t row = 0; row < rows.count; ++row) {
      first.expect(static_cast<i64>(row), means[row]);
      second.expect(static_cast<i64>(row), variances[row]);
    }
    check("BATCH_NORMALIZATION_TRAINING",
          {x.tensor(), scale.tensor(), bias.tensor(), has_addend ? addend.tensor() : anydml_tensor{}});
  }

  void check_gradient(bool of_training) {
    const f32 count = rows.elements_of_row();
    const std::vector<f32> gradients = rows.sums([&](i64 n) { return gradient.at(sizes, n); });
    std::vector<f32> means = rows.sums([&](i64 n) { return x.at(sizes, n); });
    std::ranges::for_each(means, [&](f32& one) { one /= count; });
    const auto difference = [&](i64 n) {
      return x.at(sizes, n) - (of_training ? means[rows.row_of[static_cast<std::size_t>(n)]] : mean.at(sizes, n));
    };
    const std::vector<f32> products = rows.sums([&](i64 n) { return gradient.at(sizes, n) * difference(n); });
    for (i64 n = 0; n < x.layout.count(); ++n) {
      const std::size_t row = rows.row_of[static_cast<std::size_t>(n)];
      const f32 spread = variance.at(sizes, n) + kEpsilon;
      const f32 factor = scale.at(sizes, n) / std::sqrt(spread);
      const f32 slope = products[row] / count / spread;
      const f32 share = difference(n) * slope;
      const f32 own = gradient.at(sizes, n);
      const f32 centered = own - gradients[row] / count;
      output.expect(n, of_training ? (centered - share) * factor : own * factor);
      const f32 shift = (means[row] - mean.at(sizes, n)) * gradients[row];
      const f32 total = of_training ? products[row] + shift : products[row];
      first.expect(static_cast<i64>(row), total / std::sqrt(spread));
      second.expect(static_cast<i64>(row), gradients[row]);
    }
    check(of_training ? "BATCH_NORMALIZATION_TRAINING_GRAD" : "BATCH_NORMALIZATION_GRAD",
          {x.tensor(), gradient.tensor(), mean.tensor(), variance.tensor(), scale.tensor()});
  }
};

template <class T>
void check_batches(const Sizes& sizes, const Sizes& kept, Random& random) {
  for (int n = 0; n < 4 && !testing::Test::HasFailure(); ++n) {
    Batch<T> batch(sizes, kept, random);
    n < 2 ? batch.check_training(n == 1) : batch.check_gradient(n == 3);
  }
}

template <class T>
class Training : public testing::Test {};
using Types = testing::Types<f32, f16>;
TYPED_TEST_SUITE(Training, Types, TypeNames);

TYPED_TEST(Training, OfBatchesHasTheBitsOfTheDefinitionInAnyShape) {
  Random random(kSeed);
  for (int n = 0; n < (kSanitized ? 15 : 100) && !this->HasFailure(); ++n) {
    const Sizes sizes = random_sizes(random, 8, n % 8 == 0 ? 30'000 : 2000);
    check_batches<TypeParam>(sizes, with_repeats(sizes, random), random);
  }
}

TYPED_TEST(Training, OfLargeBatchesHasTheBitsOfTheDefinition) {
  Random random(kSeed + 1);
  for (const auto& [sizes, kept] : std::vector<std::pair<Sizes, Sizes>>{{{4, 16, 40, 40}, {1, 16, 1, 1}},
                                                                        {{2, 3, 130, 130}, {1, 3, 1, 1}},
                                                                        {{5000, 20}, {1, 20}},
                                                                        {{100'001}, {1}},
                                                                        {{3, 30'000}, {3, 1}}}) {
    if (!kSanitized || sizes[0] == 4) {
      check_batches<TypeParam>(sizes, kept, random);
    }
  }
}

TYPED_TEST(Training, OfLocalResponsesHasTheBitsOfTheDefinition) {
  using T = TypeParam;
  constexpr f32 kAlpha = 0.3F;
  constexpr f32 kBeta = 0.75F;
  constexpr f32 kBias = 1.5F;
  Random random(kSeed + 2);
  for (int n = 0; n < (kSanitized ? 10 : 60) && !this->HasFailure(); ++n) {
    const Sizes sizes = {1 + static_cast<i64>(random() % 3), 1 + static_cast<i64>(random() % 9),
                         1 + static_cast<i64>(random() % 7), n % 10 == 0 ? 1500 : 1 + static_cast<i64>(random() % 20)};
    const bool across = random() % 2 == 0;
    const i64 size = 1 + static_cast<i64>(random() % (n % 10 == 0 ? 3 : 7));
    Placed<T> x(sizes, random, true);
    Placed<T> gradient(sizes, random, true);
    x.fill(random, -3, 5);
    gradient.fill(random, -2, 2);
    // The sum over a window that extends this far back and forward.
    const auto sum = [&](i64 k, i64 back, i64 forward, const auto& element) {
      const i64 at[] = {k / (sizes[1] * sizes[2] * sizes[3]), k / (sizes[2] * sizes[3]) % sizes[1],
                        k / sizes[3] % sizes[2], k % sizes[3]};
      const auto window = [&](std::size_t axis, bool is_windowed) {
        return std::pair(std::max<i64>(0, at[axis] - (is_windowed ? back : 0)),
                         std::min(sizes[axis] - 1, at[axis] + (is_windowed ? forward : 0)));
      };
      f32 total = -0.0F;
      for (auto [c, c_end] = window(1, across); c <= c_end; ++c) {
        for (auto [h, h_end] = window(2, !across); h <= h_end; ++h) {
          for (auto [w, w_end] = window(3, !across); w <= w_end; ++w) {
            total += element(((at[0] * sizes[1] + c) * sizes[2] + h) * sizes[3] + w);
          }
        }
      }
      return total;
    };
    const i64 count = x.layout.count();
    const f32 factor = kAlpha / static_cast<f32>(size);
    std::vector<f32> quotients;
    std::vector<f32> shares;
    for (i64 k = 0; k < count; ++k) {
      const f32 squares = sum(k, (size - 1) / 2, size / 2, [&](i64 i) { return x.at(sizes, i) * x.at(sizes, i); });
      const f32 base = factor * squares + kBias;
      quotients.push_back(gradient.at(sizes, k) / Pow<f32, f32>{}(base, kBeta));
      shares.push_back(quotients.back() * x.at(sizes, k) / base);
    }
    Result<T> y(sizes, random);
    for (i64 k = 0; k < count; ++k) {
      const f32 all = sum(k, size / 2, (size - 1) / 2, [&](i64 i) { return shares[static_cast<std::size_t>(i)]; });
      const f32 product = x.at(sizes, k) * all;
      const f32 taken = factor * (2 * kBeta) * product;
      y.expect(k, quotients[static_cast<std::size_t>(k)] - taken);
    }
    ASSERT_EQ(run("LOCAL_RESPONSE_NORMALIZATION_GRAD", {x.tensor(), gradient.tensor()}, y.placed.tensor(),
                  {number("CrossChannel", across), number("LocalSize", static_cast<f64>(size)), number("Alpha", kAlpha),
                   number("Beta", kBeta), number("Bias", kBias)}),
              ANYDML_OK)
        << anydml_last_error();
    ASSERT_TRUE(y.is_right()) << text_of(sizes) << across << " " << size;
  }
}

struct Adam {
  f32 rate = 0.01F;
  f32 beta1 = 0.9F;
  f32 beta2 = 0.999F;
  f32 epsilon = 1e-5F;

  [[nodiscard]] std::vector<anydml_attribute> attributes() const {
    return {number("LearningRate", rate), number("Beta1", beta1), number("Beta2", beta2), number("Epsilon", epsilon)};
  }
};

// In place: outputs 0, 1 and 2 are the input tensors with these indices.
template <class T>
void check_adam(const Sizes& sizes, u32 step, const std::vector<std::size_t>& positions, Random& random) {
  const Adam adam;
  std::vector<Placed<T>> tensors;
  tensors.emplace_back(sizes, random, positions.empty());
  for (int i = 1; i < 4; ++i) {
    tensors.push_back(positions.empty() ? Placed<T>(sizes, random, true) : tensors[0]);
  }
  for (Placed<T>& one : tensors) {
    one.fill(random, &one == &tensors[2] ? 0 : -2, 2);
  }
  const Sizes one_size(sizes.size(), 1);
  std::vector<Result<T>> results;
  std::vector<anydml_tensor> inputs;
  std::vector<anydml_tensor> outputs;
  for (std::size_t i = 0; i < 3; ++i) {
    results.emplace_back(sizes, random);
    if (!positions.empty()) {
      results[i].placed = tensors[positions[i]];
      results[i].expected = tensors[positions[i]].memory;
    }
  }
  const f32 root = std::sqrt(1 - Pow<f32, u32>{}(adam.beta2, step));
  const f32 rate = adam.rate * (root / (1 - Pow<f32, u32>{}(adam.beta1, step)));
  for (i64 n = 0; n < tensors[0].layout.count(); ++n) {
    const f32 gradient = tensors[3].at(sizes, n);
    const f32 kept = adam.beta1 * tensors[1].at(sizes, n);
    const f32 added = (1 - adam.beta1) * gradient;
    const f32 first = kept + added;
    const f32 kept_square = adam.beta2 * tensors[2].at(sizes, n);
    const f32 added_square = (1 - adam.beta2) * gradient * gradient;
    const f32 second = kept_square + added_square;
    const f32 scaled = first * rate;
    results[0].expect(n, tensors[0].at(sizes, n) - scaled / (std::sqrt(second) + adam.epsilon));
    results[1].expect(n, first);
    results[2].expect(n, second);
  }
  for (Placed<T>& one : tensors) {
    inputs.push_back(one.tensor());
  }
  inputs.push_back({ANYDML_UINT32, static_cast<int32_t>(one_size.size()), one_size.data(), nullptr, &step});
  for (std::size_t i = 0; i < 3; ++i) {
    outputs.push_back(positions.empty() ? results[i].placed.tensor() : tensors[positions[i]].tensor());
  }
  ASSERT_EQ(run("ADAM_OPTIMIZER", inputs, outputs, adam.attributes()), ANYDML_OK) << anydml_last_error();
  for (std::size_t i = 0; i < 3; ++i) {
    if (!positions.empty()) {
      results[i].placed.memory = tensors[positions[i]].memory;
    }
    ASSERT_TRUE(results[i].is_right()) << "output " << i << " of " << type_name(kDataTypeOf<T>) << " " << text_of(sizes)
                                       << "step " << step << (positions.empty() ? "" : " in place");
  }
}

TYPED_TEST(Training, ByAdamHasTheBitsOfTheDefinition) {
  Random random(kSeed + 3);
  for (int n = 0; n < (kSanitized ? 20 : 150) && !this->HasFailure(); ++n) {
    const Sizes sizes = n % 30 == 0 ? Sizes{3, 70'001} : random_sizes(random, 8, n % 8 == 0 ? 20'000 : 2000);
    const std::vector<std::size_t> positions = n % 3 == 0   ? std::vector<std::size_t>{}
                                               : n % 3 == 1 ? std::vector<std::size_t>{0, 1, 2}
                                                            : std::vector<std::size_t>{3, 0, 1};
    check_adam<TypeParam>(sizes, n % 10 == 0 ? 0xffffffff : static_cast<u32>(n), positions, random);
  }
}

struct PlanText {
  std::string text;
  std::uint64_t temporary_bytes = 0;
  bool writes_last = false;
};

PlanText plan_of(const std::string& graph, bool has_row_moments = true) {
  PlanText result;
  const DeviceTraits traits{.joins_from = 1, .has_row_moments = has_row_moments};
  const auto plans = compile_graph(parse_graph(graph), traits, &result.text);
  if (!plans.ok()) {
    result.text = plans.error().message;
    return result;
  }
  result.temporary_bytes = plans.value().run.temporary_bytes();
  result.writes_last = plans.value().writes_last;
  return result;
}

TEST(TrainingPlan, AdamReadsAndWritesEachTensorOnceAndWritesLast) {
  const PlanText plan = plan_of(
      "x = input 16384\nm = input 16384\nv = input 16384\ng = input 16384\nt = input 4\n"
      "y = ADAM_OPTIMIZER x:f32[1,1,64,64] m:f32[1,1,64,64] v:f32[1,1,64,64] g:f32[1,1,64,64] t:u32[1,1,1,1] -> "
      "f32[1,1,64,64] -> f32[1,1,64,64] -> f32[1,1,64,64] LearningRate=0.1 Beta1=0.9 Beta2=0.999 Epsilon=0.001\n"
      "out y\nout y.1\nout y.2\n");
  EXPECT_NE(plan.text.find("run: 2 steps, "), std::string::npos) << plan.text;
  EXPECT_LE(plan.temporary_bytes, 64U) << plan.text;
  EXPECT_TRUE(plan.writes_last);
}

// Sums read their addends as they are computed, so that no intermediate tensor of the input's size is needed between
// steps.
TEST(TrainingPlan, BatchesNeedNoTensorInMemoryBesidesTheirOwn) {
  const std::string tensors = "x = input 65536\ng = input 65536\nm = input 512\nv = input 512\ns = input 512\n";
  const std::string shapes = " -> f32[128,128] -> f32[128,1] -> f32[128,1] Epsilon=0.1\nout y\nout y.1\nout y.2\n";
  const std::string gradient = "x:f32[128,128] g:f32[128,128] m:f32[128,1] v:f32[128,1] s:f32[128,1]" + shapes;
  for (const std::string& node :
       {"BATCH_NORMALIZATION_TRAINING x:f32[128,128] s:f32[128,1] v:f32[128,1] -" + shapes,
        "BATCH_NORMALIZATION_GRAD " + gradient, "BATCH_NORMALIZATION_TRAINING_GRAD " + gradient}) {
    for (const bool has_row_moments : {false, true}) {
      const PlanText plan = plan_of(tensors + "y = " + node, has_row_moments);
      EXPECT_NE(plan.text.find("run: "), std::string::npos) << plan.text;
      EXPECT_LT(plan.temporary_bytes, 65536U) << plan.text;
    }
  }
}

TEST(TrainingMessages, NameTheFieldThatIsWrong) {
  static f32 memory[64];
  const Sizes square = {4, 4};
  const Sizes row = {1, 4};
  const Sizes other = {1, 3};
  const Sizes empty = {0, 4};
  const Sizes one = {1, 1};
  const auto tensor = [&](const Sizes& sizes) {
    return anydml_tensor{ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, memory};
  };
  static f32 results[3][64];
  const auto outputs = [&](const Sizes& first, const Sizes& rest) {
    std::vector<anydml_tensor> result = {tensor(first), tensor(rest), tensor(rest)};
    for (std::size_t i = 0; i < 3; ++i) {
      result[i].data = results[i];
    }
    return result;
  };
  const auto refuses = [](int code, const std::string& text) {
    EXPECT_NE(code, ANYDML_OK) << text;
    EXPECT_NE(std::string(anydml_last_error()).find(text), std::string::npos) << anydml_last_error();
  };
  const auto gradient = [&](const Sizes& sizes, const Sizes& kept) {
    return run("BATCH_NORMALIZATION_GRAD", {tensor(sizes), tensor(sizes), tensor(kept), tensor(kept), tensor(kept)},
               outputs(sizes, kept), {number("Epsilon", 0)});
  };
  refuses(gradient(square, other), "MeanTensor.Sizes[1] is 3; expected 1 or InputTensor.Sizes[1], which is 4");
  refuses(gradient(empty, row), "InputTensor: sizes are [0, 4]; expected at least one element per sum");
  EXPECT_EQ(gradient(empty, empty), ANYDML_OK) << anydml_last_error();
  refuses(run("BATCH_NORMALIZATION_TRAINING", {tensor(square), tensor(other), tensor(other), anydml_tensor{}},
              outputs(square, other), {number("Epsilon", 0)}),
          "ScaleTensor");
  const auto adam = [&](const Sizes& step, const std::vector<anydml_tensor>& to, f64 beta) {
    return run("ADAM_OPTIMIZER", {tensor(square), tensor(square), tensor(square), tensor(square), tensor(step)}, to,
               {number("LearningRate", 1), number("Beta1", beta), number("Beta2", 0.5), number("Epsilon", 1)});
  };
  refuses(adam(one, outputs(square, row), 0.5), "OutputFirstMomentTensor: sizes are [1, 4]; expected [4, 4]");
  refuses(adam(row, outputs(square, square), 0.5), "TrainingStepTensor");
  refuses(adam(one, outputs(square, square), 2), "Beta1");
  EXPECT_EQ(adam(one, outputs(square, square), 0.5), ANYDML_OK) << anydml_last_error();
}

}  // namespace
}  // namespace anydml::test
