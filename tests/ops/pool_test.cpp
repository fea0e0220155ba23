// SPDX-License-Identifier: MIT
// Checks pooling through the C API, element by element, against an independent implementation of its definition that
// ignores layouts, threads and vectors; chains of element-wise operators after it; and invalid descriptions and
// indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/scalar.h"
#include "ops/scalar/lanes.h"
#include "support/graph_twin.h"
#include "support/sanitizers.h"
#include "support/tensor.h"
#include "support/type_names.h"

namespace anydml::test {
namespace {

struct Windows {
  std::vector<u64> size;
  std::vector<u64> stride;
  std::vector<u64> dilation;
  std::vector<u64> start;
  std::vector<u64> end;
};

anydml_attribute numbers(const char* name, const std::vector<u64>& values) {
  anydml_attribute attribute = {
      name, uint32_t{ANYDML_UINT64} | uint32_t{ANYDML_ARRAY}, static_cast<std::uint32_t>(values.size()), {}};
  attribute.value.u64s = values.data();
  return attribute;
}

anydml_attribute integer(const char* name, i64 value) {
  anydml_attribute attribute = {name, ANYDML_INT64, 0, {}};
  attribute.value.i64 = value;
  return attribute;
}

std::vector<anydml_attribute> attributes_of(const Windows& windows, std::string_view name) {
  std::vector<anydml_attribute> result = {numbers("Strides", windows.stride), numbers("WindowSize", windows.size),
                                          numbers("StartPadding", windows.start), numbers("EndPadding", windows.end)};
  if (name == "MAX_POOLING2" || name == "AVERAGE_POOLING1" || name == "LP_POOLING1") {
    result.push_back(numbers("Dilations", windows.dilation));
  }
  if (name.starts_with("AVERAGE")) {
    result.push_back(integer("IncludePadding", 0));
  }
  if (name.starts_with("LP")) {
    result.push_back(integer("P", 2));
  }
  return result;
}

std::vector<i64> output_sizes(const std::vector<i64>& input, const Windows& windows) {
  std::vector<i64> sizes = input;
  for (std::size_t i = 2; i < input.size(); ++i) {
    const auto at = [i](const std::vector<u64>& of) { return static_cast<i64>(of[i - 2]); };
    sizes[i] = (input[i] + at(windows.start) + at(windows.end) - (at(windows.size) - 1) * at(windows.dilation) - 1) /
                   at(windows.stride) +
               1;
  }
  return sizes;
}

// The row-major indices of the elements in a window.
std::vector<i64> window_of(i64 number, const std::vector<i64>& input, const std::vector<i64>& output,
                           const Windows& windows) {
  const std::size_t rank = input.size();
  std::vector<i64> position(rank);
  for (std::size_t i = rank; i-- > 0; number /= output[i]) {
    position[i] = number % output[i];
  }
  std::vector<i64> found = {position[0] * input[1] + position[1]};
  for (std::size_t i = 2; i < rank; ++i) {
    std::vector<i64> next;
    for (const i64 before : found) {
      for (u64 k = 0; k < windows.size[i - 2]; ++k) {
        const i64 at = position[i] * static_cast<i64>(windows.stride[i - 2]) +
                       static_cast<i64>(k * windows.dilation[i - 2]) - static_cast<i64>(windows.start[i - 2]);
        if (at >= 0 && at < input[i]) {
          next.push_back(before * input[i] + at);
        }
      }
    }
    found = next;
  }
  return found;
}

template <class T>
T pooled(std::string_view name, const std::vector<T>& elements) {
  if (name.starts_with("MAX")) {
    T maximum = elements.front();
    for (const T& element : elements) {
      maximum = narrow<T>(greater_of(widen(maximum), widen(element)));
    }
    return maximum;
  }
  if constexpr (is_float<T>) {
    compute_t<T> sum = static_cast<compute_t<T>>(-0.0);
    for (const T& element : elements) {
      const compute_t<T> x = widen(element);
      sum += name.starts_with("LP") ? x * x : x;
    }
    return narrow<T>(name.starts_with("LP") ? square_root(sum) : sum / static_cast<compute_t<T>>(elements.size()));
  }
  return T{};
}

enum class Order : u8 { any, packed, channels_inside };

Layout layout_of(const std::vector<i64>& sizes, Order order, Random& random, bool is_input) {
  if (order == Order::any) {
    return random_layout(sizes, random, is_input);
  }
  Layout layout{sizes, std::vector<i64>(sizes.size())};
  i64 stride = 1;
  if (order == Order::channels_inside) {
    layout.strides[1] = 1;
    stride = sizes[1];
  }
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (i != 1 || order == Order::packed) {
      layout.strides[i] = stride;
      stride *= sizes[i];
    }
  }
  return layout;
}

template <class T>
void check(std::string_view name, const std::vector<i64>& sizes, const Windows& windows, Order order, Random& random) {
  const std::vector<i64> results = output_sizes(sizes, windows);
  const Layout in = layout_of(sizes, order, random, true);
  const Layout out = layout_of(results, order, random, false);
  Memory<T> from(in, random);
  for (i64 n = 0; n < in.count(); ++n) {
    const u64 bits = random();
    from.store(in.offset(n), bits % 64 == 0 ? from_raw<T>(bits >> 8) : Scalar(static_cast<f64>(bits >> 56)).as<T>());
  }
  Memory<T> to(out, random);
  Memory<T> expected = to;
  for (i64 n = 0; n < out.count(); ++n) {
    std::vector<T> elements;
    for (const i64 number : window_of(n, sizes, results, windows)) {
      elements.push_back(from.load(in.offset(number)));
    }
    expected.store(out.offset(n), pooled<T>(name, elements));
  }
  const anydml_tensor input = tensor_of<T>(in, from.data());
  const bool has_indices = name == "MAX_POOLING1" || name == "MAX_POOLING2";
  const anydml_tensor outputs[] = {tensor_of<T>(out, to.data()), {}};
  const auto attributes = attributes_of(windows, name);
  ASSERT_EQ(anydml_run(nullptr, std::string(name).c_str(), &input, 1, outputs, has_indices ? 2 : 1, attributes.data(),
                       attributes.size()),
            ANYDML_OK)
      << anydml_last_error();
  ASSERT_TRUE(to.equals(expected, out, 0))
      << name << " of " << type_name(kDataTypeOf<T>) << ", order " << static_cast<int>(order) << ", " << sizes[2];
}

const struct {
  std::vector<i64> sizes;
  Windows windows;
} kCases[] = {
    {{2, 3, 30, 70}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
    {{2, 3, 31, 71}, {{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}},
    {{1, 40, 17, 19}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}},
    {{1, 2, 9, 5000}, {{2, 5}, {1, 3}, {2, 4}, {0, 7}, {1, 2}}},
    {{1, 2, 200, 9}, {{70, 2}, {3, 1}, {1, 1}, {0, 0}, {5, 0}}},
    {{1, 3, 5, 12, 33}, {{3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}}},
    {{2, 2, 9000}, {{4}, {2}, {1}, {1}, {2}}},
};

template <class T>
class Pool : public testing::Test {};
using Types = testing::Types<f32, f16, f64, i8, u16, i64>;
TYPED_TEST_SUITE(Pool, Types, TypeNames);

TYPED_TEST(Pool, IsItsDefinition) {
  Random random(7);
  std::size_t number = sizeof(TypeParam);
  for (const auto& [sizes, windows] : kCases) {
    const bool dilates = std::ranges::any_of(windows.dilation, [](u64 one) { return one != 1; });
    for (const Order order : {Order::packed, Order::channels_inside, Order::any}) {
      if (kSanitized && ++number % 3 != 0) {  // runs every third case, from a start that depends on the type
        continue;
      }
      check<TypeParam>(dilates ? "MAX_POOLING2" : "MAX_POOLING", sizes, windows, order, random);
      if constexpr (is_float<TypeParam>) {
        check<TypeParam>(dilates ? "AVERAGE_POOLING1" : "AVERAGE_POOLING", sizes, windows, order, random);
        check<TypeParam>(dilates ? "LP_POOLING1" : "LP_POOLING", sizes, windows, order, random);
      }
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }
}

// A window far larger than the tensor; not even one of its rows would fit in memory.
TEST(PoolBorders, MayBeFarLargerThanTheTensor) {
  const float x[] = {1, -2, 3, 4};
  const std::vector<i64> sizes = {1, 1, 2, 2};
  const u64 far = 4'000'000'000;
  const Windows windows{{far, far}, {1, 1}, {1, 1}, {far - 2, far - 1}, {0, 0}};
  const std::vector<i64> results = output_sizes(sizes, windows);
  ASSERT_EQ(results, (std::vector<i64>{1, 1, 1, 2}));
  for (const std::string_view name : {"MAX_POOLING", "AVERAGE_POOLING"}) {
    float y[2] = {};
    const anydml_tensor input = {ANYDML_FLOAT32, 4, sizes.data(), nullptr, const_cast<float*>(x)};
    const anydml_tensor output = {ANYDML_FLOAT32, 4, results.data(), nullptr, y};
    const auto attributes = attributes_of(windows, name);
    ASSERT_EQ(anydml_run(nullptr, name.data(), &input, 1, &output, 1, attributes.data(), attributes.size()), ANYDML_OK)
        << anydml_last_error();
    EXPECT_EQ(y[0], name == "MAX_POOLING" ? 3 : 2);
    EXPECT_EQ(y[1], name == "MAX_POOLING" ? 4 : 1.5);
  }
}

// If a window covers the whole plane, the operator becomes a reduction, which has no optional index output.
TEST(PoolWholePlanes, WithoutTheirIndices) {
  const std::vector<i64> sizes = {2, 3, 5, 7};
  const std::vector<i64> results = {2, 3, 1, 1};
  const Windows windows = {.size = {5, 7}, .stride = {1, 1}, .dilation = {1, 1}, .start = {0, 0}, .end = {0, 0}};
  std::vector<float> x(2 * 3 * 5 * 7);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i * 31 % 211);
  }
  for (const std::string_view name : {"MAX_POOLING1", "MAX_POOLING2"}) {
    std::vector<float> y(6, -1.0F);
    const auto attributes = attributes_of(windows, name);
    const anydml_tensor input = {ANYDML_FLOAT32, 4, sizes.data(), nullptr, x.data()};
    const anydml_tensor outputs[] = {{ANYDML_FLOAT32, 4, results.data(), nullptr, y.data()}, {}};
    ASSERT_EQ(anydml_run(nullptr, name.data(), &input, 1, outputs, 2, attributes.data(), attributes.size()), ANYDML_OK)
        << anydml_last_error();
    for (std::size_t plane = 0; plane < y.size(); ++plane) {
      const auto first = x.begin() + static_cast<std::ptrdiff_t>(plane * 35);
      EXPECT_EQ(y[plane], *std::max_element(first, first + 35)) << name;
    }
  }
}

TEST(PoolErrors, NameTheField) {
  float data[64] = {};
  const auto message = [&](const char* name, const std::vector<i64>& sizes, const Windows& windows, i64 p) {
    const std::vector<i64> results(sizes.size(), 1);
    const anydml_tensor input = {ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, data};
    const anydml_tensor output = {ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), results.data(), nullptr,
                                  data + 32};
    auto attributes = attributes_of(windows, name);
    if (std::string_view(name).starts_with("LP")) {
      attributes.back() = integer("P", p);
    }
    EXPECT_NE(anydml_run(nullptr, name, &input, 1, &output, 1, attributes.data(), attributes.size()), ANYDML_OK);
    return std::string(anydml_last_error());
  };
  const Windows plain{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  EXPECT_NE(message("LP_POOLING", {1, 1, 2, 2}, plain, 0).find("LP_POOLING: P: is 0; expected 1 or more"),
            std::string::npos);
  Windows wrong = plain;
  wrong.dilation[1] = 0;
  EXPECT_NE(message("AVERAGE_POOLING1", {1, 1, 2, 2}, wrong, 0).find("Dilations"), std::string::npos);
  EXPECT_NE(message("MAX_POOLING", {1, 1, 4, 4}, plain, 0).find("OutputTensor"), std::string::npos);
}

// Arbitrary indices: an index out of range writes nothing, and of equal indices the last wins.
TEST(Unpooling, TakesAnyIndices) {
  constexpr std::size_t kInputs = 40'000;
  constexpr std::size_t kOutputs = 90'000;
  Random random(3);
  std::vector<float> x(kInputs);
  std::vector<u64> indices(kInputs);
  for (const bool is_local : {true, false}) {
    std::vector<float> expected(kOutputs, 0.0F);
    for (std::size_t i = 0; i < kInputs; ++i) {
      x[i] = static_cast<float>(i) + 1;
      const u64 bits = random();
      indices[i] = bits % 16 == 0 ? bits : is_local ? i * 2 + bits % 3 : bits % kOutputs;
      if (indices[i] < kOutputs) {
        expected[indices[i]] = x[i];
      }
    }
    std::vector<float> y(kOutputs + 2, 77.0F);
    const std::vector<i64> in = {2, 2, 100, 100};
    const std::vector<i64> out = {2, 2, 150, 150};
    const anydml_tensor inputs[] = {{ANYDML_FLOAT32, 4, in.data(), nullptr, x.data()},
                                    {ANYDML_UINT64, 4, in.data(), nullptr, indices.data()}};
    const anydml_tensor output = {ANYDML_FLOAT32, 4, out.data(), nullptr, y.data() + 1};
    ASSERT_EQ(anydml_run(nullptr, "MAX_UNPOOLING", inputs, 2, &output, 1, nullptr, 0), ANYDML_OK)
        << anydml_last_error();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), y.begin() + 1));
    EXPECT_TRUE(y.front() == 77.0F && y.back() == 77.0F);
  }
}

// Bias and activation after pooling may be fused into its step.
TEST(PoolJoins, HandElementsOn) {
  std::mt19937 random(5);
  for (const anydml_type type : {anydml_type{ANYDML_FLOAT32}, anydml_type{ANYDML_FLOAT16}}) {
    for (const char* const name : {"MAX_POOLING", "AVERAGE_POOLING", "LP_POOLING"}) {
      for (const auto& [sizes, windows] : kCases) {
        if (std::ranges::any_of(windows.dilation, [](u64 one) { return one != 1; })) {
          continue;
        }
        const std::vector<i64> results = output_sizes(sizes, windows);
        const Form wide(type, Sizes(sizes.begin(), sizes.end()));
        const Form narrow(type, Sizes(results.begin(), results.end()));
        Twin twin;
        Bytes data(wide.bytes());
        for (std::size_t i = 0; i + 1 < data.size(); i += 2) {
          const auto bits = static_cast<u16>((random() & 0x83ff) | 0x3c00);  // not NaN in either type
          std::memcpy(&data[i], &bits, 2);
        }
        const std::size_t x = twin.input(wide, data);
        const std::size_t result = twin.run(name, {x}, narrow, attributes_of(windows, name));
        const std::size_t cut = twin.run("ACTIVATION_RELU", {result}, narrow);
        twin.output(twin.run("ELEMENT_WISE_ADD", {cut, cut}, narrow));
        twin.compile();
        EXPECT_EQ(twin.difference(), "") << name << " of type " << type << ", " << sizes[2];
      }
    }
  }
}

}  // namespace
}  // namespace anydml::test
