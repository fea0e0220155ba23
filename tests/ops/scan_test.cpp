// SPDX-License-Identifier: MIT
// Checks running sums and products through the C API, element by element, against an independent implementation of
// their definition that ignores layouts, threads and vectors. The test runs with several thread counts and targets;
// since all runs match the same reference, they also match each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/scalar.h"
#include "support/sanitizers.h"
#include "support/tensor.h"
#include "support/type_names.h"

namespace anydml::test {
namespace {

struct Case {
  std::vector<i64> sizes;
  std::size_t axis;
};
struct Mode {
  bool product;
  bool decreasing;
  bool exclusive;
};

// Floats in their computation type; integers as unsigned 64-bit numbers, which wrap correctly.
template <class T>
using Wide = std::conditional_t<is_float<T>, compute_t<T>, u64>;

template <class T>
Wide<T> widened(T value) {
  if constexpr (is_float<T>) {
    return widen(value);
  } else {
    return static_cast<u64>(value);
  }
}
template <class T>
T narrowed(Wide<T> value) {
  if constexpr (is_float<T>) {
    return narrow<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

// The results of a row, in the order in which its elements are added or multiplied.
template <class T>
std::vector<T> scanned_row(const std::vector<T>& row, const Mode& mode) {
  const auto combine = [&](Wide<T> a, Wide<T> b) { return mode.product ? a * b : a + b; };
  std::vector<T> inclusive;
  Wide<T> carry{};
  for (std::size_t first = 0; first < row.size(); first += 4096) {
    Wide<T> local{};
    for (std::size_t i = first; i < std::min(row.size(), first + 4096); ++i) {
      local = i == first ? widened(row[i]) : combine(local, widened(row[i]));
      inclusive.push_back(narrowed<T>(first == 0 ? local : combine(carry, local)));
    }
    carry = first == 0 ? local : combine(carry, local);
  }
  if (mode.exclusive) {
    inclusive.insert(inclusive.begin(), Scalar(mode.product ? 1.0 : 0.0).as<T>());
    inclusive.pop_back();
  }
  return inclusive;
}

int run(const Mode& mode, const anydml_tensor& input, const anydml_tensor& output, u64 axis) {
  anydml_attribute attributes[3] = {{"Axis", ANYDML_UINT64, 0, {}},
                                    {"AxisDirection", ANYDML_UINT64, 0, {}},
                                    {mode.product ? "HasExclusiveProduct" : "HasExclusiveSum", ANYDML_UINT64, 0, {}}};
  attributes[0].value.u64 = axis;
  attributes[1].value.u64 = mode.decreasing ? 1 : 0;
  attributes[2].value.u64 = mode.exclusive ? 1 : 0;
  return anydml_run(nullptr, mode.product ? "CUMULATIVE_PRODUCT" : "CUMULATIVE_SUMMATION", &input, 1, &output, 1,
                    attributes, 3);
}

// Products stay finite if factors are near 1 or odd. Zeros are mostly -0, whose sums reveal the initial value.
template <class T>
T draw(Random& random, u64 kind) {
  const u64 bits = random();
  const f64 unit = static_cast<f64>(bits >> 11) * 0x1p-53;
  if constexpr (is_float<T>) {
    switch (kind % 4) {
      case 0:
        return Scalar(unit * 10 - 5).as<T>();
      case 1:
        return Scalar((bits % 2 == 0 ? 1 : -1) * (0.98 + unit * 0.04)).as<T>();
      case 2:
        return Scalar(bits % 64 == 0 ? 0.0 : -0.0).as<T>();
      default:
        return bits % 3000 == 0 ? from_raw<T>(random()) : Scalar(unit * 4 - 2).as<T>();
    }
  } else {
    return static_cast<T>(bits | kind % 2);
  }
}

Layout packed_layout(const std::vector<i64>& sizes) {
  Layout result{sizes, std::vector<i64>(sizes.size())};
  i64 stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    result.strides[i] = stride;
    stride *= std::max<i64>(1, sizes[i]);
  }
  return result;
}

template <class T>
void fill_expected(const Case& of, const Mode& mode, const Memory<T>& from, const Layout& in, Memory<T>& to,
                   const Layout& out) {
  // The row-major indices of the elements. Neighbors within a row are `step` apart.
  i64 step = 1;
  for (std::size_t i = of.axis + 1; i < of.sizes.size(); ++i) {
    step *= of.sizes[i];
  }
  const i64 length = of.sizes[of.axis];
  for (i64 first = 0; first < in.count(); ++first) {
    if (first / step % length != 0) {
      continue;
    }
    const auto position = [&](i64 i) { return first + (mode.decreasing ? length - 1 - i : i) * step; };
    std::vector<T> row;
    for (i64 i = 0; i < length; ++i) {
      row.push_back(from.load(in.offset(position(i))));
    }
    row = scanned_row<T>(row, mode);
    for (i64 i = 0; i < length; ++i) {
      to.store(out.offset(position(i)), row[static_cast<std::size_t>(i)]);
    }
  }
}

enum class Lie : u8 { anyhow, packed, in_place };

template <class T>
void check(const Case& of, const Mode& mode, Lie lie, Random& random) {
  const Layout in = lie == Lie::packed ? packed_layout(of.sizes) : random_layout(of.sizes, random, lie == Lie::anyhow);
  const Layout out = lie == Lie::packed     ? packed_layout(of.sizes)
                     : lie == Lie::in_place ? in
                                            : random_layout(of.sizes, random, false);
  Memory<T> from(in, random);
  const u64 kind = mode.product ? 1 : random() % 4;
  for (i64 n = 0; n < in.count(); ++n) {
    from.store(in.offset(n), draw<T>(random, kind));
  }
  Memory<T> to = lie == Lie::in_place ? from : Memory<T>(out, random);
  Memory<T> expected = to;
  fill_expected(of, mode, from, in, expected, out);
  Memory<T>& source = lie == Lie::in_place ? to : from;
  ASSERT_EQ(run(mode, tensor_of<T>(in, source.data()), tensor_of<T>(out, to.data()), of.axis), ANYDML_OK)
      << anydml_last_error();
  std::string shape;
  for (std::size_t i = 0; i < of.sizes.size(); ++i) {
    shape += std::to_string(of.sizes[i]) + "/" + std::to_string(in.strides[i]) + "/" + std::to_string(out.strides[i]) +
             (i == of.axis ? "* " : " ");
  }
  ASSERT_TRUE(to.equals(expected, out, 0))
      << type_name(kDataTypeOf<T>) << (mode.product ? " product" : " sum") << (mode.decreasing ? ", decreasing" : "")
      << (mode.exclusive ? ", exclusive" : "") << ", data " << kind << ", " << shape;
}

template <class T>
class Scan : public testing::Test {};
using Types = testing::Types<f32, f16, f64, u8, i16, i32, u64>;
TYPED_TEST_SUITE(Scan, Types, TypeNames);

Mode draw_mode(Random& random) {
  const u64 bits = random();
  return {.product = bits % 2 != 0, .decreasing = bits / 2 % 2 != 0, .exclusive = bits / 4 % 2 != 0};
}

TYPED_TEST(Scan, HasTheBitsOfTheDefinitionAtEveryEdge) {
  Random random(kSeed);
  std::vector<Case> cases = {{{1}, 0}, {{1, 1, 1}, 1}, {{4096, 1}, 1}};
  for (const i64 size : {2, 3, 5, 16, 17, 63, 65, 255, 257, 4095, 4096, 4097, 9001}) {
    if (kSanitized && size != 5 && size != 257 && size != 4097) {
      continue;
    }
    cases.push_back({{size}, 0});
    cases.push_back({{3, size}, 1});
    cases.push_back({{size, 9}, 0});
    cases.push_back({{19, size}, 1});
    if (size < 4098) {
      cases.push_back({{2, size, 1, 21}, 1});
    }
  }
  for (const Case& of : cases) {
    for (const Lie lie : {Lie::anyhow, Lie::packed, Lie::in_place}) {
      check<TypeParam>(of, draw_mode(random), lie, random);
      if (this->HasFatalFailure()) {
        return;
      }
    }
  }
}

TYPED_TEST(Scan, HasTheBitsOfTheDefinitionInAnyShape) {
  Random random(kSeed + 1);
  for (int n = 0; n < (kSanitized ? 15 : 60); ++n) {
    const std::vector<i64> sizes = random_sizes(random, 8, n % 8 == 0 ? 20'000 : 2000);
    if (!sizes.empty()) {
      check<TypeParam>({sizes, static_cast<std::size_t>(random() % sizes.size())}, draw_mode(random), Lie::anyhow,
                       random);
    }
    if (this->HasFatalFailure()) {
      return;
    }
  }
}

// Many pieces, which are split between threads, and few long rows, which are computed in blocks, several at a time.
TYPED_TEST(Scan, HasTheBitsOfTheDefinitionOfLargeTensors) {
  Random random(kSeed + 2);
  for (const Case& of : {Case{{500'003}, 0}, Case{{3, 70'001}, 1}, Case{{40'001, 9}, 0}, Case{{300, 300}, 1},
                         Case{{300, 700}, 0}, Case{{10'000, 5}, 1}}) {
    if (kSanitized && of.sizes[0] != 3 && of.sizes[0] != 10'000) {
      continue;
    }
    check<TypeParam>(of, draw_mode(random), Lie::packed, random);
    if (this->HasFatalFailure()) {
      return;
    }
  }
}

TEST(ScanValues, BeginAsTheDocumentsSay) {
  const Layout layout{{4}, {1}};
  const auto of = [&](const Mode& mode, std::vector<f32> x) {
    std::vector<f32> y(4, 77.0F);
    EXPECT_EQ(run(mode, tensor_of<f32>(layout, x.data()), tensor_of<f32>(layout, y.data()), 0), ANYDML_OK);
    return y;
  };
  using Row = std::vector<f32>;
  EXPECT_EQ(of({}, {1, 2, 3, 4}), (Row{1, 3, 6, 10}));
  EXPECT_EQ(of({.product = false, .decreasing = true, .exclusive = false}, {1, 2, 3, 4}), (Row{10, 9, 7, 4}));
  EXPECT_EQ(of({.product = false, .decreasing = false, .exclusive = true}, {1, 2, 3, 4}), (Row{0, 1, 3, 6}));
  EXPECT_EQ(of({.product = true, .decreasing = true, .exclusive = true}, {1, 2, 3, 4}), (Row{24, 12, 4, 1}));
  const Row zeros = of({}, {-0.0F, -0.0F, 0.0F, -0.0F});
  EXPECT_EQ(to_bits(zeros[1]), 0x80000000U);
  EXPECT_EQ(to_bits(zeros[2]), 0U);
  const Row before = of({.product = false, .decreasing = false, .exclusive = true}, {-0.0F, -0.0F, 1, 1});
  EXPECT_EQ(to_bits(before[0]), 0U);  // an empty sum
  EXPECT_EQ(to_bits(before[1]), 0x80000000U);
}

TEST(ScanValues, OfNoElementsAreNone) {
  f32 memory[4] = {77, 77, 77, 77};
  for (const std::vector<i64>& sizes : {std::vector<i64>{0}, std::vector<i64>{3, 0}, std::vector<i64>{0, 3}}) {
    const anydml_tensor tensor = {ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, memory};
    EXPECT_EQ(run({}, tensor, tensor, sizes.size() - 1), ANYDML_OK) << anydml_last_error();
  }
  EXPECT_EQ(memory[0], 77.0F);
}

TEST(ScanOverlap, TheOutputMayLieOverTheInput) {
  std::vector<f32> memory(3000, 1.0F);
  const Layout layout{{2, 1000}, {1000, 1}};
  ASSERT_EQ(run({}, tensor_of<f32>(layout, memory.data()), tensor_of<f32>(layout, memory.data() + 500), 1), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(memory[499], 1.0F);
  EXPECT_EQ(memory[500], 1.0F);
  EXPECT_EQ(memory[1499], 1000.0F);
  EXPECT_EQ(memory[2499], 1000.0F);
  EXPECT_EQ(memory[2500], 1.0F);
}

TEST(ScanRefuses, WhatHasNoMeaning) {
  f32 x[12] = {};
  f32 y[12] = {};
  const i64 sizes[] = {3, 4};
  const i64 others[] = {4, 3};
  const anydml_tensor input = {ANYDML_FLOAT32, 2, sizes, nullptr, x};
  const anydml_tensor turned = {ANYDML_FLOAT32, 2, others, nullptr, y};
  const anydml_tensor whole = {ANYDML_INT32, 2, sizes, nullptr, y};
  const anydml_tensor output = {ANYDML_FLOAT32, 2, sizes, nullptr, y};
  const auto names = [](const char* part) { return std::string(anydml_last_error()).find(part) != std::string::npos; };
  EXPECT_EQ(run({}, input, output, 2), ANYDML_INVALID_ARGUMENT);
  EXPECT_TRUE(names("Axis")) << anydml_last_error();
  EXPECT_EQ(run({}, input, turned, 1), ANYDML_INVALID_ARGUMENT);
  EXPECT_TRUE(names("OutputTensor")) << anydml_last_error();
  EXPECT_EQ(run({}, input, whole, 1), ANYDML_INVALID_ARGUMENT);
  EXPECT_TRUE(names("INT32")) << anydml_last_error();
  anydml_attribute attributes[2] = {{"Axis", ANYDML_UINT64, 0, {}}, {"AxisDirection", ANYDML_UINT64, 0, {}}};
  attributes[1].value.u64 = 2;
  EXPECT_EQ(anydml_run(nullptr, "CUMULATIVE_SUMMATION", &input, 1, &output, 1, attributes, 2), ANYDML_INVALID_ARGUMENT);
  EXPECT_TRUE(names("AxisDirection")) << anydml_last_error();
}

TEST(DynamicQuantizeRefuses, WhatHasNoRange) {
  f32 x[4] = {};
  f32 scale = 0;
  u8 y[4] = {};
  u8 zero = 0;
  const auto names = [](const char* part) { return std::string(anydml_last_error()).find(part) != std::string::npos; };
  const auto quantize = [&](i64 from, i64 to) {
    const i64 one = 1;
    const anydml_tensor input = {ANYDML_FLOAT32, 1, &from, nullptr, x};
    const anydml_tensor outputs[] = {{ANYDML_UINT8, 1, &to, nullptr, y},
                                     {ANYDML_FLOAT32, 1, &one, nullptr, &scale},
                                     {ANYDML_UINT8, 1, &one, nullptr, &zero}};
    return anydml_run(nullptr, "DYNAMIC_QUANTIZE_LINEAR", &input, 1, outputs, 3, nullptr, 0);
  };
  EXPECT_EQ(quantize(4, 4), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(quantize(0, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_TRUE(names("expected an element to quantize")) << anydml_last_error();
  EXPECT_EQ(quantize(4, 3), ANYDML_INVALID_ARGUMENT);
  EXPECT_TRUE(names("the sizes of InputTensor")) << anydml_last_error();
}

}  // namespace
}  // namespace anydml::test
