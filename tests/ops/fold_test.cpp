// SPDX-License-Identifier: MIT
// Checks FOLD, UNFOLD, REVERSE_SUBSEQUENCES and VALUE_SCALE_2D through the C API against their definitions, element by
// element, at sizes that are split between threads, and the error messages for invalid operators.
// tests/ops/fold_oracle.py and tests/ops/move_oracle.py compare every type and layout with NumPy.
#include <gtest/gtest.h>

#include <anydml/anydml.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace anydml::test {
namespace {

using Sizes = std::vector<std::int64_t>;
using Bits = std::vector<std::uint32_t>;

struct Numbers {
  std::vector<std::pair<const char*, std::vector<std::uint64_t>>> arrays;

  [[nodiscard]] std::vector<anydml_attribute> attributes() const {
    std::vector<anydml_attribute> result;
    for (const auto& [name, values] : arrays) {
      anydml_attribute one{};
      one.name = name;
      one.type = std::uint32_t{ANYDML_ARRAY} | ANYDML_UINT64;
      one.count = static_cast<std::uint32_t>(values.size());
      one.value.u64s = values.data();
      result.push_back(one);
    }
    return result;
  }
};

anydml_tensor tensor(anydml_type type, const Sizes& sizes, void* data) {
  return {type, static_cast<std::int32_t>(sizes.size()), sizes.data(), nullptr, data};
}

std::int64_t count_of(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
  }
  return count;
}

template <class T>
std::vector<T> draw(std::int64_t count) {
  std::mt19937 random(7);
  std::vector<T> result(static_cast<std::size_t>(count));
  std::ranges::generate(result, [&] { return static_cast<T>(static_cast<float>(random()) / 4294967296.0F - 0.5F); });
  return result;
}

std::uint64_t plain(std::int64_t number) { return static_cast<std::uint64_t>(number); }

// A window with the same size, stride, dilation and padding in both dimensions.
struct Window {
  std::int64_t size;
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t padding;

  [[nodiscard]] std::int64_t blocks(std::int64_t along) const {
    return (along + 2 * padding - dilation * (size - 1) - 1) / stride + 1;
  }
  [[nodiscard]] Numbers numbers() const {
    const auto both = [](std::int64_t number) { return std::vector<std::uint64_t>(2, plain(number)); };
    return {{{"WindowSizes", both(size)},
             {"Strides", both(stride)},
             {"Dilations", both(dilation)},
             {"StartPadding", both(padding)},
             {"EndPadding", both(padding)}}};
  }
};

class Folding : public testing::TestWithParam<Window> {};

TEST_P(Folding, EveryElementInOrder) {
  const Window window = GetParam();
  for (const auto& [channels, height, width] : {std::array<std::int64_t, 3>{5, 37, 4100}, {64, 56, 57}, {1, 9, 9}}) {
    const std::int64_t high = window.blocks(height);
    const std::int64_t wide = window.blocks(width);
    const std::int64_t positions = window.size * window.size;
    const Sizes spatial{1, channels, height, width};
    const Sizes folded{1, channels * positions, high * wide};
    std::vector<float> blocks = draw<float>(count_of(folded));
    blocks[0] = -0.0F;
    std::vector<float> found(static_cast<std::size_t>(count_of(spatial)), 77.0F);
    std::vector<float> expected(found.size(), 0.0F);
    std::vector<bool> covered(found.size(), false);
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t k = 0; k < positions; ++k) {
        for (std::int64_t b = 0; b < high * wide; ++b) {
          const std::int64_t y = b / wide * window.stride + k / window.size * window.dilation - window.padding;
          const std::int64_t x = b % wide * window.stride + k % window.size * window.dilation - window.padding;
          if (y < 0 || y >= height || x < 0 || x >= width) {
            continue;
          }
          const auto to = static_cast<std::size_t>((c * height + y) * width + x);
          const float element = blocks[static_cast<std::size_t>((c * positions + k) * high * wide + b)];
          expected[to] = covered[to] ? expected[to] + element : element;
          covered[to] = true;
        }
      }
    }
    const anydml_tensor input = tensor(ANYDML_FLOAT32, folded, blocks.data());
    const anydml_tensor output = tensor(ANYDML_FLOAT32, spatial, found.data());
    const Numbers numbers = window.numbers();
    const auto attributes = numbers.attributes();
    ASSERT_EQ(anydml_run(nullptr, "FOLD", &input, 1, &output, 1, attributes.data(), attributes.size()), ANYDML_OK)
        << anydml_last_error();
    EXPECT_TRUE(std::ranges::equal(found, expected, {}, std::bit_cast<std::uint32_t, float>,
                                   std::bit_cast<std::uint32_t, float>));

    // UNFOLD reads every element from where FOLD adds it.
    std::vector<float> unfolded(blocks.size(), 77.0F);
    const anydml_tensor whole = tensor(ANYDML_FLOAT32, spatial, found.data());
    const anydml_tensor parts = tensor(ANYDML_FLOAT32, folded, unfolded.data());
    ASSERT_EQ(anydml_run(nullptr, "UNFOLD", &whole, 1, &parts, 1, attributes.data(), attributes.size()), ANYDML_OK)
        << anydml_last_error();
    std::int64_t different = 0;
    for (std::int64_t i = 0; i < count_of(folded); ++i) {
      const std::int64_t k = i / (high * wide) % positions;
      const std::int64_t b = i % (high * wide);
      const std::int64_t y = b / wide * window.stride + k / window.size * window.dilation - window.padding;
      const std::int64_t x = b % wide * window.stride + k % window.size * window.dilation - window.padding;
      const bool outside = y < 0 || y >= height || x < 0 || x >= width;
      const std::int64_t at = (i / (high * wide * positions) * height + y) * width + x;
      const float wanted = outside ? 0.0F : found[static_cast<std::size_t>(at)];
      different +=
          std::bit_cast<std::uint32_t>(wanted) != std::bit_cast<std::uint32_t>(unfolded[static_cast<std::size_t>(i)])
              ? 1
              : 0;
    }
    EXPECT_EQ(different, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, Folding,
                         testing::Values(Window{3, 1, 1, 1}, Window{2, 2, 1, 0}, Window{3, 2, 2, 3}, Window{1, 3, 1, 0},
                                         Window{4, 5, 1, 1}));

// [outer, time, inner], where each sequence has its own length or adjacent sequences share one.
TEST(Reversal, AnyLengths) {
  for (const std::int64_t inner : {1, 3, 40, 300}) {
    for (const bool shared : {false, true}) {
      const Sizes sizes{6, 5000, inner};
      const Sizes of_lengths{6, 1, inner};
      std::vector<float> from = draw<float>(count_of(sizes));
      std::vector<float> found(from.size(), 77.0F);
      std::vector<std::uint64_t> lengths(static_cast<std::size_t>(6 * inner));
      std::mt19937_64 random(3);
      // An invalid length counts as the whole axis, regardless of its sign.
      std::ranges::generate(lengths, [&] { return random() % 5 == 0 ? random() : random() % 5002; });
      const std::int64_t strides[] = {inner, 0, shared ? 0 : 1};
      const anydml_tensor inputs[] = {tensor(ANYDML_FLOAT32, sizes, from.data()),
                                      {ANYDML_UINT64, 3, of_lengths.data(), strides, lengths.data()}};
      const anydml_tensor output = tensor(ANYDML_FLOAT32, sizes, found.data());
      anydml_attribute axis{};
      axis.name = "Axis";
      axis.type = ANYDML_UINT64;
      axis.value.u64 = 1;
      ASSERT_EQ(anydml_run(nullptr, "REVERSE_SUBSEQUENCES", inputs, 2, &output, 1, &axis, 1), ANYDML_OK)
          << anydml_last_error();
      std::int64_t different = 0;
      for (std::int64_t i = 0; i < count_of(sizes); ++i) {
        const std::int64_t o = i / (5000 * inner);
        const std::int64_t t = i / inner % 5000;
        const std::int64_t j = i % inner;
        const auto given = lengths[static_cast<std::size_t>(o * inner + (shared ? 0 : j))];
        const auto length = static_cast<std::int64_t>(std::min<std::uint64_t>(given, 5000));
        const std::int64_t source = t < length ? length - 1 - t : t;
        different +=
            found[static_cast<std::size_t>(i)] != from[static_cast<std::size_t>((o * 5000 + source) * inner + j)] ? 1
                                                                                                                  : 0;
      }
      EXPECT_EQ(different, 0) << inner << (shared ? " shared" : "");
    }
  }
}

TEST(ValueScale, EachChannelHasItsBias) {
  const Sizes sizes{2, 3, 61, 67};
  std::vector<float> from = draw<float>(count_of(sizes));
  std::vector<float> found(from.size(), 77.0F);
  const double bias[] = {0.5, -3.25, 1e-3};
  anydml_attribute attributes[2] = {};
  attributes[0].name = "Scale";
  attributes[0].type = ANYDML_FLOAT64;
  attributes[0].value.f64 = 1.7;
  attributes[1].name = "Bias";
  attributes[1].type = std::uint32_t{ANYDML_ARRAY} | ANYDML_FLOAT64;
  attributes[1].count = 3;
  attributes[1].value.f64s = bias;
  const anydml_tensor input = tensor(ANYDML_FLOAT32, sizes, from.data());
  const anydml_tensor output = tensor(ANYDML_FLOAT32, sizes, found.data());
  ASSERT_EQ(anydml_run(nullptr, "VALUE_SCALE_2D", &input, 1, &output, 1, attributes, 2), ANYDML_OK)
      << anydml_last_error();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const float product = from[i] * static_cast<float>(1.7);
    ASSERT_EQ(found[i], product + static_cast<float>(bias[i / (61 * 67) % 3]));
  }
}

std::string refusal(const char* op, const Sizes& from, const Sizes& to, const Numbers& numbers,
                    anydml_type to_type = ANYDML_FLOAT32) {
  std::vector<float> memory(1000);
  const anydml_tensor input = tensor(ANYDML_FLOAT32, from, memory.data());
  const anydml_tensor output = tensor(to_type, to, memory.data() + 500);
  const auto attributes = numbers.attributes();
  EXPECT_EQ(anydml_run(nullptr, op, &input, 1, &output, 1, attributes.data(), attributes.size()),
            ANYDML_INVALID_ARGUMENT);
  return anydml_last_error();
}

Numbers along(std::uint64_t window, std::uint64_t stride, std::uint64_t dilation, std::uint64_t padding = 0) {
  return {{{"WindowSizes", {window}},
           {"Strides", {stride}},
           {"Dilations", {dilation}},
           {"StartPadding", {padding}},
           {"EndPadding", {padding}}}};
}

TEST(Folding, RefusesWhatIsNoWindow) {
  EXPECT_EQ(refusal("UNFOLD", {1, 1, 4}, {1, 1, 4}, along(1, 1, 0)),
            "UNFOLD: Dilations: Dilations[0] is 0; expected 1 or more");
  EXPECT_EQ(refusal("UNFOLD", {1, 1, 4}, {1, 2, 3}, along(2, 1, 1), ANYDML_INT32),
            "UNFOLD: OutputTensor: has the type INT32; expected FLOAT32, that of InputTensor");
  EXPECT_EQ(refusal("FOLD", {1, 2, 3}, {1, 1, 4}, along(2, 1, 1), ANYDML_INT32),
            "FOLD: OutputTensor: has the type INT32; expected FLOAT32, that of InputTensor");
  // The documented formula gives -1 blocks in each of the two dimensions, whose product is 1.
  EXPECT_EQ(refusal("UNFOLD", {1, 1, 4, 4}, {1, 36, 1}, Window{6, 1, 1, 0}.numbers()),
            "UNFOLD: WindowSizes: the window covers 6 elements of dimension 2 of InputTensor; expected at most 4, the "
            "padded size");
  for (const char* op : {"FOLD", "UNFOLD"}) {
    const std::string message = refusal(op, {1, 1, 4}, {1, 1, 4}, along(1, 0, 1));
    EXPECT_NE(message.find(op), std::string::npos) << message;
    const std::string huge = refusal(op, {1, 1, 4}, {1, 1, 4}, along(0xffff'ffff, 1, 0xffff'ffff));
    EXPECT_NE(huge.find(op), std::string::npos) << huge;
  }
}

}  // namespace
}  // namespace anydml::test
