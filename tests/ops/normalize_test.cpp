// SPDX-License-Identifier: MIT
// Checks softmax and its relatives through the C API, element by element, against an independent implementation of
// their definition that ignores layouts, threads and vectors. The test runs with several thread counts and targets;
// since all runs match the same reference, they also match each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/scalar.h"
#include "ops/normalize/scalar/softmax.h"
#include "ops/scalar/functions/exponential.h"
#include "ops/scalar/functions/logarithm.h"
#include "support/row_sums.h"
#include "support/sanitizers.h"
#include "support/tensor.h"
#include "support/type_names.h"

namespace anydml::test {
namespace {

constexpr std::string_view kFunctions[] = {"SOFTMAX", "LOG_SOFTMAX", "HARDMAX"};

std::vector<f32> normalized(std::string_view function, const std::vector<f32>& x, bool lanes) {
  f32 maximum = x[0];
  std::size_t position = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (!is_nan(maximum) && (is_nan(x[i]) || x[i] > maximum)) {
      maximum = x[i];
      position = i;
    }
  }
  std::vector<f32> results(x.size(), 0.0F);
  if (function == "HARDMAX") {
    results[position] = 1.0F;
    return results;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    results[i] = Exp<f32>{}(x[i] - maximum);
  }
  const f32 total = sum_in_order(results, lanes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    results[i] = function == "SOFTMAX" ? results[i] / total : (x[i] - maximum) - Log<f32>{}(total);
  }
  return results;
}

struct Case {
  std::vector<i64> sizes;
  std::vector<u64> axes;
};

// The row of each element, with elements in row-major order.
std::vector<std::size_t> rows_of(const Case& of) {
  std::vector<i64> kept = of.sizes;
  for (const u64 axis : of.axes) {
    kept[axis] = 1;
  }
  Layout layout{of.sizes, std::vector<i64>(kept.size())};
  i64 stride = 1;
  for (std::size_t i = kept.size(); i-- > 0;) {
    layout.strides[i] = kept[i] == 1 ? 0 : stride;
    stride *= kept[i];
  }
  std::vector<std::size_t> rows;
  for (i64 n = 0; n < layout.count(); ++n) {
    rows.push_back(static_cast<std::size_t>(layout.offset(n)));
  }
  return rows;
}

anydml_attribute axes_of(const std::vector<u64>& axes) {
  anydml_attribute attribute = {
      "Axes", uint32_t{ANYDML_UINT64} | uint32_t{ANYDML_ARRAY}, static_cast<std::uint32_t>(axes.size()), {}};
  attribute.value.u64s = axes.data();
  return attribute;
}

// axes is null for the operator without axes.
int run(std::string_view function, const anydml_tensor& input, const anydml_tensor& output,
        const std::vector<u64>* axes) {
  const std::string name = "ACTIVATION_" + std::string(function) + (axes != nullptr ? "1" : "");
  const anydml_attribute attribute = axes != nullptr ? axes_of(*axes) : anydml_attribute{};
  return anydml_run(nullptr, name.c_str(), &input, 1, &output, 1, axes != nullptr ? &attribute : nullptr,
                    axes != nullptr ? 1 : 0);
}

enum class Data : u8 { everyday, wide, equal, few, any };

template <class T>
T draw(Data data, Random& random) {
  static const std::vector<T> specials = special_values<T>();
  const u64 bits = random();
  const f64 unit = static_cast<f64>(bits >> 11) * 0x1p-53;
  switch (data) {
    case Data::everyday:
      return Scalar(unit * 10 - 5).as<T>();
    case Data::wide:  // where exponentials are subnormal or 0
      return Scalar(unit * 120).as<T>();
    case Data::equal:
      return Scalar(bits % 4096 == 0 ? 3.5 : 3.25).as<T>();
    case Data::few:
      return bits % 500 == 0 ? specials[bits / 500 % specials.size()] : Scalar(unit * 8).as<T>();
    case Data::any:
      break;
  }
  return from_raw<T>(bits);
}

template <class T>
void check(std::string_view function, const Case& of, Data data, Random& random, bool with_axes = true) {
  const Layout in = random_layout(of.sizes, random, true);
  const Layout out = random_layout(of.sizes, random, false);
  Memory<T> from(in, random);
  for (i64 n = 0; n < in.count(); ++n) {
    from.store(in.offset(n), draw<T>(data, random));
  }
  Memory<T> to(out, random);
  Memory<T> expected = to;
  const Memory<T> before = from;
  i64 last_long = -1;
  for (std::size_t i = 0; i < of.sizes.size(); ++i) {
    last_long = of.sizes[i] != 1 ? static_cast<i64>(i) : last_long;
  }
  const bool lanes = std::ranges::find(of.axes, static_cast<u64>(last_long)) != of.axes.end();
  const std::vector<std::size_t> rows = rows_of(of);
  std::vector<std::vector<f32>> elements(rows.empty() ? 0 : *std::ranges::max_element(rows) + 1);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    elements[rows[n]].push_back(widen(from.load(in.offset(static_cast<i64>(n)))));
  }
  for (std::vector<f32>& row : elements) {
    row = normalized(function, row, lanes);
    std::ranges::reverse(row);  // to pop from the end
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    expected.store(out.offset(static_cast<i64>(n)), narrow<T>(elements[rows[n]].back()));
    elements[rows[n]].pop_back();
  }
  ASSERT_EQ(run(function, tensor_of<T>(in, from.data()), tensor_of<T>(out, to.data()), with_axes ? &of.axes : nullptr),
            ANYDML_OK)
      << anydml_last_error();
  std::string shape;
  for (std::size_t i = 0; i < of.sizes.size(); ++i) {
    shape += std::to_string(of.sizes[i]) + (std::ranges::find(of.axes, i) != of.axes.end() ? "r" : "") + "/" +
             std::to_string(in.strides[i]) + "/" + std::to_string(out.strides[i]) + " ";
  }
  ASSERT_TRUE(to.equals(expected, out, 0))
      << function << " of " << type_name(kDataTypeOf<T>) << ", data " << static_cast<int>(data) << ", " << shape;
  ASSERT_TRUE(from == before);
}

template <class T>
void check_all(const Case& of, Random& random) {
  for (const std::string_view function : kFunctions) {
    for (const Data data : {Data::everyday, static_cast<Data>(1 + random() % 4)}) {
      check<T>(function, of, data, random);
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }
}

template <class T>
class Normalize : public testing::Test {};
using Types = testing::Types<f32, f16>;
TYPED_TEST_SUITE(Normalize, Types, TypeNames);

TYPED_TEST(Normalize, HasTheBitsOfTheDefinitionAtEveryEdge) {
  Random random(kSeed);
  std::vector<Case> cases = {{{}, {}}, {{1}, {0}}, {{5}, {}}, {{1, 1, 1}, {1}}, {{3, 4}, {}}, {{4096, 1}, {1}}};
  for (const i64 size :
       {2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 1028, 2048, 4095, 4096, 4097, 6000, 10'000}) {
    if (kSanitized && size != 3 && size != 65 && size != 257 && size != 4097) {
      continue;
    }
    cases.push_back({{size}, {0}});
    cases.push_back({{3, size}, {1}});
    cases.push_back({{size, 3}, {0}});
    cases.push_back({{size, 21}, {0}});
    if (size < 5000) {
      cases.push_back({{2, size, 1, 9}, {1}});
      cases.push_back({{17, size}, {1}});
    }
  }
  cases.push_back({{40, 1100}, {0}});
  cases.push_back({{1100, 300}, {0}});
  cases.push_back({{70, 1, 90, 3}, {0, 2}});
  cases.push_back({{3, 70, 2, 90}, {3, 1}});
  for (const Case& of : cases) {
    check_all<TypeParam>(of, random);
    if (this->HasFatalFailure()) {
      return;
    }
  }
}

TYPED_TEST(Normalize, HasTheBitsOfTheDefinitionInAnyShape) {
  Random random(kSeed + 1);
  for (int n = 0; n < (kSanitized ? 20 : 150); ++n) {
    Case of{random_sizes(random, 8, n % 8 == 0 ? 30'000 : 3000), {}};
    for (u64 axis = 0; axis < of.sizes.size(); ++axis) {
      if (random() % 2 == 0) {
        of.axes.push_back(axis);
      }
    }
    std::shuffle(of.axes.begin(), of.axes.end(), random);
    check_all<TypeParam>(of, random);
    if (this->HasFatalFailure()) {
      return;
    }
  }
}

// Packed tensors, which have the fastest paths, and many pieces, which are split between threads.
TYPED_TEST(Normalize, HasTheBitsOfTheDefinitionOfLargeTensors) {
  Random random(kSeed + 2);
  for (const Case& of : {Case{{100, 1000}, {1}}, Case{{1000, 100}, {0}}, Case{{5, 40'001}, {1}}, Case{{9001, 13}, {0}},
                         Case{{7000, 10}, {1}}, Case{{6, 33, 20, 20}, {1}}}) {
    if (kSanitized && of.sizes[0] != 5 && of.sizes[0] != 6) {
      continue;
    }
    for (int n = 0; n < 2; ++n) {  // layouts are random; some are packed
      check_all<TypeParam>(of, random);
      if (this->HasFatalFailure()) {
        return;
      }
    }
  }
}

// The older operators have no axes: they work along the last dimension of a tensor with at most two dimensions after
// leading 1s.
TYPED_TEST(Normalize, GoesAlongTheLastDimensionWithoutAxes) {
  Random random(kSeed + 3);
  for (const Case& of : {Case{{7}, {0}}, Case{{1}, {0}}, Case{{5, 300}, {1}}, Case{{300, 5}, {1}},
                         Case{{1, 1, 3, 4100}, {3}}, Case{{1, 1, 1, 1, 1, 1, 2, 65}, {7}}, Case{{6, 1}, {1}}}) {
    for (const std::string_view function : kFunctions) {
      check<TypeParam>(function, of, Data::everyday, random, false);
      check<TypeParam>(function, of, Data::few, random, false);
      if (this->HasFatalFailure()) {
        return;
      }
    }
  }
}

// Every 61st FLOAT32 from -0 to -120; a one-time run compared all of them.
TEST(NormalizeValues, ExponentialsHaveTheBitsOfExp) {
  for (u32 bits = 0x80000000; bits < 0xc2f00000; bits += kSanitized ? 6151 : 61) {
    const f32 x = from_bits<f32>(bits);
    ASSERT_EQ(to_bits(exponential_of(x)), to_bits(Exp<f32>{}(x))) << x;
  }
  EXPECT_EQ(exponential_of(0.0F), 1.0F);
  EXPECT_EQ(exponential_of(-std::numeric_limits<f32>::infinity()), 0.0F);
  EXPECT_NE(exponential_of(quiet_nan<f32>()), exponential_of(quiet_nan<f32>()));
}

TEST(NormalizeValues, HaveTheAnswersOfTheDocuments) {
  constexpr f32 kInfinity = std::numeric_limits<f32>::infinity();
  constexpr f32 kNan = std::numeric_limits<f32>::quiet_NaN();
  const auto of = [](std::string_view function, std::vector<f32> x) {
    const Layout layout{{static_cast<i64>(x.size())}, {1}};
    std::vector<f32> y(x.size(), 77.0F);
    const std::vector<u64> axes = {0};
    EXPECT_EQ(run(function, tensor_of<f32>(layout, x.data()), tensor_of<f32>(layout, y.data()), &axes), ANYDML_OK);
    return y;
  };
  using Row = std::vector<f32>;
  EXPECT_EQ(of("SOFTMAX", {0, -kInfinity, 0, 0, 0}), (Row{0.25F, 0, 0.25F, 0.25F, 0.25F}));
  EXPECT_EQ(of("SOFTMAX", {3e38F, -3e38F}), (Row{1, 0}));
  EXPECT_EQ(of("LOG_SOFTMAX", {7}), Row{0});
  EXPECT_EQ(of("LOG_SOFTMAX", {0, -kInfinity}), (Row{0, -kInfinity}));
  EXPECT_EQ(of("LOG_SOFTMAX", {3e38F, -3e38F}), (Row{0, -kInfinity}));
  for (const Row& row : {Row{-kInfinity, -kInfinity}, Row{1, kInfinity}, Row{kNan, 1, 2}, Row{kNan}, Row{kInfinity}}) {
    for (const std::string_view function : {"SOFTMAX", "LOG_SOFTMAX"}) {
      EXPECT_TRUE(std::ranges::all_of(of(function, row), [](f32 y) { return is_nan(y); })) << function;
    }
  }
  EXPECT_EQ(of("HARDMAX", {1, 3, 3, 2}), (Row{0, 1, 0, 0}));
  EXPECT_EQ(of("HARDMAX", {-0.0F, 0}), (Row{1, 0}));
  EXPECT_EQ(of("HARDMAX", {-kInfinity, -kInfinity}), (Row{1, 0}));
  EXPECT_EQ(of("HARDMAX", {1, kInfinity, kNan, kNan}), (Row{0, 0, 1, 0}));
}

TEST(NormalizeValues, OfNoElementsAreNone) {
  f32 memory[4] = {77, 77, 77, 77};
  for (const std::vector<i64>& sizes : {std::vector<i64>{0}, std::vector<i64>{3, 0}, std::vector<i64>{0, 3}}) {
    const Layout layout{sizes, std::vector<i64>(sizes.size(), 1)};
    const anydml_tensor tensor = {ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, memory};
    const std::vector<u64> axes = {sizes.size() - 1};
    for (const std::string_view function : kFunctions) {
      EXPECT_EQ(run(function, tensor, tensor, &axes), ANYDML_OK) << anydml_last_error();
      EXPECT_EQ(run(function, tensor, tensor, nullptr), ANYDML_OK) << anydml_last_error();
    }
  }
  EXPECT_EQ(memory[0], 77.0F);
}

TEST(NormalizeOverlap, TheOutputMayLieOverTheInput) {
  std::vector<f32> memory(3000, 1.0F);
  const Layout layout{{2, 1000}, {1000, 1}};
  const std::vector<u64> axes = {1};
  ASSERT_EQ(run("SOFTMAX", tensor_of<f32>(layout, memory.data()), tensor_of<f32>(layout, memory.data() + 500), &axes),
            ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(memory[499], 1.0F);
  EXPECT_EQ(memory[500], 0.001F);
  EXPECT_EQ(memory[2499], 0.001F);
  EXPECT_EQ(memory[2500], 1.0F);
}

TEST(NormalizeRefuses, AxesAndTensorsThatDoNotGoTogether) {
  f32 x[12] = {};
  f32 y[12] = {};
  const auto message = [&](std::vector<i64> sizes, std::vector<i64> out_sizes, const std::vector<u64>* axes,
                           anydml_type in_type, anydml_type out_type) {
    const anydml_tensor input = {in_type, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, x};
    const anydml_tensor output = {out_type, static_cast<int32_t>(out_sizes.size()), out_sizes.data(), nullptr, y};
    EXPECT_EQ(run("SOFTMAX", input, output, axes), ANYDML_INVALID_ARGUMENT);
    return std::string(anydml_last_error());
  };
  const auto has = [](const std::string& all, const char* part) { return all.find(part) != std::string::npos; };
  constexpr anydml_type kF32 = ANYDML_FLOAT32;
  const std::vector<u64> last = {1};
  const std::vector<u64> beyond = {2};
  const std::vector<u64> twice = {1, 1};
  EXPECT_TRUE(has(message({3, 4}, {3, 4}, &beyond, kF32, kF32), "Axes[0]")) << anydml_last_error();
  EXPECT_TRUE(has(message({3, 4}, {3, 4}, &twice, kF32, kF32), "Axes[1] is 1 again")) << anydml_last_error();
  EXPECT_TRUE(has(message({3, 4}, {3, 1}, &last, kF32, kF32), "OutputTensor")) << anydml_last_error();
  EXPECT_TRUE(has(message({3, 4}, {3, 4}, &last, kF32, ANYDML_FLOAT16), "FLOAT16")) << anydml_last_error();
  EXPECT_TRUE(has(message({3, 4}, {3, 4}, &last, ANYDML_INT32, ANYDML_INT32), "INT32")) << anydml_last_error();
  EXPECT_TRUE(has(message({2, 3, 2}, {2, 3, 2}, nullptr, kF32, kF32), "InputTensor")) << anydml_last_error();
}

}  // namespace
}  // namespace anydml::test
