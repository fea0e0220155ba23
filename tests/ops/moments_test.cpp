// SPDX-License-Identifier: MIT
// Checks mean-variance, batch, local response and Lp normalization through the C API, element by element, against
// independent implementations of their definitions that ignore layouts, threads and vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ops/scalar/functions/power.h"
#include "ops/scalar/lanes.h"
#include "support/placed.h"
#include "support/row_sums.h"
#include "support/sanitizers.h"
#include "support/type_names.h"

namespace anydml::test {
namespace {

template <class T>
void check_moments(const Sizes& sizes, const std::vector<u64>& axes, Random& random) {
  Placed<T> x(sizes, random, true);
  Placed<T> scale(with_repeats(sizes, random), random, true);
  Placed<T> bias(with_repeats(sizes, random), random, true);
  Placed<T> y(sizes, random, false);
  x.fill(random, -3, 5);
  scale.fill(random, 0.5, 2);
  bias.fill(random, -1, 1);
  const bool has_scale = random() % 4 != 0;
  const bool has_bias = random() % 4 != 0;
  const bool uses_mean = random() % 4 != 0;
  const bool uses_variance = random() % 4 != 0;
  const f32 epsilon = random() % 2 == 0 ? 0.0F : 1e-3F;
  i64 last_long = -1;
  Sizes kept = sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    last_long = sizes[i] != 1 ? static_cast<i64>(i) : last_long;
    kept[i] = std::ranges::find(axes, i) != axes.end() ? 1 : kept[i];
  }
  const bool lanes = std::ranges::find(axes, static_cast<u64>(last_long)) != axes.end();
  const i64 count = x.layout.count();
  std::vector<std::vector<f32>> rows(static_cast<std::size_t>(std::max<i64>(1, count)));
  std::vector<std::size_t> row_of;
  for (i64 n = 0; n < count; ++n) {
    i64 row = 0;
    i64 stride = 1;
    i64 rest = n;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      row += kept[i] == 1 ? 0 : rest % sizes[i] * stride;
      stride *= kept[i];
      rest /= sizes[i];
    }
    row_of.push_back(static_cast<std::size_t>(row));
    rows[row_of.back()].push_back(x.at(sizes, n));
  }
  struct Moments {
    f32 mean;
    f32 root;
  };
  std::vector<Moments> moments;
  for (const std::vector<f32>& row : rows) {
    if (row.empty()) {
      break;
    }
    const auto elements = static_cast<f32>(row.size());
    Moments result{0, 1};
    result.mean = uses_mean ? sum_in_order(row, lanes) / elements : 0;
    std::vector<f32> squares;
    for (const f32 one : row) {
      const f32 difference = one - result.mean;
      squares.push_back(difference * difference);
    }
    result.root = uses_variance ? std::sqrt(sum_in_order(squares, lanes) / elements + epsilon) : 1;
    moments.push_back(result);
  }
  Memory<T> expected = y.memory;
  for (i64 n = 0; n < count; ++n) {
    const Moments& of = moments[row_of[static_cast<std::size_t>(n)]];
    const f32 factor = (has_scale ? scale.at(sizes, n) : 1.0F) / of.root;
    const f32 difference = x.at(sizes, n) - of.mean;
    expected.store(y.layout.offset(n),
                   narrow<T>(has_bias ? std::fma(difference, factor, bias.at(sizes, n)) : difference * factor));
  }
  const anydml_tensor none = {};
  ASSERT_EQ(run("MEAN_VARIANCE_NORMALIZATION2",
                {x.tensor(), has_scale ? scale.tensor() : none, has_bias ? bias.tensor() : none}, y.tensor(),
                {numbers("Axes", axes), number("UseMean", uses_mean), number("UseVariance", uses_variance),
                 number("Epsilon", epsilon)}),
            ANYDML_OK)
      << anydml_last_error();
  ASSERT_TRUE(y.memory.equals(expected, y.layout, 0))
      << type_name(kDataTypeOf<T>) << " " << text_of(sizes) << "axes " << text_of(Sizes(axes.begin(), axes.end()))
      << "scale " << has_scale << " " << text_of(scale.layout.sizes) << "bias " << has_bias << " "
      << text_of(bias.layout.sizes) << "mean " << uses_mean << " variance " << uses_variance;
}

template <class T>
class Moments : public testing::Test {};
using Types = testing::Types<f32, f16>;
TYPED_TEST_SUITE(Moments, Types, TypeNames);

TYPED_TEST(Moments, HaveTheBitsOfTheDefinitionAtEveryEdge) {
  Random random(kSeed);
  for (const i64 size : {1, 2, 16, 17, 63, 64, 65, 257, 4095, 4096, 4097, 10'000}) {
    if (kSanitized && size != 2 && size != 65 && size != 4097) {
      continue;
    }
    for (const auto& [sizes, axes] :
         std::vector<std::pair<Sizes, std::vector<u64>>>{{{size}, {0}},
                                                         {{3, size}, {1}},
                                                         {{size, 3}, {0}},
                                                         {{size, 21}, {0}},
                                                         {{2, 9, size}, {2}},
                                                         {{2, size, 1, 9}, {1}},
                                                         {{40, std::min<i64>(size, 300)}, {1}},
                                                         {{3, 2, std::min<i64>(size, 900)}, {1, 2}}}) {
      check_moments<TypeParam>(sizes, axes, random);
      if (this->HasFatalFailure()) {
        return;
      }
    }
  }
}

TYPED_TEST(Moments, HaveTheBitsOfTheDefinitionInAnyShape) {
  Random random(kSeed + 1);
  for (int n = 0; n < (kSanitized ? 30 : 300); ++n) {
    const Sizes sizes = random_sizes(random, 8, n % 8 == 0 ? 30'000 : 3000);
    std::vector<u64> axes;
    for (u64 axis = 0; axis < sizes.size(); ++axis) {
      if (random() % 2 == 0) {
        axes.push_back(axis);
      }
    }
    check_moments<TypeParam>(sizes, axes, random);
    if (this->HasFatalFailure()) {
      return;
    }
  }
}

TYPED_TEST(Moments, HaveTheBitsOfTheDefinitionOfLargeTensors) {
  Random random(kSeed + 2);
  for (const auto& [sizes, axes] : std::vector<std::pair<Sizes, std::vector<u64>>>{{{300, 1000}, {1}},
                                                                                   {{1000, 300}, {0}},
                                                                                   {{3, 300'001}, {1}},
                                                                                   {{9001, 40}, {0}},
                                                                                   {{20'000, 10}, {1}},
                                                                                   {{6, 33, 40, 40}, {1}},
                                                                                   {{1, 90'001}, {1}},
                                                                                   {{2, 8, 10, 1500}, {2, 3}},
                                                                                   {{7, 1028}, {1}},
                                                                                   {{5, 2, 112, 112}, {2, 3}},
                                                                                   {{2, 5, 4, 5000}, {2, 3}}}) {
    if (kSanitized && sizes[0] != 6) {
      continue;
    }
    for (int n = 0; n < 3; ++n) {  // layouts are random; some are packed
      check_moments<TypeParam>(sizes, axes, random);
      if (this->HasFatalFailure()) {
        return;
      }
    }
  }
}

// Scales for which the fast division works, mixed with scales that overflow in the fast division, are subnormal or are
// NaN.
TYPED_TEST(Moments, DivideEveryScaleAsTheDefinitionDoes) {
  using T = TypeParam;
  Random random(kSeed + 4);
  const std::vector<T> specials = special_values<T>();
  for (const i64 size : {64, 1000, 1024, 4096, 12'544}) {
    for (const f32 spread : {1.0F, 0x1p-60F, 0x1p60F}) {
      constexpr i64 kRows = 3;
      std::vector<T> x(static_cast<std::size_t>(kRows * size));
      std::vector<T> scale(static_cast<std::size_t>(size));
      for (T& one : x) {
        one = narrow<T>((static_cast<f32>(random() % 1000) / 100 - 5) * (std::is_same_v<T, f32> ? spread : 1));
      }
      for (T& one : scale) {
        const u64 kind = random() % 64;
        one = kind == 0 ? specials[random() % specials.size()] : narrow<T>(static_cast<f32>(random() % 1000) / 100 - 5);
      }
      std::vector<T> y(x.size());
      const Sizes sizes = {kRows, size};
      const Sizes row = {1, size};
      const auto tensor = [](const Sizes& of, std::vector<T>& memory) {
        return anydml_tensor{static_cast<anydml_type>(kDataTypeOf<T>), static_cast<int32_t>(of.size()), of.data(),
                             nullptr, memory.data()};
      };
      const anydml_tensor none = {};
      ASSERT_EQ(run("MEAN_VARIANCE_NORMALIZATION2", {tensor(sizes, x), tensor(row, scale), none}, tensor(sizes, y),
                    {numbers("Axes", {1}), number("UseMean", true), number("UseVariance", true), number("Epsilon", 0)}),
                ANYDML_OK)
          << anydml_last_error();
      for (i64 r = 0; r < kRows; ++r) {
        std::vector<f32> elements;
        for (i64 i = 0; i < size; ++i) {
          elements.push_back(widen(x[static_cast<std::size_t>(r * size + i)]));
        }
        const f32 mean = sum_in_order(elements, true) / static_cast<f32>(size);
        std::vector<f32> squares;
        for (const f32 one : elements) {
          squares.push_back((one - mean) * (one - mean));
        }
        const f32 root = std::sqrt(sum_in_order(squares, true) / static_cast<f32>(size) + 0.0F);
        for (i64 i = 0; i < size; ++i) {
          const auto at = static_cast<std::size_t>(r * size + i);
          const f32 factor = widen(scale[static_cast<std::size_t>(i)]) / root;
          const T wanted = narrow<T>((elements[static_cast<std::size_t>(i)] - mean) * factor);
          ASSERT_TRUE(same(y[at], wanted)) << type_name(kDataTypeOf<T>) << " " << size << " " << spread << " " << i;
        }
      }
    }
  }
}

TYPED_TEST(Moments, OfBatchesHaveTheBitsOfTheDefinition) {
  using T = TypeParam;
  Random random(kSeed + 3);
  for (int n = 0; n < (kSanitized ? 20 : 200); ++n) {
    const Sizes sizes = random_sizes(random, 8, n % 8 == 0 ? 30'000 : 3000);
    Placed<T> x(sizes, random, true);
    x.fill(random, -3, 5);
    std::vector<Placed<T>> others;
    std::vector<anydml_tensor> inputs = {x.tensor()};
    for (int i = 0; i < 4; ++i) {
      others.emplace_back(with_repeats(sizes, random), random, true).fill(random, i == 1 ? 0.5 : -1, 2);
    }
    for (Placed<T>& other : others) {
      inputs.push_back(other.tensor());
    }
    Placed<T> y(sizes, random, false);
    Memory<T> expected = y.memory;
    for (i64 k = 0; k < x.layout.count(); ++k) {
      const f32 factor = others[2].at(sizes, k) / std::sqrt(others[1].at(sizes, k) + 1e-3F);
      expected.store(y.layout.offset(k),
                     narrow<T>(std::fma(x.at(sizes, k) - others[0].at(sizes, k), factor, others[3].at(sizes, k))));
    }
    ASSERT_EQ(run("BATCH_NORMALIZATION", inputs, y.tensor(), {number("Spatial", 1), number("Epsilon", 1e-3F)}),
              ANYDML_OK)
        << anydml_last_error();
    ASSERT_TRUE(y.memory.equals(expected, y.layout, 0)) << text_of(sizes);
  }
}

TYPED_TEST(Moments, OfWindowsHaveTheBitsOfTheDefinition) {
  using T = TypeParam;
  Random random(kSeed + 4);
  for (int n = 0; n < (kSanitized ? 10 : 60); ++n) {
    const Sizes sizes = {1 + static_cast<i64>(random() % 3), 1 + static_cast<i64>(random() % 9),
                         1 + static_cast<i64>(random() % 7), n % 10 == 0 ? 1500 : 1 + static_cast<i64>(random() % 20)};
    const bool across = random() % 2 == 0;
    const i64 size = 1 + static_cast<i64>(random() % (n % 10 == 0 ? 3 : 7));
    Placed<T> x(sizes, random, true);
    x.fill(random, -3, 5);
    Placed<T> y(sizes, random, false);
    Memory<T> expected = y.memory;
    for (i64 k = 0; k < x.layout.count(); ++k) {
      const i64 at[] = {k / (sizes[1] * sizes[2] * sizes[3]), k / (sizes[2] * sizes[3]) % sizes[1],
                        k / sizes[3] % sizes[2], k % sizes[3]};
      const auto window = [&](std::size_t axis, bool is_windowed) {
        const i64 before = is_windowed ? (size - 1) / 2 : 0;
        const i64 after = is_windowed ? size / 2 : 0;
        return std::pair(std::max<i64>(0, at[axis] - before), std::min(sizes[axis] - 1, at[axis] + after));
      };
      f32 sum = -0.0F;
      for (auto [c, c_end] = window(1, across); c <= c_end; ++c) {
        for (auto [h, h_end] = window(2, !across); h <= h_end; ++h) {
          for (auto [w, w_end] = window(3, !across); w <= w_end; ++w) {
            const f32 one = x.at(sizes, ((at[0] * sizes[1] + c) * sizes[2] + h) * sizes[3] + w);
            sum += one * one;
          }
        }
      }
      const f32 scaled = 0.3F / static_cast<f32>(size) * sum;
      const f32 root = Pow<f32, f32>{}(scaled + 1.5F, 0.75F);
      expected.store(y.layout.offset(k), narrow<T>(x.at(sizes, k) / root));
    }
    ASSERT_EQ(run("LOCAL_RESPONSE_NORMALIZATION", {x.tensor()}, y.tensor(),
                  {number("CrossChannel", across), number("LocalSize", static_cast<f64>(size)), number("Alpha", 0.3F),
                   number("Beta", 0.75), number("Bias", 1.5)}),
              ANYDML_OK)
        << anydml_last_error();
    ASSERT_TRUE(y.memory.equals(expected, y.layout, 0)) << text_of(sizes) << across << " " << size;
  }
}

class Messages : public testing::Test {
 protected:
  static anydml_tensor tensor(const Sizes& sizes) {
    static f32 memory[64];
    return {ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, memory};
  }
  static void refuses(int code, const std::string& text) {
    EXPECT_NE(code, ANYDML_OK);
    EXPECT_NE(std::string(anydml_last_error()).find(text), std::string::npos) << anydml_last_error();
  }
};

TEST_F(Messages, NameTheFieldThatIsWrong) {
  const Sizes square = {4, 4};
  const Sizes row = {4};
  const Sizes other = {1, 3};
  const anydml_tensor none = {};
  const std::vector<u64> axes = {1, 1};
  const std::vector<u64> beyond = {2};
  const std::vector<u64> one = {1};
  const auto moments = [&](const std::vector<u64>& along, const anydml_tensor& scale) {
    return run("MEAN_VARIANCE_NORMALIZATION1", {tensor(square), scale, none}, tensor(square),
               {numbers("Axes", along), number("NormalizeVariance", 1), number("Epsilon", 0)});
  };
  refuses(moments(axes, none), "Axes[1] is 1 again");
  refuses(moments(beyond, none), "Axes");
  refuses(moments(one, tensor(row)), "ScaleTensor");
  refuses(moments(one, tensor(other)), "ScaleTensor");
  refuses(run("MEAN_VARIANCE_NORMALIZATION", {tensor(row), none, none}, tensor(row),
              {number("CrossChannel", 1), number("NormalizeVariance", 1), number("Epsilon", 0)}),
          "InputTensor: has 1 dimension; expected a batch and channels");
  refuses(run("LP_NORMALIZATION", {tensor(square)}, tensor(square),
              {number("Axis", 2), number("Epsilon", 0), number("P", 2)}),
          "Axis");
  refuses(run("LP_NORMALIZATION", {tensor(square)}, tensor(square),
              {number("Axis", 1), number("Epsilon", 0), number("P", 3)}),
          "P is 3");
  refuses(run("LOCAL_RESPONSE_NORMALIZATION", {tensor(square)}, tensor(square),
              {number("CrossChannel", 1), number("LocalSize", 0), number("Alpha", 1), number("Beta", 1),
               number("Bias", 1)}),
          "LocalSize");
  refuses(run("BATCH_NORMALIZATION", {tensor(square), tensor(other), tensor(square), tensor(square), tensor(square)},
              tensor(square), {number("Spatial", 1), number("Epsilon", 0)}),
          "MeanTensor");
}

}  // namespace
}  // namespace anydml::test
