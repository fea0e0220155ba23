// SPDX-License-Identifier: MIT
// Checks TOP_K and TOP_K1 through the C API against a stable sort: every type, rows around the sizes of groups and
// chunks, element orders that are hard for a selection algorithm, and enough rows for many threads.
// tests/ops/sort_oracle.py compares every layout with NumPy. Also checks which calls are rejected, and their messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "support/tensor.h"

namespace anydml::test {
namespace {

template <class T>
bool is_less(T a, T b) {
  if constexpr (is_float<T>) {
    return is_nan(b) ? !is_nan(a) : widen(a) < widen(b);
  } else {
    return a < b;
  }
}

enum class Order { bits, ties, rising, falling, late, special };

template <class T>
std::vector<T> draw(std::size_t count, std::size_t row, Order order, Random& random) {
  std::vector<T> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    u64 bits = random();
    switch (order) {
      case Order::ties:
        bits %= 3;
        break;
      case Order::rising:
        bits = i % row;
        break;
      case Order::falling:
        bits = row - i % row;
        break;
      case Order::late:  // all but the last few are equal
        bits = i % row + 20 < row ? 5 : bits % 11;
        break;
      case Order::special:
        if constexpr (is_float<T>) {
          using Parts = FloatParts<T>;
          const u64 all[] = {Parts::kInfinity, Parts::kQuietNan, Parts::kInfinity | 1, 0, Parts::kHidden, 1};
          bits = all[bits % 6] | (random() % 2 != 0 ? u64{Parts::kSign} : 0);
        }
        break;
      case Order::bits:
        break;
    }
    elements[i] = from_raw<T>(bits);
  }
  return elements;
}

struct Shape {
  i64 outer;
  i64 size;  // of the axis
  i64 inner;
  i64 k;
};

template <class T, class Index>
void check(const Shape& shape, Order order, bool largest, Random& random) {
  const std::vector<i64> sizes = {shape.outer, shape.size, shape.inner};
  const std::vector<i64> result_sizes = {shape.outer, shape.k, shape.inner};
  const auto count = static_cast<std::size_t>(shape.outer * shape.size * shape.inner);
  const auto found_count = static_cast<std::size_t>(shape.outer * shape.k * shape.inner);
  std::vector<T> x = draw<T>(count, static_cast<std::size_t>(shape.size), order, random);
  std::vector<T> values(found_count);
  std::vector<Index> indices(found_count);
  const anydml_tensor input{static_cast<anydml_type>(kDataTypeOf<T>), 3, sizes.data(), nullptr, x.data()};
  const anydml_tensor outputs[] = {
      {static_cast<anydml_type>(kDataTypeOf<T>), 3, result_sizes.data(), nullptr, values.data()},
      {static_cast<anydml_type>(kDataTypeOf<Index>), 3, result_sizes.data(), nullptr, indices.data()}};
  anydml_attribute attributes[3] = {};
  const char* const names[] = {"Axis", "K", "AxisDirection"};
  const i64 numbers[] = {1, shape.k, largest ? 1 : 0};
  for (int i = 0; i < 3; ++i) {
    attributes[i].name = names[i];
    attributes[i].type = ANYDML_INT64;
    attributes[i].value.i64 = numbers[i];
  }
  ASSERT_EQ(anydml_run(nullptr, "TOP_K1", &input, 1, outputs, 2, attributes, 3), ANYDML_OK) << anydml_last_error();
  std::vector<i64> sorted(static_cast<std::size_t>(shape.size));
  for (i64 row = 0; row < shape.outer * shape.inner; ++row) {
    const auto at = [&](i64 position, i64 size) {
      return static_cast<std::size_t>((row / shape.inner * size + position) * shape.inner + row % shape.inner);
    };
    std::iota(sorted.begin(), sorted.end(), 0);
    std::ranges::stable_sort(sorted, [&](i64 a, i64 b) {
      const T left = x[at(a, shape.size)];
      const T right = x[at(b, shape.size)];
      return largest ? is_less(right, left) : is_less(left, right);
    });
    for (i64 i = 0; i < shape.k; ++i) {
      const i64 position = sorted[static_cast<std::size_t>(i)];
      ASSERT_EQ(static_cast<i64>(indices[at(i, shape.k)]), position)
          << "row " << row << " of " << shape.size << ", K " << shape.k << ", rank " << i << ", order "
          << static_cast<int>(order);
      ASSERT_EQ(bits_of(values[at(i, shape.k)]), bits_of(x[at(position, shape.size)]));
    }
  }
}

template <class T>
class Sort : public testing::Test {};
using Types = testing::Types<f32, f16, u32, u16, u8, i32, i16, i8, f64, u64, i64>;
TYPED_TEST_SUITE(Sort, Types);

TYPED_TEST(Sort, RowsOfAllSizes) {
  Random random(kSeed);
  constexpr Shape kShapes[] = {{70, 1, 1, 1},        {300, 20, 1, 5},      {9, 64, 1, 64},     {9, 65, 1, 8},
                               {5, 300, 1, 7},       {3, 1000, 1, 10},     {2, 1100, 1, 137},  {2, 4095, 1, 1},
                               {2, 4096, 1, 10},     {1, 4097, 1, 400},    {1, 4096, 1, 4096}, {1, 12'300, 1, 10},
                               {1, 12'300, 1, 1500}, {1, 12'300, 1, 3000}, {3, 40, 33, 3},     {1, 700, 40, 9},
                               {1, 5000, 18, 100},   {2, 130, 3, 130}};
  for (const Shape& shape : kShapes) {
    for (const Order order : {Order::bits, Order::ties, Order::rising, Order::falling, Order::late, Order::special}) {
      for (const bool largest : {false, true}) {
        if (random() % 2 == 0) {
          check<TypeParam, u32>(shape, order, largest, random);
        } else {
          check<TypeParam, i64>(shape, order, largest, random);
        }
        if (this->HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

TEST(SortLarge, OneRow) {
  Random random(kSeed);
  for (const i64 k : {1, 100, 30'000, 200'000}) {
    check<f32, u32>({1, 200'000, 1, k}, Order::bits, k != 100, random);
    check<u8, u64>({1, 200'000, 1, k}, Order::bits, k != 100, random);
  }
}

std::string refusal(anydml_type type, anydml_type index_type, const std::vector<i64>& sizes,
                    const std::vector<i64>& strides, const std::vector<i64>& result_sizes, double axis, double k,
                    double direction) {
  const auto rank = static_cast<int32_t>(sizes.size());
  u64 memory[64] = {};
  const anydml_tensor input{type, rank, sizes.data(), strides.empty() ? nullptr : strides.data(), memory};
  const anydml_tensor outputs[] = {{type, rank, result_sizes.data(), nullptr, memory + 16},
                                   {index_type, rank, result_sizes.data(), nullptr, memory + 32}};
  anydml_attribute attributes[3] = {};
  const char* const names[] = {"Axis", "K", "AxisDirection"};
  const double numbers[] = {axis, k, direction};
  for (int i = 0; i < 3; ++i) {
    attributes[i].name = names[i];
    attributes[i].type = ANYDML_FLOAT64;
    attributes[i].value.f64 = numbers[i];
  }
  const int status = anydml_run(nullptr, "TOP_K1", &input, 1, outputs, 2, attributes, 3);
  return status == ANYDML_OK ? "taken" : anydml_last_error();
}

TEST(SortRefusals, NameTheField) {
  EXPECT_EQ(refusal(ANYDML_FLOAT32, ANYDML_UINT32, {3}, {}, {2}, 0, 2, 1), "taken");
  const auto has = [](const std::string& found, const std::string& text) {
    EXPECT_NE(found.find(text), std::string::npos) << found;
  };
  has(refusal(ANYDML_FLOAT32, ANYDML_UINT32, {3}, {}, {2}, 1, 2, 1), "Axis is 1");
  has(refusal(ANYDML_FLOAT32, ANYDML_UINT32, {3}, {}, {4}, 0, 4, 1), "K is 4; expected at most InputTensor.Sizes[0]");
  has(refusal(ANYDML_FLOAT32, ANYDML_UINT32, {3}, {}, {0}, 0, 0, 1), "K is 0");
  has(refusal(ANYDML_FLOAT32, ANYDML_UINT32, {3}, {}, {2}, 0, 2, 2), "AxisDirection");
  has(refusal(ANYDML_FLOAT32, ANYDML_UINT32, {3}, {}, {1}, 0, 2, 1), "OutputValueTensor.Sizes[0] is 1");
  has(refusal(ANYDML_FLOAT32, ANYDML_UINT8, {3}, {}, {2}, 0, 2, 1), "OutputIndexTensor");
  // One element that is repeated more often than an index can count.
  has(refusal(ANYDML_FLOAT32, ANYDML_INT32, {(i64{1} << 32) - 1}, {0}, {2}, 0, 2, 1),
      "size 4294967295 along axis 0; expected at most 2147483648, since OutputIndexTensor is INT32");
}

}  // namespace
}  // namespace anydml::test
