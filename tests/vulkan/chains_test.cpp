// SPDX-License-Identifier: MIT
// Products and convolutions of FLOAT32 with factors for which a fused multiply-add that flushes subnormals is wrong,
// or right, or wrong only in some chains of sums: the device returns the bits of the CPU. With ANYDML_VULKAN_PRIMITIVES
// set to flushing, every device computes like one with such an operation.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Floats = std::vector<float>;
using Sizes = std::vector<std::int64_t>;

enum class Data { ordinary, tiny, mixed, zeros };

class Random {
 public:
  std::uint32_t operator()() {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::uint32_t>(state_ >> 33);
  }

 private:
  std::uint64_t state_ = 52;
};

// Ordinary numbers are in [-1, 1). Of the tiny ones, all products are near the subnormal numbers, and some factors are
// subnormal. In mixed data, both kinds and zeros follow each other in stripes, so that a sum that became subnormal meets
// ordinary products later.
Floats make(Random& random, Data data, std::size_t count, std::size_t stripe) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const float ordinary = static_cast<float>(static_cast<std::int32_t>(random() << 8)) / 2147483648.0F;
    const bool is_subnormal = random() % 97 == 0;
    const float tiny = is_subnormal ? std::ldexp(ordinary, -130) : std::ldexp(ordinary, -66);
    const std::size_t part = i / stripe % 4;
    switch (data) {
      case Data::ordinary:
        values[i] = ordinary;
        break;
      case Data::tiny:
        values[i] = tiny;
        break;
      case Data::mixed:
        values[i] = part == 0 ? tiny : part == 1 ? 0.0F : part == 2 ? ordinary : std::ldexp(ordinary, -40);
        break;
      case Data::zeros:
        values[i] = random() % 2 == 0 ? 0.0F : -0.0F;
        break;
    }
  }
  return values;
}

anydml_attribute number(const char* name, double value) {
  anydml_attribute attribute = {name, ANYDML_FLOAT64, 0, {}};
  attribute.value.f64 = value;
  return attribute;
}
anydml_attribute text(const char* name, const char* value) {
  anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
  attribute.value.text = value;
  return attribute;
}
anydml_attribute numbers(const char* name, const Sizes& values) {
  anydml_attribute attribute = {name, std::uint32_t{ANYDML_INT64} | std::uint32_t{ANYDML_ARRAY}, static_cast<std::uint32_t>(values.size()), {}};
  attribute.value.i64s = values.data();
  return attribute;
}

struct Operand {
  Sizes sizes;
  Sizes strides;  // empty: packed
  const Floats* values;
};

void compare(const char* op, const std::vector<Operand>& inputs, const Sizes& output,
             const std::vector<anydml_attribute>& attributes) {
  std::size_t count = 1;
  for (const std::int64_t size : output) {
    count *= static_cast<std::size_t>(size);
  }
  std::vector<anydml_tensor> tensors;
  for (const Operand& input : inputs) {
    tensors.push_back(anydml_const_tensor(ANYDML_FLOAT32, static_cast<std::int32_t>(input.sizes.size()),
                                          input.sizes.data(), input.strides.empty() ? nullptr : input.strides.data(),
                                          input.values->data()));
  }
  Floats results[2] = {Floats(count, -7.0F), Floats(count, -7.0F)};
  const anydml_device* const devices[2] = {anydml_find_device("cpu"), anydml_find_device(nullptr)};
  for (int i = 0; i < 2; ++i) {
    const anydml_tensor out = {ANYDML_FLOAT32, static_cast<std::int32_t>(output.size()), output.data(), nullptr,
                               results[i].data()};
    ASSERT_EQ(anydml_run(devices[i], op, tensors.data(), tensors.size(), &out, 1, attributes.data(), attributes.size()),
              ANYDML_OK)
        << anydml_last_error();
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    wrong += std::memcmp(&results[0][i], &results[1][i], sizeof(float)) == 0 ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U) << "of " << count;
}

class Chains : public testing::TestWithParam<Data> {};

TEST_P(Chains, OfProducts) {
  Random random;
  struct Shape {
    std::int64_t rows, columns, depth;
  };
  for (const auto& [rows, columns, depth] : {Shape{64, 64, 256}, {70, 130, 600}, {33, 66, 257}, {3, 70, 530}}) {
    for (int form = 0; form < 4; ++form) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x " + std::to_string(depth) + ", form " +
                   std::to_string(form));
      const bool turns_a = (form & 1) != 0;
      const bool turns_b = (form & 2) != 0;
      const Floats a = make(random, GetParam(), static_cast<std::size_t>(rows * depth), 70);
      const Floats b = make(random, GetParam(), static_cast<std::size_t>(columns * depth), 90);
      const Floats c = make(random, GetParam(), static_cast<std::size_t>(rows * columns), 50);
      compare("GEMM",
              {{turns_a ? Sizes{1, 1, depth, rows} : Sizes{1, 1, rows, depth}, {}, &a},
               {turns_b ? Sizes{1, 1, columns, depth} : Sizes{1, 1, depth, columns}, {}, &b},
               {{1, 1, rows, columns}, {}, &c}},
              {1, 1, rows, columns},
              {text("TransA", turns_a ? "TRANSPOSE" : "NONE"), text("TransB", turns_b ? "TRANSPOSE" : "NONE"),
               number("Alpha", form == 3 ? 0.75 : 1), number("Beta", form == 3 ? 0.5 : 1)});
    }
  }
}

TEST_P(Chains, OfBatchesWithGaps) {
  Random random;
  const std::int64_t rows = 40, columns = 36, depth = 300;
  const Floats a = make(random, GetParam(), static_cast<std::size_t>(3 * rows * (depth + 1)), 64);
  const Floats b = make(random, GetParam(), static_cast<std::size_t>(depth * columns * 2), 80);
  compare("GEMM",
          {{{1, 3, rows, depth}, {0, rows * (depth + 1), depth + 1, 1}, &a},
           {{1, 3, depth, columns}, {0, 0, columns * 2, 2}, &b}},
          {1, 3, rows, columns}, {text("TransA", "NONE"), text("TransB", "NONE"), number("Alpha", 1), number("Beta", 0)});
}

TEST_P(Chains, OfConvolutions) {
  Random random;
  const Sizes ones = {1, 1}, twos = {2, 2}, none = {0, 0};
  for (const bool is_backward : {false, true}) {
    for (const std::int64_t groups : {1, 2}) {
      SCOPED_TRACE(std::string(is_backward ? "backward, " : "forward, ") + std::to_string(groups) + " groups");
      const std::int64_t channels = 36 * groups, filters = 20 * groups, side = 9;
      const std::int64_t out = is_backward ? (side - 1) * 2 - 2 + 3 : side;
      const Floats input = make(random, GetParam(), static_cast<std::size_t>(2 * channels * side * side), 81);
      const Floats filter = make(random, GetParam(), static_cast<std::size_t>(channels * filters / groups * 9), 60);
      const Floats bias = make(random, GetParam(), static_cast<std::size_t>(filters), 5);
      const Sizes of_filter = is_backward ? Sizes{channels, filters / groups, 3, 3} : Sizes{filters, channels / groups, 3, 3};
      compare("CONVOLUTION",
              {{{2, channels, side, side}, {}, &input}, {of_filter, {}, &filter}, {{1, filters, 1, 1}, {}, &bias}},
              {2, filters, out, out},
              {text("Mode", "CROSS_CORRELATION"), text("Direction", is_backward ? "BACKWARD" : "FORWARD"),
               numbers("Strides", is_backward ? twos : ones), numbers("Dilations", ones), numbers("StartPadding", ones),
               numbers("EndPadding", ones), numbers("OutputPadding", none),
               number("GroupCount", static_cast<double>(groups))});
    }
  }
}

std::string name_of(const testing::TestParamInfo<Data>& info) {
  constexpr const char* kNames[] = {"Ordinary", "Tiny", "Mixed", "Zeros"};
  return kNames[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Each, Chains, testing::Values(Data::ordinary, Data::tiny, Data::mixed, Data::zeros), name_of);

}  // namespace
