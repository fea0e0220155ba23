// SPDX-License-Identifier: MIT
// Operators over a few integers: the direct results have the bits of DirectML's operators.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "onnx/values/call.h"
#include "onnx/values/few.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {
namespace {

// The result of the C library's operator.
Array by_operator(const char* op, const Arrays& inputs, Kind kind, const Sizes& shape) {
  const Call call(op, inputs, {});
  Array result = Array::empty(kind, shape);
  const anydml_tensor output = tensor_of(result);
  check_status(anydml_run(nullptr, op, call.tensors().data(), call.tensors().size(), &output, 1, nullptr, 0));
  return result;
}

void expect_same(const char* op, const Arrays& inputs, const Out& out = {}) {
  const auto few = computed_from_few(op, inputs, {}, out);
  ASSERT_TRUE(few.has_value()) << op;
  const Array wanted = by_operator(op, inputs, few->kind(), few->shape());
  EXPECT_EQ(few->to_numbers(), wanted.to_numbers()) << op;
  EXPECT_EQ(few->to_integers(), wanted.to_integers()) << op;
}

constexpr const char* kBinary[] = {"ELEMENT_WISE_ADD",
                                   "ELEMENT_WISE_SUBTRACT",
                                   "ELEMENT_WISE_MULTIPLY",
                                   "ELEMENT_WISE_DIVIDE",
                                   "ELEMENT_WISE_MAX",
                                   "ELEMENT_WISE_MIN",
                                   "ELEMENT_WISE_LOGICAL_EQUALS",
                                   "ELEMENT_WISE_LOGICAL_LESS_THAN",
                                   "ELEMENT_WISE_LOGICAL_GREATER_THAN"};

template <class T>
std::vector<T> hard_numbers(std::mt19937& random, std::size_t count) {
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr T kMost = std::numeric_limits<T>::max();
  const T chosen[] = {0, 1, -1, 2, -2, 7, kLeast, kMost, static_cast<T>(kLeast + 1), static_cast<T>(kMost - 1)};
  std::vector<T> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    numbers.push_back(random() % 2 == 0 ? chosen[random() % std::size(chosen)]
                                        : static_cast<T>((std::uint64_t{random()} << 32) | random()));
  }
  return numbers;
}

template <class T>
void check_kind(Kind kind) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const Array a = Array::of(kind, {2, 3}, hard_numbers<T>(random, 6));
    const Array b = Array::of(kind, {2, 3}, hard_numbers<T>(random, 6));
    const Array one = Array::of(kind, {}, hard_numbers<T>(random, 1));
    for (const char* op : kBinary) {
      expect_same(op, {a, b});
      expect_same(op, {a.transpose().reshape({2, 3}), b});
    }
    const Array wide = Array::of(kind, {2, 3}, std::vector<T>(6, one.elements<T>()[0]));
    for (const char* op : kBinary) {  // the operators themselves do not broadcast
      const auto few = computed_from_few(op, {a, one}, {}, {});
      ASSERT_TRUE(few.has_value());
      EXPECT_EQ(few->to_integers(), by_operator(op, {a, wide}, few->kind(), few->shape()).to_integers());
    }
    const Array truths = Array::of(Kind::kUint8, {2, 3}, std::vector<std::uint8_t>{0, 1, 1, 0, 1, 0});
    expect_same("ELEMENT_WISE_IF", {truths, a, b});
  }
}

TEST(Few, HasTheBitsOfTheOperators) {
  check_kind<std::int64_t>(Kind::kInt64);
  check_kind<std::int32_t>(Kind::kInt32);
}

TEST(Few, Converts) {
  const Array numbers = Array::integers({0, 1, -1, 5, 2147483647, -2147483648, 16777217, 33554435});
  expect_same("CAST", {numbers}, {.shape = std::nullopt, .kind = Kind::kInt32});
  expect_same("CAST", {numbers}, {.shape = std::nullopt, .kind = Kind::kFloat});
  const Array bytes = Array::of(Kind::kUint8, {3}, std::vector<std::uint8_t>{0, 1, 255});
  expect_same("CAST", {bytes}, {.shape = std::nullopt, .kind = Kind::kInt64});
  expect_same("CAST", {bytes}, {.shape = std::nullopt, .kind = Kind::kFloat});
}

TEST(Few, LeavesTheRestToTheOperators) {
  const Array few = Array::integers({1, 2});
  const auto result = [](const char* op, const Arrays& inputs, const Out& out = {}) {
    return computed_from_few(op, inputs, {}, out).has_value();
  };
  EXPECT_TRUE(result("ELEMENT_WISE_ADD", {few, few}));
  EXPECT_FALSE(result("ELEMENT_WISE_POW", {few, few}));
  EXPECT_FALSE(result("ELEMENT_WISE_ADD", {few, Array()}));
  EXPECT_FALSE(result("ELEMENT_WISE_ADD", {few, few.reshape({2, 1})}));  // whose result has more elements
  EXPECT_FALSE(result("ELEMENT_WISE_ADD", {few, Array::integers({1, 2, 3})}));
  EXPECT_FALSE(result("ELEMENT_WISE_ADD", {Array::zeros(Kind::kInt64, {33}), Array::zeros(Kind::kInt64, {33})}));
  EXPECT_FALSE(result("ELEMENT_WISE_ADD", {Array::zeros(Kind::kFloat, {2}), Array::zeros(Kind::kFloat, {2})}));
  EXPECT_FALSE(result("CAST", {Array::integers({1LL << 31})}, {.shape = std::nullopt, .kind = Kind::kInt32}));
  EXPECT_FALSE(result("CAST", {few}));
}

}  // namespace
}  // namespace anydml::onnx
