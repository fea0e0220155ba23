// SPDX-License-Identifier: MIT
// Checks QUANTIZE and DEQUANTIZE through the C API against their definitions, element by element, at sizes that are
// split between threads. Also checks four-bit tensors where they are allowed (strides, overlaps, graphs), and the error
// messages where they are not. tests/ops/quantize_oracle.py compares every type and layout with NumPy.
#include <gtest/gtest.h>

#include <anydml/anydml.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/float_bits.h"
#include "ops/quantize/scalar/codes.h"

namespace anydml::test {
namespace {

using Sizes = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kGuard = 64;
constexpr std::byte kUntouched{0x5a};

std::int64_t count_of(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
  }
  return count;
}

std::size_t bytes_of(anydml_type type, std::int64_t count) {
  const auto elements = static_cast<std::size_t>(count);
  return is_four_bits(static_cast<DataType>(type)) ? (elements + 1) / 2 : elements * anydml_type_size(type);
}

// Packed elements between guards.
struct Buffer {
  anydml_type type;
  Sizes sizes;
  Bytes bytes;

  Buffer(anydml_type of, Sizes shape)
      : type(of), sizes(std::move(shape)), bytes(bytes_of(of, count_of(sizes)) + 2 * kGuard, kUntouched) {}

  [[nodiscard]] std::byte* data() { return bytes.data() + kGuard; }
  [[nodiscard]] const std::byte* data() const { return bytes.data() + kGuard; }
  [[nodiscard]] std::size_t size() const { return bytes.size() - 2 * kGuard; }
  [[nodiscard]] anydml_tensor tensor() {
    return {type, static_cast<std::int32_t>(sizes.size()), sizes.data(), nullptr, data()};
  }
  [[nodiscard]] i32 code(std::int64_t element) const {
    const auto of = static_cast<DataType>(type);
    return load_code(data(), element, is_four_bits(of), code_range(of).flip);
  }
  [[nodiscard]] f32 number(std::int64_t element) const {
    if (type == ANYDML_FLOAT16) {
      f16 half;
      std::memcpy(&half, data() + 2 * element, sizeof(half));
      return widen(half);
    }
    f32 value;
    std::memcpy(&value, data() + 4 * element, sizeof(value));
    return value;
  }
  void set(std::int64_t element, f32 value) {
    if (type == ANYDML_FLOAT16) {
      const f16 half = narrow<f16>(value);
      std::memcpy(data() + 2 * element, &half, sizeof(half));
    } else {
      std::memcpy(data() + 4 * element, &value, sizeof(value));
    }
  }
  [[nodiscard]] bool has_guards() const {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (bytes[i] != kUntouched || bytes[bytes.size() - 1 - i] != kUntouched) {
        return false;
      }
    }
    return true;
  }
};

Buffer draw_codes(anydml_type type, const Sizes& sizes, std::mt19937& random) {
  Buffer result(type, sizes);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result.data()[i] = static_cast<std::byte>(random());
  }
  return result;
}

Buffer draw_numbers(anydml_type type, const Sizes& sizes, std::mt19937& random) {
  Buffer result(type, sizes);
  for (std::int64_t i = 0; i < count_of(sizes); ++i) {
    result.set(i, (static_cast<f32>(random() >> 8) * 0x1p-24F - 0.5F) * 16);
  }
  return result;
}

int run(const char* op, std::vector<anydml_tensor> inputs, anydml_tensor output) {
  anydml_attribute kind = {"QuantizationType", ANYDML_TEXT, 0, {}};
  kind.value.text = inputs.size() == 3 ? "SCALE_ZERO_POINT" : "SCALE";
  return anydml_run(nullptr, op, inputs.data(), inputs.size(), &output, 1, &kind, 1);
}

// The index of an element's block.
std::int64_t block_of(const Sizes& sizes, const Sizes& blocks, std::int64_t element) {
  std::int64_t block = 0;
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0; element /= sizes[i]) {
    block += element % sizes[i] / (sizes[i] / blocks[i]) * stride;
    stride *= blocks[i];
  }
  return block;
}

u32 bits_of(f32 value) { return to_bits(value == value ? value : quiet_nan<f32>()); }

struct Case {
  Sizes sizes;
  Sizes blocks;
};

constexpr anydml_type kCodes[] = {ANYDML_INT8, ANYDML_UINT8, ANYDML_INT4, ANYDML_UINT4};
constexpr anydml_type kNumbers[] = {ANYDML_FLOAT32, ANYDML_FLOAT16};

std::vector<Case> cases() {
  return {{{70, 1024}, {70, 32}},        // weights of a language model, a block of 32 along the last dimension
          {{96, 515}, {3, 515}},         // blocks along the first dimension
          {{37, 4099}, {37, 1}},         // one block for each row
          {{5, 3, 4099}, {1, 1, 4099}},  // one block for each column
          {{40001}, {1}},                // one block for all elements
          {{6, 10, 35, 33}, {3, 5, 7, 11}},
          {{301, 3}, {301, 3}},
          {{1}, {1}}};
}

class Quantizing : public testing::TestWithParam<anydml_type> {};

TEST_P(Quantizing, EveryElementByItsBlock) {
  std::mt19937 random(11);
  const anydml_type type = GetParam();
  const auto codes_type = static_cast<DataType>(type);
  for (const auto& [sizes, blocks] : cases()) {
    for (int way = 0; way < 8; ++way) {
      const anydml_type numbers = kNumbers[way & 1];
      const bool has_zero = (way & 4) == 0;
      Buffer scale = draw_numbers(kNumbers[way >> 1 & 1], blocks, random);
      scale.set(0, 0.0F);  // infinite or NaN quotients
      Buffer zero = draw_codes(type, blocks, random);
      const auto zero_of = [&](std::int64_t block) {
        return has_zero ? zero.code(block) : default_zero_point(codes_type);
      };
      std::vector<anydml_tensor> with{{}, scale.tensor()};
      if (has_zero) {
        with.push_back(zero.tensor());
      }

      Buffer x = draw_numbers(numbers, sizes, random);
      x.set(0, 0.0F);
      Buffer result(type, sizes);
      with[0] = x.tensor();
      ASSERT_EQ(run("QUANTIZE", with, result.tensor()), ANYDML_OK) << anydml_last_error();
      EXPECT_TRUE(result.has_guards());
      std::int64_t different = 0;
      for (std::int64_t i = 0; i < count_of(sizes); ++i) {
        const std::int64_t block = block_of(sizes, blocks, i);
        different +=
            result.code(i) != quantized_code(x.number(i), scale.number(block), zero_of(block), code_range(codes_type));
      }
      EXPECT_EQ(different, 0) << "QUANTIZE, way " << way << ", " << sizes.size() << " dimensions";
      if (is_four_bits(codes_type) && count_of(sizes) % 2 != 0) {
        EXPECT_EQ(static_cast<int>(result.data()[result.size() - 1]) >> 4, 0);
      }

      Buffer codes = draw_codes(type, sizes, random);
      Buffer back(numbers, sizes);
      with[0] = codes.tensor();
      ASSERT_EQ(run("DEQUANTIZE", with, back.tensor()), ANYDML_OK) << anydml_last_error();
      EXPECT_TRUE(back.has_guards());
      different = 0;
      for (std::int64_t i = 0; i < count_of(sizes); ++i) {
        const std::int64_t block = block_of(sizes, blocks, i);
        const f32 wide = number_of_code(codes.code(i), zero_of(block), scale.number(block));
        const f32 answer = numbers == ANYDML_FLOAT16 ? widen(narrow<f16>(wide)) : wide;
        different += bits_of(back.number(i)) != bits_of(answer);
      }
      EXPECT_EQ(different, 0) << "DEQUANTIZE, way " << way << ", " << sizes.size() << " dimensions";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Quantizing, testing::ValuesIn(kCodes));

// Every FLOAT16, and every pair of a code and a zero point.
TEST(Quantize, EveryNumberAndEveryCode) {
  constexpr std::int64_t kHalves = 65536;
  for (const anydml_type type : kCodes) {
    const CodeRange range = code_range(static_cast<DataType>(type));
    Buffer x(ANYDML_FLOAT16, {kHalves});
    for (std::int64_t i = 0; i < kHalves; ++i) {
      const auto bits = static_cast<u16>(i);
      std::memcpy(x.data() + 2 * i, &bits, sizeof(bits));
    }
    for (const f32 step : {1.0F, -0.37F, 3e-6F, 0x1p-140F}) {
      Buffer scale(ANYDML_FLOAT32, {1});
      scale.set(0, step);
      Buffer result(type, {kHalves});
      ASSERT_EQ(run("QUANTIZE", {x.tensor(), scale.tensor()}, result.tensor()), ANYDML_OK) << anydml_last_error();
      std::int64_t different = 0;
      for (std::int64_t i = 0; i < kHalves; ++i) {
        different +=
            result.code(i) != quantized_code(x.number(i), step, default_zero_point(static_cast<DataType>(type)), range);
      }
      EXPECT_EQ(different, 0) << step;
    }
    const std::int64_t all = range.maximum - range.minimum + 1;
    Buffer codes(type, {all, all});
    Buffer zero(type, {all, 1});
    for (Buffer* const one : {&codes, &zero}) {
      for (std::size_t i = 0; i < one->size(); ++i) {
        one->data()[i] = static_cast<std::byte>(all == 16 ? i % 8 * 0x22 + 0x10 : i % 256);
      }
    }
    Buffer scale(ANYDML_FLOAT32, {all, 1});
    for (std::int64_t i = 0; i < all; ++i) {
      scale.set(i, 0.1F);
    }
    Buffer result(ANYDML_FLOAT32, {all, all});
    ASSERT_EQ(run("DEQUANTIZE", {codes.tensor(), scale.tensor(), zero.tensor()}, result.tensor()), ANYDML_OK)
        << anydml_last_error();
    for (std::int64_t i = 0; i < all * all; ++i) {
      const i64 difference = i64{codes.code(i)} - zero.code(i / all);
      ASSERT_EQ(result.number(i), static_cast<f32>(difference) * 0.1F) << i;
    }
  }
}

// Matrices read by columns, in reverse or with gaps, with rows that start in the middle of a byte or, as in ONNX
// Runtime, are padded to whole bytes.
TEST(Quantize, FourBitsAtAnyStrides) {
  std::mt19937 random(3);
  Buffer codes = draw_codes(ANYDML_UINT4, {4000}, random);
  Buffer scale(ANYDML_FLOAT32, {1, 1});
  scale.set(0, 1.0F);
  const std::int64_t ones[] = {1, 1};
  anydml_tensor one_scale = scale.tensor();
  one_scale.sizes = ones;
  struct Layout {
    Sizes sizes;
    Sizes strides;
    std::int64_t first;
  };
  for (const Layout& layout : {Layout{{33, 45}, {1, 35}, 0}, Layout{{33, 45}, {-45, -1}, 1600},
                               Layout{{20, 7}, {8, 1}, 6}, Layout{{11, 13}, {0, 3}, 2}, Layout{{700, 3}, {5, 0}, 0}}) {
    Buffer result(ANYDML_FLOAT32, layout.sizes);
    const anydml_tensor input = {ANYDML_UINT4, 2, layout.sizes.data(), layout.strides.data(),
                                 codes.data() + layout.first / 2};
    ASSERT_EQ(run("DEQUANTIZE", {input, one_scale}, result.tensor()), ANYDML_OK) << anydml_last_error();
    for (std::int64_t i = 0; i < count_of(layout.sizes); ++i) {
      const std::int64_t offset =
          layout.first + i / layout.sizes[1] * layout.strides[0] + i % layout.sizes[1] * layout.strides[1];
      ASSERT_EQ(result.number(i), static_cast<f32>(codes.code(offset) - 8)) << i;
    }
  }
}

// The output overlaps the input: the library copies the input first.
TEST(Quantize, OverItsOwnInput) {
  std::mt19937 random(5);
  const Sizes sizes{3001};
  Buffer x = draw_numbers(ANYDML_FLOAT32, sizes, random);
  const Buffer kept = x;
  Buffer scale(ANYDML_FLOAT32, {1});
  scale.set(0, 0.5F);
  anydml_tensor output = x.tensor();
  output.type = ANYDML_INT4;
  output.data = x.data() + 1;
  ASSERT_EQ(run("QUANTIZE", {x.tensor(), scale.tensor()}, output), ANYDML_OK) << anydml_last_error();
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    ASSERT_EQ(load_code(x.data() + 1, i, true, 8), quantized_code(kept.number(i), 0.5F, 0, {-8, 7, 8}));
  }
}

// Four-bit weights are a constant or an input of a graph, and views of them start at byte boundaries.
TEST(Quantize, InGraphs) {
  std::mt19937 random(9);
  Buffer weights = draw_codes(ANYDML_UINT4, {6, 64}, random);
  Buffer scale = draw_numbers(ANYDML_FLOAT32, {6, 2}, random);
  Buffer x = draw_codes(ANYDML_UINT4, {6, 64}, random);
  Buffer result(ANYDML_FLOAT32, {6, 64});
  anydml_graph* graph = nullptr;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  anydml_value values[4] = {};
  const anydml_tensor tensors[] = {weights.tensor(), scale.tensor(), x.tensor(), result.tensor()};
  ASSERT_EQ(anydml_graph_add_constant(graph, &tensors[0], &values[0]), ANYDML_OK) << anydml_last_error();
  ASSERT_EQ(anydml_graph_add_constant(graph, &tensors[1], &values[1]), ANYDML_OK) << anydml_last_error();
  ASSERT_EQ(anydml_graph_add_input(graph, &tensors[2], &values[2]), ANYDML_OK) << anydml_last_error();
  anydml_attribute kind = {"QuantizationType", ANYDML_TEXT, 0, {}};
  kind.value.text = "SCALE";
  anydml_value numbers[2] = {};
  for (int i = 0; i < 2; ++i) {
    const anydml_value inputs[] = {values[2 * i], values[1]};
    ASSERT_EQ(anydml_graph_add_operator(graph, "DEQUANTIZE", inputs, 2, &tensors[3], 1, &kind, 1, &numbers[i]),
              ANYDML_OK)
        << anydml_last_error();
  }
  anydml_value sum = 0;
  ASSERT_EQ(anydml_graph_add_operator(graph, "ELEMENT_WISE_ADD", numbers, 2, &tensors[3], 1, nullptr, 0, &sum),
            ANYDML_OK)
      << anydml_last_error();
  ASSERT_EQ(anydml_graph_add_output(graph, sum), ANYDML_OK) << anydml_last_error();
  const Sizes row{64};
  const anydml_tensor one_row = {ANYDML_UINT4, 1, row.data(), nullptr, nullptr};
  anydml_value view = 0;
  EXPECT_EQ(anydml_graph_add_view_at(graph, values[2], &one_row, 64, &view), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(anydml_graph_add_view_at(graph, values[2], &one_row, 65, &view), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(
      anydml_last_error(),
      "graph: view: offset is 65; expected an even number of elements, since two elements of UINT4 share a byte");
  EXPECT_EQ(anydml_graph_add_view_at(graph, values[2], &one_row, 322, &view), ANYDML_INVALID_ARGUMENT);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_graph_compile(graph, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
  const void* inputs[] = {x.data()};
  void* outputs[] = {result.data()};
  ASSERT_EQ(anydml_compiled_run(compiled, inputs, 1, outputs, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_TRUE(result.has_guards());
  for (std::int64_t i = 0; i < 6 * 64; ++i) {
    const f32 by = scale.number(block_of({6, 64}, {6, 2}, i));
    ASSERT_EQ(result.number(i), number_of_code(weights.code(i), 8, by) + number_of_code(x.code(i), 8, by)) << i;
  }
  anydml_compiled_release(compiled);
  anydml_graph_release(graph);
}

TEST(Quantize, RefusesWithAReason) {
  Buffer x(ANYDML_FLOAT32, {4, 6});
  Buffer scale(ANYDML_FLOAT32, {4, 4});
  Buffer zero(ANYDML_INT4, {4, 4});
  Buffer result(ANYDML_INT4, {4, 6});
  EXPECT_EQ(run("QUANTIZE", {x.tensor(), scale.tensor()}, result.tensor()), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "QUANTIZE: QuantizationTensors[0]: sizes are [4, 4]; expected sizes that divide [4, 6], the sizes of "
               "InputTensor, so that each element applies to a block of the input");
  scale = Buffer(ANYDML_FLOAT32, {4, 3});
  const std::int64_t strides[] = {8, 1};
  anydml_tensor padded = result.tensor();
  padded.strides = strides;
  EXPECT_EQ(run("QUANTIZE", {x.tensor(), scale.tensor()}, padded), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(
      anydml_last_error(),
      "QUANTIZE: OutputTensor: strides are [8, 1]; expected none, or those of packed elements: two elements of "
      "INT4 share a byte, which is written as a whole");
  // Inconsistent sizes, types and counts.
  EXPECT_EQ(run("QUANTIZE", {x.tensor(), scale.tensor(), zero.tensor()}, result.tensor()), ANYDML_INVALID_ARGUMENT);
  zero = Buffer(ANYDML_UINT4, {4, 3});
  EXPECT_EQ(run("QUANTIZE", {x.tensor(), scale.tensor(), zero.tensor()}, result.tensor()), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(run("QUANTIZE", {x.tensor(), zero.tensor()}, result.tensor()), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(run("QUANTIZE", {x.tensor(), scale.tensor()}, x.tensor()), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(run("DEQUANTIZE", {result.tensor(), scale.tensor()}, zero.tensor()), ANYDML_INVALID_ARGUMENT);
  anydml_attribute none = {"QuantizationType", ANYDML_TEXT, 0, {}};
  none.value.text = "NONE";
  const anydml_tensor inputs[] = {x.tensor(), scale.tensor()};
  const anydml_tensor output = result.tensor();
  EXPECT_EQ(anydml_run(nullptr, "QUANTIZE", inputs, 2, &output, 1, &none, 1), ANYDML_INVALID_ARGUMENT);
  // Other operators do not accept four-bit types.
  const anydml_tensor both[] = {result.tensor(), result.tensor()};
  EXPECT_EQ(anydml_run(nullptr, "ELEMENT_WISE_ADD", both, 2, &output, 1, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_NE(std::string(anydml_last_error()).find("ATensor: type is INT4; expected FLOAT32"), std::string::npos)
      << anydml_last_error();
}

}  // namespace
}  // namespace anydml::test
