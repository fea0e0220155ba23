// SPDX-License-Identifier: MIT
// Checks products whose weights stay in codes of four or eight bits: the graph of DEQUANTIZE and GEMM against an
// independent implementation of both definitions, and against the two operators run one by one. The plans show that the
// weights are packed once and read in codes.
#include <gtest/gtest.h>

#include <anydml/anydml.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/float_bits.h"
#include "graph/compile.h"
#include "support/graph_text.h"

namespace anydml::test {
namespace {

using Sizes = std::vector<std::int64_t>;
using Bytes = std::vector<unsigned char>;

bool is_four(anydml_type type) { return type == ANYDML_INT4 || type == ANYDML_UINT4; }
bool is_signed(anydml_type type) { return type == ANYDML_INT4 || type == ANYDML_INT8; }

std::int64_t count_of(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    count *= size;
  }
  return count;
}

// Packed elements.
struct Tensor {
  anydml_type type;
  Sizes sizes;
  Bytes bytes;

  Tensor(anydml_type of, Sizes given) : type(of), sizes(std::move(given)) {
    const auto count = static_cast<std::size_t>(count_of(sizes));
    bytes.resize(is_four(type) ? (count + 1) / 2 : count * anydml_type_size(type));
  }
  [[nodiscard]] anydml_tensor tensor(bool has_data = true) {
    return {type, static_cast<std::int32_t>(sizes.size()), sizes.data(), nullptr, has_data ? bytes.data() : nullptr};
  }
  [[nodiscard]] int code(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    const int bits = is_four(type) ? bytes[at / 2] >> (4 * (at % 2)) & 15 : bytes[at];
    const int range = is_four(type) ? 16 : 256;
    return is_signed(type) && bits >= range / 2 ? bits - range : bits;
  }
  [[nodiscard]] float number(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    if (type == ANYDML_FLOAT16) {
      f16 half;
      std::memcpy(&half, &bytes[2 * at], 2);
      return widen(half);
    }
    float value;
    std::memcpy(&value, &bytes[4 * at], 4);
    return value;
  }
  void set(std::int64_t i, float value) {
    const auto at = static_cast<std::size_t>(i);
    if (type == ANYDML_FLOAT16) {
      const f16 half = narrow<f16>(value);
      std::memcpy(&bytes[2 * at], &half, 2);
    } else {
      std::memcpy(&bytes[4 * at], &value, 4);
    }
  }
};

Tensor random_codes(anydml_type type, const Sizes& sizes, std::mt19937& random) {
  Tensor codes(type, sizes);
  for (unsigned char& byte : codes.bytes) {
    byte = static_cast<unsigned char>(random());
  }
  return codes;
}

Tensor random_numbers(anydml_type type, const Sizes& sizes, std::mt19937& random, float by = 1.0F) {
  Tensor numbers(type, sizes);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < count_of(sizes); ++i) {
    numbers.set(i, random() % 16 == 0 ? 0.0F : normal(random) * by);
  }
  return numbers;
}

anydml_attribute text(const char* name, const char* value) {
  anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
  attribute.value.text = value;
  return attribute;
}

anydml_attribute number(const char* name, double value) {
  anydml_attribute attribute = {name, ANYDML_FLOAT64, 0, {}};
  attribute.value.f64 = value;
  return attribute;
}

struct Case {
  std::int64_t rows, columns, depth, block;
  anydml_type codes = ANYDML_UINT4;
  anydml_type scales = ANYDML_FLOAT32;
  anydml_type numbers = ANYDML_FLOAT32;
  bool has_zeros = false;
  bool is_along = false;  // the columns of B are neighbors in memory; otherwise the values of k are
  bool has_c = false;
  bool transposes_a = false;
  std::int64_t columns_of_scale = 1;

  [[nodiscard]] std::string label() const {
    return std::to_string(rows) + " x " + std::to_string(columns) + " x " + std::to_string(depth) + ", blocks of " +
           std::to_string(block) + " x " + std::to_string(columns_of_scale) + ", type " + std::to_string(codes) +
           ", scales " + std::to_string(scales) + ", numbers " + std::to_string(numbers) +
           (has_zeros ? ", zeros" : "") + (is_along ? ", along" : "") + (has_c ? ", c" : "") +
           (transposes_a ? ", turned" : "");
  }
};

class Product {
 public:
  Product(const Case& given, std::mt19937& random)
      : given_(given),
        padded_((given.depth + given.block - 1) / given.block * given.block),
        codes_(random_codes(given.codes, matrix(padded_, given.columns), random)),
        scales_(random_numbers(given.scales, matrix(padded_ / given.block, given.columns / given.columns_of_scale),
                               random, 0.1F)),
        zeros_(random_codes(given.codes, scales_.sizes, random)),
        a_(random_numbers(given.numbers,
                          given.transposes_a ? Sizes{given.depth, given.rows} : Sizes{given.rows, given.depth},
                          random)),
        c_(random_numbers(given.numbers, {given.rows, given.columns}, random)) {}

  // DEQUANTIZE and GEMM in one graph, with weights that are known. flags: of the whole graph. own_flags: of the GEMM.
  [[nodiscard]] Tensor together(std::uint64_t flags = 0, std::uint64_t own_flags = 0) {
    anydml_graph* graph = nullptr;
    EXPECT_EQ(anydml_graph_create(&graph), ANYDML_OK);
    anydml_value a = 0;
    anydml_value c = 0;
    anydml_value weights[3] = {};
    const anydml_tensor of_a = a_.tensor(false);
    EXPECT_EQ(anydml_graph_add_input(graph, &of_a, &a), ANYDML_OK);
    const anydml_tensor of_c = c_.tensor(false);
    if (given_.has_c) {
      EXPECT_EQ(anydml_graph_add_input(graph, &of_c, &c), ANYDML_OK);
    }
    Tensor* const known[] = {&codes_, &scales_, &zeros_};
    const std::size_t count = given_.has_zeros ? 3 : 2;
    for (std::size_t i = 0; i < count; ++i) {
      const anydml_tensor one = known[i]->tensor();
      EXPECT_EQ(anydml_graph_add_constant(graph, &one, &weights[i]), ANYDML_OK) << anydml_last_error();
    }
    Tensor whole(given_.numbers, codes_.sizes);
    const anydml_tensor of_whole = whole.tensor(false);
    const anydml_attribute kind = quantization();
    anydml_value dequantized = 0;
    EXPECT_EQ(anydml_graph_add_operator(graph, "DEQUANTIZE", weights, count, &of_whole, 1, &kind, 1, &dequantized),
              ANYDML_OK)
        << anydml_last_error();
    const Sizes sizes = {given_.depth, given_.columns};
    const Sizes strides = given_.is_along ? Sizes{given_.columns, 1} : Sizes{1, padded_};
    const anydml_tensor view = {given_.numbers, 2, sizes.data(), strides.data(), nullptr};
    anydml_value b = 0;
    EXPECT_EQ(anydml_graph_add_view(graph, dequantized, &view, &b), ANYDML_OK) << anydml_last_error();
    Tensor out = output();
    const anydml_tensor of_out = out.tensor(false);
    const anydml_value inputs[] = {a, b, c};
    const auto attributes = gemm();
    anydml_value result = 0;
    EXPECT_EQ(anydml_graph_set_operator_flags(graph, own_flags), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(
        anydml_graph_add_operator(graph, "GEMM", inputs, 3, &of_out, 1, attributes.data(), attributes.size(), &result),
        ANYDML_OK)
        << anydml_last_error();
    EXPECT_EQ(anydml_graph_add_output(graph, result), ANYDML_OK);
    anydml_compiled* compiled = nullptr;
    anydml_options options = ANYDML_OPTIONS_INIT;
    options.flags = flags;
    EXPECT_EQ(anydml_graph_compile_with(graph, &options, &compiled), ANYDML_OK) << anydml_last_error();
    anydml_graph_release(graph);
    const void* const read[] = {a_.bytes.data(), c_.bytes.data()};
    void* const written[] = {out.bytes.data()};
    EXPECT_EQ(anydml_compiled_run(compiled, read, given_.has_c ? 2 : 1, written, 1), ANYDML_OK) << anydml_last_error();
    anydml_compiled_release(compiled);
    return out;
  }

  // DEQUANTIZE, then GEMM.
  [[nodiscard]] Tensor one_by_one() {
    Tensor whole(given_.numbers, codes_.sizes);
    std::vector<anydml_tensor> weights = {codes_.tensor(), scales_.tensor()};
    if (given_.has_zeros) {
      weights.push_back(zeros_.tensor());
    }
    const anydml_tensor of_whole = whole.tensor();
    const anydml_attribute kind = quantization();
    EXPECT_EQ(anydml_run(nullptr, "DEQUANTIZE", weights.data(), weights.size(), &of_whole, 1, &kind, 1), ANYDML_OK);
    const Sizes sizes = {given_.depth, given_.columns};
    const Sizes strides = given_.is_along ? Sizes{given_.columns, 1} : Sizes{1, padded_};
    std::vector<anydml_tensor> inputs = {a_.tensor(),
                                         {given_.numbers, 2, sizes.data(), strides.data(), whole.bytes.data()}};
    if (given_.has_c) {
      inputs.push_back(c_.tensor());
    }
    Tensor out = output();
    const anydml_tensor of_out = out.tensor();
    const auto attributes = gemm();
    EXPECT_EQ(
        anydml_run(nullptr, "GEMM", inputs.data(), inputs.size(), &of_out, 1, attributes.data(), attributes.size()),
        ANYDML_OK);
    return out;
  }

  // An output by its definition: a weight is the difference of two integers times a scale, rounded to the type of the
  // numbers. Chains of at most 256 products start from +0 and are added in order.
  [[nodiscard]] float expected(std::int64_t row, std::int64_t column) const {
    float total = 0;
    for (std::int64_t first = 0; first < given_.depth; first += 256) {
      float chain = 0;
      for (std::int64_t k = first; k < std::min(given_.depth, first + 256); ++k) {
        float weight = static_cast<float>(difference(k, column)) * scales_.number(scale_of(k, column));
        weight = given_.numbers == ANYDML_FLOAT16 ? widen(narrow<f16>(weight)) : weight;
        chain = std::fma(number_of_a(row, k), weight, chain);
      }
      total = first == 0 ? chain : total + chain;
    }
    return finished(total, row, column);
  }

  // The same with activations in codes: the numbers of a block over a 127th of the largest magnitude, rounded to the
  // nearest integer. The exact sums of the blocks are scaled and added in order.
  [[nodiscard]] float expected_of_codes(std::int64_t row, std::int64_t column) const {
    float total = 0;
    for (std::int64_t first = 0; first < given_.depth; first += given_.block) {
      const std::int64_t end = std::min(given_.depth, first + given_.block);
      float largest = 0;
      for (std::int64_t k = first; k < end; ++k) {
        largest = std::max(largest, std::fabs(number_of_a(row, k)));
      }
      std::int64_t sum = 0;
      for (std::int64_t k = first; k < end && largest != 0; ++k) {
        const float scaled = number_of_a(row, k) * (127.0F / largest);
        sum += static_cast<std::int64_t>(std::nearbyint(scaled)) * difference(k, column);
      }
      const float scale = largest / 127.0F * scales_.number(scale_of(first, column));
      total = std::fma(static_cast<float>(sum), scale, total);
    }
    return finished(total, row, column);
  }

 private:
  [[nodiscard]] float number_of_a(std::int64_t row, std::int64_t k) const {
    return a_.number(given_.transposes_a ? k * given_.rows + row : row * given_.depth + k);
  }
  [[nodiscard]] std::int64_t scale_of(std::int64_t k, std::int64_t column) const {
    const std::int64_t of_column = column / given_.columns_of_scale;
    return given_.is_along ? k / given_.block * (given_.columns / given_.columns_of_scale) + of_column
                           : of_column * (padded_ / given_.block) + k / given_.block;
  }
  // A code minus its zero point.
  [[nodiscard]] int difference(std::int64_t k, std::int64_t column) const {
    const int code = codes_.code(given_.is_along ? k * given_.columns + column : column * padded_ + k);
    const int middle = given_.codes == ANYDML_UINT4 ? 8 : given_.codes == ANYDML_UINT8 ? 128 : 0;
    return code - (given_.has_zeros ? zeros_.code(scale_of(k, column)) : middle);
  }
  [[nodiscard]] float finished(float total, std::int64_t row, std::int64_t column) const {
    const float scaled = 0.7F * total;
    const float added = given_.has_c ? scaled + 1.3F * c_.number(row * given_.columns + column) : scaled;
    return given_.numbers == ANYDML_FLOAT16 ? widen(narrow<f16>(added)) : added;
  }
  // The sizes of a matrix, or of its scales.
  [[nodiscard]] Sizes matrix(std::int64_t depth, std::int64_t columns) const {
    return given_.is_along ? Sizes{depth, columns} : Sizes{columns, depth};
  }
  [[nodiscard]] Tensor output() const { return {given_.numbers, {given_.rows, given_.columns}}; }
  [[nodiscard]] anydml_attribute quantization() const {
    return text("QuantizationType", given_.has_zeros ? "SCALE_ZERO_POINT" : "SCALE");
  }
  [[nodiscard]] std::vector<anydml_attribute> gemm() const {
    return {text("TransA", given_.transposes_a ? "TRANSPOSE" : "NONE"), text("TransB", "NONE"), number("Alpha", 0.7F),
            number("Beta", 1.3F)};
  }

  Case given_;
  std::int64_t padded_;
  Tensor codes_, scales_, zeros_, a_, c_;
};

void expect_same(const Case& given, std::mt19937& random) {
  Product product(given, random);
  const Tensor actual = product.together();
  ASSERT_EQ(actual.bytes, product.one_by_one().bytes) << given.label();
  for (const std::int64_t row : {std::int64_t{0}, given.rows - 1}) {
    for (std::int64_t column = 0; column < given.columns; ++column) {
      ASSERT_EQ(actual.number(row * given.columns + column), product.expected(row, column))
          << given.label() << ", row " << row << ", column " << column;
    }
  }
}

constexpr anydml_type kCodes[] = {ANYDML_UINT4, ANYDML_INT4, ANYDML_UINT8, ANYDML_INT8};

TEST(CodedProduct, BlocksAlongK) {
  std::mt19937 random(51);
  unsigned turn = 0;
  for (const std::int64_t depth : {31, 32, 255, 256, 257, 1024, 4096}) {
    for (const std::int64_t block : {16, 32, 64, 128, 256}) {
      for (const bool has_zeros : {false, true}) {
        for (const anydml_type scales : {ANYDML_FLOAT32, ANYDML_FLOAT16}) {
          ++turn;
          constexpr std::int64_t kRows[] = {1, 2, 7, 3, 64, 4, 1};
          constexpr std::int64_t kColumns[] = {1, 5, 67, 130, 33};
          expect_same({.rows = depth > 1000 && kRows[turn % 7] > 7 ? 5 : kRows[turn % 7],
                       .columns = kColumns[turn % 5],
                       .depth = depth,
                       .block = block,
                       .codes = kCodes[turn % 3 == 0 ? (turn / 3) % 4 : (turn / 3) % 2],
                       .scales = scales,
                       .numbers = scales == ANYDML_FLOAT16 && turn % 4 < 2 ? ANYDML_FLOAT16 : ANYDML_FLOAT32,
                       .has_zeros = has_zeros},
                      random);
        }
      }
    }
  }
}

TEST(CodedProduct, EveryTypeAndNumberOfRows) {
  std::mt19937 random(52);
  for (const anydml_type codes : kCodes) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 64}) {
      for (const bool is_half : {false, true}) {
        for (const bool has_zeros : {false, true}) {
          const anydml_type numbers = is_half ? ANYDML_FLOAT16 : ANYDML_FLOAT32;
          expect_same({.rows = rows,
                       .columns = 67,
                       .depth = 301,
                       .block = 32,
                       .codes = codes,
                       .scales = numbers,
                       .numbers = numbers,
                       .has_zeros = has_zeros,
                       .has_c = rows % 2 == 0,
                       .transposes_a = rows == 3},
                      random);
        }
      }
    }
  }
}

// Columns that are neighbors in memory, scales for several columns, one scale for all of k, and one scale for all.
TEST(CodedProduct, OtherLayouts) {
  std::mt19937 random(53);
  for (const anydml_type codes : kCodes) {
    for (const bool is_along : {false, true}) {
      for (const std::int64_t columns_of_scale : {1, 3, 66}) {
        for (const std::int64_t block : {8, 40, 120, 1000}) {
          expect_same({.rows = columns_of_scale == 3 ? 9 : 1,
                       .columns = 66,
                       .depth = block == 1000 ? 1000 : 120,
                       .block = block,
                       .codes = codes,
                       .has_zeros = columns_of_scale != 66,
                       .is_along = is_along,
                       .columns_of_scale = columns_of_scale},
                      random);
        }
      }
    }
  }
}

// Blocks that end inside a word are computed by DEQUANTIZE.
TEST(CodedProduct, ShortBlocks) {
  std::mt19937 random(54);
  for (const std::int64_t block : {1, 2, 12, 20}) {
    expect_same({.rows = 2, .columns = 9, .depth = 120, .block = block, .codes = ANYDML_INT4}, random);
  }
}

// tests/python/test_onnx_activations.py compares more of them with the NumPy program in docs/numerics.md.
TEST(CodedProduct, ActivationsInCodes) {
  const bool is_cpu = std::string_view(anydml_device_get_info(anydml_device_at(0))->name) == "cpu";
  std::mt19937 random(55);
  for (const anydml_type codes : kCodes) {
    for (const std::int64_t rows : {1, 2, 3, 4, 9}) {
      for (const std::int64_t depth : {31, 256, 1000}) {
        for (const anydml_type numbers : {ANYDML_FLOAT32, ANYDML_FLOAT16}) {
          const Case given = {.rows = rows,
                              .columns = 67,
                              .depth = depth,
                              .block = depth == 31 ? 16 : 40,
                              .codes = codes,
                              .scales = numbers,
                              .numbers = numbers,
                              .has_zeros = rows % 2 == 0,
                              .is_along = rows == 3,
                              .has_c = rows > 2,
                              .transposes_a = rows == 4};
          Product product(given, random);
          const Tensor actual = product.together(ANYDML_INTEGER_ACTIVATIONS);
          ASSERT_EQ(product.together(0, ANYDML_INTEGER_ACTIVATIONS).bytes, actual.bytes) << given.label();
          // Codes of eight bits and other devices compute as without the flag.
          const bool is_integer = (codes == ANYDML_UINT4 || codes == ANYDML_INT4) && is_cpu;
          for (std::int64_t i = 0; i < given.rows * given.columns; ++i) {
            const std::int64_t row = i / given.columns;
            const std::int64_t column = i % given.columns;
            ASSERT_EQ(actual.number(i),
                      is_integer ? product.expected_of_codes(row, column) : product.expected(row, column))
                << given.label() << ", output " << i;
          }
        }
      }
    }
  }
}

std::string plan_of(const DeviceTraits& traits, const std::string& block) {
  const std::string graph =
      "x = input 256\n"
      "w = owned 1024\n"
      "s = owned " +
      std::to_string(2048 / std::stoi(block) * 4) +
      "\n"
      "bias = owned 128\n"
      "d = DEQUANTIZE w:i4[32,64] s:f32[32," +
      std::to_string(64 / std::stoi(block)) +
      "] -> f32[32,64] QuantizationType=SCALE\n"
      "p = GEMM x:f32[1,64] d:f32[32,64] - -> f32[1,32] TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=1\n"
      "y = ADD p:f32[1,32] bias:f32[1,32] -> f32[1,32]\n"
      "out y\n";
  std::string shown;
  const auto plans = compile_graph(parse_graph(graph), traits, &shown);
  if (!plans.ok()) {
    return plans.error().message;
  }
  return shown.substr(shown.find("nodes\n") + 6);
}

TEST(CodedProductPlan, CodesArePackedOnceAndReadByTheProduct) {
  EXPECT_EQ(plan_of({.joins_from = 1, .vector_bytes = 16, .reads_codes = true}, "32"),
            "initialize: %1 CODED_PACK | reads input1, input2 | writes persistent+256\n"
            "initialize: 1 step, 0 bytes of temporary for 0 bytes of values\n"
            "run: %2 CODED_PRODUCT; epilogue %3 ELEMENT_WISE_ADD | reads input0, persistent+256, persistent+0 | writes "
            "output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(CodedProductPlan, OtherDevicesComputeTheWeights) {
  const std::string plan = plan_of({.joins_from = 1, .vector_bytes = 16}, "32");
  EXPECT_NE(plan.find("DEQUANTIZE"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("CODED"), std::string::npos) << plan;
  EXPECT_EQ(plan_of({.joins_from = 1, .vector_bytes = 16, .reads_codes = true}, "4").find("CODED"), std::string::npos);
}

}  // namespace
}  // namespace anydml::test
