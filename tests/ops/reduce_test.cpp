// SPDX-License-Identifier: MIT
// Checks REDUCE, ARGMIN and ARGMAX through the C API, element by element, against an independent implementation of
// their evaluation order that ignores layouts, threads and vectors. The test runs with several thread counts and
// targets; since all runs match the same reference, they also match each other.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "base/scalar.h"
#include "support/sanitizers.h"
#include "support/tensor.h"
#include "support/type_names.h"

namespace anydml::test {
namespace {

constexpr std::string_view kFunctions[] = {"SUM",      "AVERAGE", "L1",  "L2",     "SUM_SQUARE",
                                           "MULTIPLY", "MAX",     "MIN", "ARGMAX", "ARGMIN"};

bool is_arg(std::string_view function) { return function.starts_with("ARG"); }

// Reduces blocks of 4,096 elements. Within a block, elements are distributed over 64 lanes or combined one after
// another. The upper half of the lanes is repeatedly combined with the lower half, and blocks are combined in pairs.
template <class A, class Op>
A in_order(const std::vector<A>& lifted, bool lanes, A neutral, Op op) {
  constexpr std::size_t kBlock = 4096;
  std::vector<A> blocks;
  for (std::size_t first = 0; first < lifted.size(); first += kBlock) {
    std::vector<A> sums(lanes ? 64 : 1, neutral);
    for (std::size_t i = first; i < std::min(lifted.size(), first + kBlock); ++i) {
      sums[i % sums.size()] = op(sums[i % sums.size()], lifted[i]);
    }
    for (; sums.size() > 1; sums.resize(sums.size() / 2)) {
      for (std::size_t i = 0; i < sums.size() / 2; ++i) {
        sums[i] = op(sums[i], sums[i + sums.size() / 2]);
      }
    }
    blocks.push_back(sums[0]);
  }
  while (blocks.size() > 1) {
    std::vector<A> next;
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
      next.push_back(i + 1 < blocks.size() ? op(blocks[i], blocks[i + 1]) : blocks[i]);
    }
    blocks = next;
  }
  return blocks[0];
}

// Exact FLOAT16 sums, rounded once: in units of 2^-26, with the lowest bit as a sticky bit.
f16 exact_halves(const std::vector<f16>& elements, bool absolute, i64 divisor) {
  i64 quarters = 0;
  f64 not_finite = 0;
  bool negative_zeros = true;
  for (const f16 element : elements) {
    const f64 wide = absolute ? std::fabs(widen_to<f64>(element)) : widen_to<f64>(element);
    negative_zeros = negative_zeros && wide == 0 && std::signbit(wide);
    if (std::isfinite(wide)) {
      quarters += static_cast<i64>(wide * 0x1p26);
    } else {
      not_finite += wide;
    }
  }
  if (not_finite != 0) {
    return round_to<f16>(not_finite);
  }
  const i64 quotient = std::abs(quarters) / divisor | (quarters % divisor != 0 ? 1 : 0);
  const f64 magnitude = static_cast<f64>(quotient) * 0x1p-26;
  return round_to<f16>(quarters < 0 || negative_zeros ? -magnitude : magnitude);
}

// Whether b is beyond a. NaN is beyond everything; +0 is above -0 for MAX and MIN, but equal to it for indices.
template <class T>
bool is_beyond(T a, T b, bool max, bool position) {
  if constexpr (is_float<T>) {
    if (is_nan(a) || is_nan(b)) {
      return !is_nan(a);
    }
    const auto x = widen(a);
    const auto y = widen(b);
    if (x == 0 && y == 0 && !position) {
      return std::signbit(x) != std::signbit(y) && std::signbit(x) == max;
    }
    return max ? y > x : y < x;
  } else {
    return max ? b > a : b < a;
  }
}

template <class T>
std::size_t find_extreme(const std::vector<T>& elements, bool max, bool position, bool last) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const bool equal = !is_beyond(elements[best], elements[i], max, position) &&
                       !is_beyond(elements[i], elements[best], max, position);
    const bool both_nan = [&] {
      if constexpr (is_float<T>) {
        return is_nan(elements[best]) && is_nan(elements[i]);
      }
      return false;
    }();
    if (equal || both_nan ? last : is_beyond(elements[best], elements[i], max, position)) {
      best = i;
    }
  }
  return best;
}

template <class T>
T reduce(std::string_view function, const std::vector<T>& elements, bool lanes) {
  if (function == "MAX" || function == "MIN") {
    return elements[find_extreme(elements, function == "MAX", false, false)];
  }
  const bool squares = function == "L2" || function == "SUM_SQUARE";
  const auto count = static_cast<i64>(elements.size());
  if constexpr (std::is_same_v<T, f16>) {
    if (function == "SUM" || function == "L1" || function == "AVERAGE") {
      return exact_halves(elements, function == "L1", function == "AVERAGE" ? count : 1);
    }
  }
  if constexpr (is_float<T>) {
    using A = compute_t<T>;
    std::vector<A> lifted;
    for (const T element : elements) {
      const A wide = widen(element);
      lifted.push_back(squares ? wide * wide : function == "L1" ? std::fabs(wide) : wide);
    }
    A result = function == "MULTIPLY" ? in_order<A>(lifted, lanes, 1, [](A a, A b) { return a * b; })
                                      : in_order<A>(lifted, lanes, A{-0.0F}, [](A a, A b) { return a + b; });
    result = function == "AVERAGE" ? result / static_cast<A>(count) : function == "L2" ? std::sqrt(result) : result;
    return narrow<T>(result);
  } else {
    u64 result = function == "MULTIPLY" ? 1 : 0;
    for (const T element : elements) {
      const auto wide = static_cast<u64>(element);
      if (function == "MULTIPLY") {
        result *= wide;
      } else {
        result += squares ? wide * wide : function == "L1" && element < T{0} ? u64{0} - wide : wide;
      }
    }
    return static_cast<T>(result);
  }
}

struct Case {
  std::vector<i64> sizes;
  std::vector<u64> axes;
};

// The elements of each output in row-major order, with the outputs in row-major order.
template <class T>
std::vector<std::vector<T>> rows_of(const Memory<T>& memory, const Layout& layout, const Case& of) {
  std::vector<i64> kept = of.sizes;
  for (const u64 axis : of.axes) {
    kept[axis] = 1;
  }
  Layout outputs{kept, std::vector<i64>(kept.size())};
  i64 stride = 1;
  for (std::size_t i = kept.size(); i-- > 0;) {
    outputs.strides[i] = kept[i] == 1 ? 0 : stride;
    stride *= kept[i];
  }
  outputs.sizes = of.sizes;
  std::vector<std::vector<T>> rows(static_cast<std::size_t>(stride));
  for (i64 n = 0; n < layout.count(); ++n) {
    rows[static_cast<std::size_t>(outputs.offset(n))].push_back(memory.load(layout.offset(n)));
  }
  return rows;
}

anydml_attribute text(const char* name, std::string_view value) {
  anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
  attribute.value.text = value.data();
  return attribute;
}

anydml_attribute axes_of(const std::vector<u64>& axes) {
  anydml_attribute attribute = {
      "Axes", uint32_t{ANYDML_UINT64} | uint32_t{ANYDML_ARRAY}, static_cast<std::uint32_t>(axes.size()), {}};
  attribute.value.u64s = axes.data();
  return attribute;
}

template <class T, class Out>
int run(std::string_view function, const Layout& in, void* from, const Layout& out, void* to,
        const std::vector<u64>& axes, bool by_reduce, bool last) {
  const anydml_tensor input = tensor_of<T>(in, from);
  const anydml_tensor output = tensor_of<Out>(out, to);
  const anydml_attribute attributes[] = {
      axes_of(axes),
      by_reduce ? text("Function", function) : text("AxisDirection", last ? "DECREASING" : "INCREASING")};
  return anydml_run(nullptr, by_reduce ? "REDUCE" : function.data(), &input, 1, &output, 1, attributes, 2);
}

template <class T, class Out>
void check(std::string_view function, const Case& of, Random& random, bool by_reduce, bool last) {
  const Layout in = random_layout(of.sizes, random, true);
  std::vector<i64> out_sizes = of.sizes;
  for (const u64 axis : of.axes) {
    out_sizes[axis] = 1;
  }
  const Layout out = random_layout(out_sizes, random, false);
  Memory<T> from(in, random);
  // Half of the tensors contain ordinary numbers, since sums of random bits are mostly NaN.
  if (random() % 2 == 0) {
    for (i64 n = 0; n < in.count(); ++n) {
      const i64 value = static_cast<i64>(random() % 2001) - 1000;
      if constexpr (is_float<T>) {
        from.store(in.offset(n), Scalar(static_cast<f64>(value) / 997.0).as<T>());
      } else {
        from.store(in.offset(n), static_cast<T>(value));
      }
    }
  }
  Memory<Out> to(out, random);
  Memory<Out> expected = to;
  const Memory<T> before = from;
  i64 next = 0;
  i64 last_long = -1;
  for (std::size_t i = 0; i < of.sizes.size(); ++i) {
    last_long = of.sizes[i] != 1 ? static_cast<i64>(i) : last_long;
  }
  const bool lanes = std::ranges::find(of.axes, static_cast<u64>(last_long)) != of.axes.end();
  for (const std::vector<T>& row : rows_of(from, in, of)) {
    const i64 position = out.offset(next++);
    if constexpr (std::is_integral_v<Out>) {
      if (is_arg(function)) {
        expected.store(position, static_cast<Out>(find_extreme(row, function == "ARGMAX", true, last)));
      }
    }
    if constexpr (std::is_same_v<T, Out>) {
      if (!is_arg(function)) {
        expected.store(position, reduce<T>(function, row, lanes));
      }
    }
  }
  ASSERT_EQ((run<T, Out>(function, in, from.data(), out, to.data(), of.axes, by_reduce, last)), ANYDML_OK)
      << anydml_last_error();
  std::string shape;
  for (std::size_t i = 0; i < of.sizes.size(); ++i) {
    shape += std::to_string(of.sizes[i]) + (std::ranges::find(of.axes, i) != of.axes.end() ? "r" : "") + "/" +
             std::to_string(in.strides[i]) + " ";
  }
  ASSERT_TRUE(to.equals(expected, out, 0)) << function << " of " << type_name(kDataTypeOf<T>) << ", " << shape;
  ASSERT_TRUE(from == before);
}

template <class T>
void check_all(const Case& of, Random& random) {
  for (const std::string_view function : kFunctions) {
    if (is_arg(function)) {
      check<T, u32>(function, of, random, true, false);
      check<T, i64>(function, of, random, false, false);
      check<T, i64>(function, of, random, false, true);
    } else if (is_float<T> || (function != "AVERAGE" && function != "L2")) {
      check<T, T>(function, of, random, true, false);
    }
    if (testing::Test::HasFatalFailure()) {
      return;
    }
  }
}

template <class T>
class Reduce : public testing::Test {};
// Sanitizers check the loops, which are the same for all types of the same width.
using Types = std::conditional_t<kSanitized, testing::Types<f16, f32, i8, u64>,
                                 testing::Types<f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64>>;
TYPED_TEST_SUITE(Reduce, Types, TypeNames);

TYPED_TEST(Reduce, HasTheBitsOfTheOrderAtEveryEdge) {
  Random random(kSeed);
  std::vector<Case> cases = {{{}, {}}, {{1}, {0}}, {{5}, {}}, {{1, 1, 1}, {1}}};
  for (const i64 size : {2, 3, 63, 64, 65, 1000, 4095, 4096, 4097, 12'345}) {
    if (kSanitized && size != 3 && size != 65 && size != 4097) {
      continue;
    }
    cases.push_back({{size}, {0}});
    cases.push_back({{3, size}, {1}});
    cases.push_back({{size, 3}, {0}});
    if (size < 5000) {
      cases.push_back({{2, size, 1, 5}, {1}});
    }
  }
  cases.push_back({{40, 1100}, {0}});
  cases.push_back({{70, 1, 90, 3}, {0, 2}});
  cases.push_back({{3, 70, 2, 90}, {3, 1}});
  for (const Case& of : cases) {
    check_all<TypeParam>(of, random);
    if (this->HasFatalFailure()) {
      return;
    }
  }
}

TYPED_TEST(Reduce, HasTheBitsOfTheOrderInAnyShape) {
  Random random(kSeed + 1);
  for (int n = 0; n < (kSanitized ? 12 : 40); ++n) {
    Case of{random_sizes(random, 8, 6000), {}};
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

// Many pieces, and blocks that are split between threads.
TYPED_TEST(Reduce, HasTheBitsOfTheOrderOfLargeTensors) {
  Random random(kSeed + 2);
  for (const Case& of : {Case{{400'001}, {0}}, Case{{2, 150'000}, {1}}, Case{{80'000, 4}, {0}}, Case{{300, 1000}, {0}},
                         Case{{1000, 300}, {1}}}) {
    if (kSanitized && of.sizes.size() != 1 && of.sizes[1] != 4) {
      continue;
    }
    for (const std::string_view function : {"SUM", "MULTIPLY", "MAX"}) {
      check<TypeParam, TypeParam>(function, of, random, true, false);
    }
    check<TypeParam, i64>("ARGMIN", of, random, false, random() % 2 == 0);
    if (this->HasFatalFailure()) {
      return;
    }
  }
}

TEST(ReduceOverlap, TheOutputMayLieOverTheInput) {
  std::vector<f32> memory(20'000, 1.0F);
  const Layout in{{2, 10'000}, {10'000, 1}};
  const Layout out{{2, 1}, {1, 1}};
  ASSERT_EQ((run<f32, f32>("SUM", in, memory.data(), out, memory.data() + 5000, {1}, true, false)), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(memory[5000], 10'000.0F);
  EXPECT_EQ(memory[5001], 10'000.0F);
  EXPECT_EQ(memory[4999], 1.0F);
}

TEST(ReduceHalves, AreExactBeyondWhatAFloatHolds) {
  // 65504 added a thousand times and subtracted as often, with a small number in between.
  std::vector<f16> memory(10'000, f16{0x7bff});
  for (std::size_t i = 5000; i < memory.size(); ++i) {
    memory[i].bits = 0xfbff;
  }
  memory[0].bits = 0x0001;  // 2^-24
  memory[9999].bits = 0x0000;
  f16 result{};
  const Layout in{{10'000}, {1}};
  const Layout out{{1}, {1}};
  ASSERT_EQ((run<f16, f16>("SUM", in, memory.data(), out, &result, {0}, true, false)), ANYDML_OK);
  EXPECT_EQ(result.bits, 0x0001);
}

TEST(ReduceRefuses, WhatItDoesNotDoOrCannotMean) {
  f32 x[12] = {};
  f32 y[12] = {};
  const auto message = [&](std::string_view function, std::vector<i64> sizes, std::vector<i64> out_sizes,
                           const std::vector<u64>& axes, anydml_type in_type, anydml_type out_type, int code) {
    const anydml_tensor input = {in_type, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, x};
    const anydml_tensor output = {out_type, static_cast<int32_t>(out_sizes.size()), out_sizes.data(), nullptr, y};
    const anydml_attribute attributes[] = {axes_of(axes), text("Function", function)};
    EXPECT_EQ(anydml_run(nullptr, "REDUCE", &input, 1, &output, 1, attributes, 2), code) << function;
    return std::string(anydml_last_error());
  };
  const auto has = [](const std::string& all, const char* part) { return all.find(part) != std::string::npos; };
  constexpr anydml_type kF32 = ANYDML_FLOAT32;
  for (const char* function : {"LOG_SUM", "LOG_SUM_EXP"}) {
    EXPECT_TRUE(has(message(function, {3, 2}, {3, 1}, {1}, ANYDML_FLOAT64, ANYDML_FLOAT64, ANYDML_INVALID_ARGUMENT),
                    "type is FLOAT64; expected FLOAT32, FLOAT16 for LOG_SUM"));
    EXPECT_TRUE(has(message(function, {3, 4}, {3, 1}, {1}, ANYDML_INT32, ANYDML_INT32, ANYDML_INVALID_ARGUMENT),
                    "type is INT32"));
  }
  EXPECT_TRUE(has(message("SUM", {3, 4}, {3, 1}, {2}, kF32, kF32, ANYDML_INVALID_ARGUMENT), "Axes[0] is 2"));
  EXPECT_TRUE(has(message("SUM", {3, 4}, {3, 1}, {1, 1}, kF32, kF32, ANYDML_INVALID_ARGUMENT), "Axes[1] is 1 again"));
  EXPECT_TRUE(has(message("SUM", {3, 4}, {3, 4}, {1}, kF32, kF32, ANYDML_INVALID_ARGUMENT), "OutputTensor"));
  EXPECT_TRUE(has(message("SUM", {3, 4}, {3}, {1}, kF32, kF32, ANYDML_INVALID_ARGUMENT), "OutputTensor"));
  EXPECT_TRUE(has(message("SUM", {3, 0}, {3, 1}, {1}, kF32, kF32, ANYDML_INVALID_ARGUMENT), "an element to reduce"));
  EXPECT_TRUE(has(message("SUM", {3, 4}, {3, 1}, {1}, kF32, ANYDML_FLOAT16, ANYDML_INVALID_ARGUMENT), "FLOAT32"));
  EXPECT_TRUE(has(message("ARGMAX", {3, 4}, {3, 1}, {1}, kF32, kF32, ANYDML_INVALID_ARGUMENT), "for ARGMAX"));
  EXPECT_TRUE(has(message("AVERAGE", {3, 4}, {3, 1}, {1}, ANYDML_INT32, ANYDML_INT32, ANYDML_INVALID_ARGUMENT),
                  "expected a float type for AVERAGE"));
}

}  // namespace
}  // namespace anydml::test
