// SPDX-License-Identifier: MIT
// Checks every integer product kernel of every target that this machine supports against the definition, and the
// operators through the C API against the same definition. The test runs with several thread counts and targets.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "graph/compile.h"
#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/scalar/integer.h"
#include "support/byte_list.h"
#include "support/graph_text.h"
#include "support/graph_twin.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

std::string name_of(cpu::Target target, const IntegerKernels& kernels) {
  return std::string(cpu::target_name(target)) + " " + kernels.name;
}

// Runs all kernels on strips and a panel, from any starting position, overwriting the totals or adding to them. Nothing
// else is written.
TEST(IntegerKernels, GiveTheDefinition) {
  std::mt19937 random(3);
  for (const cpu::Target target : cpu::machine_targets()) {
    for (const IntegerKernels* kernels : all_integer_kernels(target)) {
      const IntegerKernels& of = *kernels;
      for (std::int64_t rows = 1; rows <= 2 * of.strip + 3; ++rows) {
        for (const std::int64_t groups : {1, 2, 5, 33}) {
          const bool is_first = random() % 2 == 0;
          const std::int64_t depth = groups * of.group;
          const std::int64_t whole = rows / of.strip * of.strip;  // rows of whole strips
          const std::int64_t padded = whole + of.padded_rows(rows - whole);
          const std::int64_t step = of.panel + 3;
          const ByteList a = random_bytes(padded * depth, random);
          const ByteList b = random_bytes(of.panel * depth, random);
          std::vector<u32> start(static_cast<std::size_t>(of.panel));
          std::vector<u32> totals(static_cast<std::size_t>(padded * step + 8));
          for (auto* list : {&start, &totals}) {
            for (u32& one : *list) {
              one = static_cast<u32>(random());
            }
          }
          std::vector<u32> expected = totals;
          for (std::int64_t row = 0; row < padded; ++row) {
            const std::int64_t first = row / of.strip * of.strip;
            const std::int64_t width = first < whole ? of.strip : padded - whole;
            for (std::int64_t column = 0; column < of.panel; ++column) {
              const i32 sum = sum_of_integer_products(
                  depth,
                  [&](i64 k) {
                    const i64 block = k / of.row_block * of.row_block;
                    const i64 length = std::min(of.row_block, depth - block);
                    const i64 at = first * depth + block * width + (row - first) * length + k - block;
                    return number_of(a[static_cast<std::size_t>(at)], !of.unsigned_a);
                  },
                  [&](i64 k) {
                    const i64 at = (k / of.group * of.panel + column) * of.group + k % of.group;
                    return number_of(b[static_cast<std::size_t>(at)], true);
                  });
              u32& total = expected[static_cast<std::size_t>(row * step + column)];
              total = (is_first ? 0 : total) + start[static_cast<std::size_t>(column)] + static_cast<u32>(sum);
            }
          }
          of.multiply(rows, {.a = a.data(),
                             .b = b.data(),
                             .groups = groups,
                             .start = start.data(),
                             .totals = totals.data(),
                             .totals_step = step,
                             .is_first = is_first});
          ASSERT_EQ(totals, expected) << name_of(target, of) << ", " << rows << " rows, " << groups << " groups";
        }
      }
    }
  }
}

// Bytes are packed into panels from any layout; the padding is 0, and nothing else is written.
TEST(IntegerKernels, PackEveryLayout) {
  std::mt19937 random(4);
  for (const cpu::Target target : cpu::machine_targets()) {
    for (const auto& [group, block] : {std::pair<std::int64_t, std::int64_t>{4, 4}, {8, 8}, {4, 64}}) {
      for (const std::int64_t width : {1, 2, 8, 12, 16, 32}) {
        for (const std::int64_t depth : {1, 7, 8, 9, 40, 67}) {
          for (const std::int64_t count : {1, 3, 8, 17, 50}) {
            for (const auto& [k_stride, stride] :
                 {std::pair<std::int64_t, std::int64_t>{1, depth}, {count, 1}, {count * 2, 2}, {-1, -depth}, {0, 1}}) {
              const u8 flip = random() % 2 == 0 ? 0x80 : 0;
              const std::int64_t base = 2 * depth * count;
              const ByteList from = random_bytes(4 * depth * count, random);
              const std::int64_t panels = (count + width - 1) / width;
              if (block != group && panels != 1) {
                continue;  // a strip
              }
              const std::int64_t groups = (depth + group - 1) / group;
              const std::int64_t bytes = groups * group * width + 5;
              ByteList packed(static_cast<std::size_t>(panels * bytes), 77);
              ByteList expected = packed;
              for (std::int64_t panel = 0; panel < panels; ++panel) {
                for (std::int64_t k = 0; k < groups * group; ++k) {
                  for (std::int64_t i = 0; i < width; ++i) {
                    const std::int64_t column = panel * width + i;
                    const bool is_there = k < depth && column < count;
                    const std::int64_t start = k / block * block;
                    const std::int64_t length = std::min(block, groups * group - start);
                    expected[static_cast<std::size_t>(panel * bytes + start * width + i * length + k - start)] =
                        is_there ? from[static_cast<std::size_t>(base + k * k_stride + column * stride)] ^ flip : 0;
                  }
                }
              }
              pack_bytes({.rows = &integer_rows(target), .group = group, .block = block, .flip = flip},
                         reinterpret_cast<const std::byte*>(from.data()) + base, k_stride, stride, depth, count,
                         {.first = packed.data(), .width = width, .step = bytes});
              ASSERT_EQ(packed, expected)
                  << cpu::target_name(target) << ", blocks of " << block << ", " << count << " x " << depth
                  << " in panels of " << width << ", strides " << k_stride << ", " << stride;
            }
          }
        }
      }
    }
  }
}

// All NaNs are equal; +0 and -0 differ.
bool is_same(f32 a, f32 b) { return to_bits(a) == to_bits(b) || (a != a && b != b); }

// Rows of totals, with factors that give NaN, infinities and ties between two integers.
TEST(IntegerKernels, FinishRows) {
  std::mt19937 random(5);
  constexpr std::array kFactors = {1.0F, 0.5F, -0.25F, 1e-9F, 3e38F, INFINITY, -INFINITY, NAN, 0.0F, 0.0078125F};
  for (const cpu::Target target : cpu::machine_targets()) {
    const IntegerRows& rows = integer_rows(target);
    for (std::int64_t count = 0; count < 70; ++count) {
      for (unsigned how = 0; how < 3; ++how) {
        const auto size = static_cast<std::size_t>(count);
        std::vector<u32> totals(size);
        std::vector<u32> sums(size);
        std::vector<u32> zeros(size);
        std::vector<f32> factors(size);
        std::vector<f32> bias(size);
        std::vector<i32> outputs(size);
        for (std::size_t i = 0; i < size; ++i) {
          totals[i] = static_cast<u32>(random()) >> random() % 32;
          totals[i] = random() % 2 == 0 ? totals[i] : 0U - totals[i];
          sums[i] = static_cast<u32>(random());
          zeros[i] = static_cast<u32>(random());
          factors[i] = kFactors[random() % kFactors.size()];
          bias[i] = static_cast<f32>(random()) * 1e-6F;
          outputs[i] = static_cast<i32>(random() % 256);
        }
        const IntegerRow row{.totals = totals.data(),
                             .column_sums = how > 0 ? sums.data() : nullptr,
                             .column_zeros = how > 1 ? zeros.data() : nullptr,
                             .zero = static_cast<u32>(random()),
                             .rest = static_cast<u32>(random()),
                             .plus = static_cast<u32>(random()),
                             .factors = factors.data(),
                             .zeros = outputs.data(),
                             .count = count};
        std::vector<i32> whole(size);
        std::vector<f32> floats(size);
        std::vector<f32> biased(size);
        std::vector<u8> unsigned_bytes(size + 1, 77);
        std::vector<i8> signed_bytes(size + 1, 77);
        rows.to_int32(row, reinterpret_cast<std::byte*>(whole.data()));
        rows.to_float32(row, nullptr, reinterpret_cast<std::byte*>(floats.data()));
        rows.to_float32(row, reinterpret_cast<const std::byte*>(bias.data()),
                        reinterpret_cast<std::byte*>(biased.data()));
        rows.to_uint8(row, reinterpret_cast<std::byte*>(unsigned_bytes.data()));
        rows.to_int8(row, reinterpret_cast<std::byte*>(signed_bytes.data()));
        EXPECT_EQ(unsigned_bytes[size], 77);
        EXPECT_EQ(signed_bytes[size], 77);
        for (std::size_t i = 0; i < size; ++i) {
          const auto total = static_cast<i32>(totals[i] + row.plus - (how > 0 ? row.zero * sums[i] : 0) -
                                              (how > 1 ? zeros[i] * row.rest : 0));
          const f32 scaled = scaled_total(total, factors[i]);
          ASSERT_EQ(whole[i], total);
          ASSERT_TRUE(is_same(floats[i], scaled));
          ASSERT_TRUE(is_same(biased[i], scaled + bias[i]));
          ASSERT_EQ(unsigned_bytes[i], quantized_total<u8>(total, factors[i], outputs[i]))
              << cpu::target_name(target) << ": " << total << " by " << factors[i] << " + " << outputs[i];
          ASSERT_EQ(signed_bytes[i], quantized_total<i8>(total, factors[i], outputs[i]));
        }
      }
    }
  }
}

// ---- Operators ------------------------------------------------------------------------------------------------------

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
};

enum class Zeros { absent, one, each };

// An operand with its zero points: along its rows if it is A, along its columns if it is B.
struct Factor {
  ByteList bytes;
  ByteList zeros;
  bool is_signed;
  Form form;
  Form zero_form;

  Factor(Sizes sizes, std::size_t side, bool is_signed_one, Zeros how, std::mt19937& random)
      : bytes(random_bytes(sizes[0] * sizes[1], random)),
        zeros(random_bytes(how == Zeros::each ? sizes[side] : 1, random)),
        is_signed(is_signed_one),
        form(is_signed_one ? ANYDML_INT8 : ANYDML_UINT8, sizes),
        zero_form(is_signed_one ? ANYDML_INT8 : ANYDML_UINT8, how != Zeros::each ? Sizes{1, 1}
                                                              : side == 0        ? Sizes{sizes[0], 1}
                                                                                 : Sizes{1, sizes[1]}) {
    if (how == Zeros::absent) {
      zeros[0] = 0;
    }
  }
  [[nodiscard]] i32 difference(std::int64_t at, std::int64_t side) const {
    return number_of(bytes[static_cast<std::size_t>(at)], is_signed) -
           number_of(zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(side)], is_signed);
  }
};

void expect_product(const Shape& shape, unsigned form, bool constant_b, std::mt19937& random) {
  const auto zeros = static_cast<Zeros>(form / 4 % 3);
  const auto other_zeros = static_cast<Zeros>(form / 12 % 3);
  Factor a({shape.rows, shape.depth}, 0, (form & 1) != 0, zeros, random);
  Factor b({shape.depth, shape.columns}, 1, (form & 2) != 0, other_zeros, random);
  std::vector<i32> out(static_cast<std::size_t>(shape.rows * shape.columns), 77);
  std::vector<i32> expected;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    for (std::int64_t column = 0; column < shape.columns; ++column) {
      expected.push_back(sum_of_integer_products(
          shape.depth, [&](i64 k) { return a.difference(row * shape.depth + k, row); },
          [&](i64 k) { return b.difference(k * shape.columns + column, column); }));
    }
  }
  const anydml_tensor none = {};
  anydml_tensor inputs[] = {
      a.form.tensor(a.bytes.data()), zeros == Zeros::absent ? none : a.zero_form.tensor(a.zeros.data()),
      b.form.tensor(b.bytes.data()), other_zeros == Zeros::absent ? none : b.zero_form.tensor(b.zeros.data())};
  const Form out_form(ANYDML_INT32, {shape.rows, shape.columns});
  const anydml_tensor output = out_form.tensor(out.data());
  if (!constant_b) {
    ASSERT_EQ(anydml_run(nullptr, "MATRIX_MULTIPLY_INTEGER", inputs, std::size(inputs), &output, 1, nullptr, 0),
              ANYDML_OK)
        << anydml_last_error();
  } else {
    inputs[2].type |= ANYDML_CONSTANT;
    anydml_compiled* compiled = nullptr;
    ASSERT_EQ(anydml_compile(nullptr, "MATRIX_MULTIPLY_INTEGER", inputs, std::size(inputs), &output, 1, nullptr, 0,
                             &compiled),
              ANYDML_OK)
        << anydml_last_error();
    std::fill(b.bytes.begin(), b.bytes.end(), u8{0});  // the library has its own copy
    const void* addresses[] = {a.bytes.data(), a.zeros.data(), nullptr, b.zeros.data()};
    void* const outputs[] = {out.data()};
    for (int run = 0; run < 2; ++run) {
      ASSERT_EQ(anydml_compiled_run(compiled, addresses, std::size(addresses), outputs, 1), ANYDML_OK)
          << anydml_last_error();
    }
    anydml_compiled_release(compiled);
  }
  EXPECT_EQ(out, expected) << shape.rows << " x " << shape.columns << " x " << shape.depth << ", form " << form
                           << ", constant " << constant_b;
}

TEST(IntegerProduct, EverySignAndZeroPoint) {
  std::mt19937 random(6);
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{1, 40, 30}, Shape{40, 1, 30}, Shape{7, 17, 257}, Shape{16, 16, 16},
                             Shape{17, 33, 5}, Shape{50, 15, 1100}, Shape{15, 50, 0}, Shape{24, 64, 64}}) {
    for (unsigned form = 0; form < 36; ++form) {
      expect_product(shape, form, false, random);
      expect_product(shape, form, true, random);
    }
  }
}

TEST(IntegerProduct, EveryNumberOfRowsAndColumns) {
  std::mt19937 random(7);
  for (std::int64_t rows = 1; rows < 40; rows += kSanitized ? 6 : 1) {
    for (const std::int64_t columns : {1, 4, 5, 8, 15, 16, 31, 32, 33, 49}) {
      const unsigned form = static_cast<unsigned>(random()) % 36;
      expect_product({rows, columns, 70}, form, true, random);
      expect_product({rows, columns, 70}, form, false, random);
    }
  }
}

// Several tiles and blocks of k, shared by threads, and sums that exceed 32 bits.
TEST(IntegerProduct, LargeMatrices) {
  std::mt19937 random(8);
  for (const Shape& shape : {Shape{200, 530, 300}, Shape{1, 3000, 1000}, Shape{5, 1000, 700}, Shape{1500, 3, 500},
                             Shape{50, 64, 5000}, Shape{3, 9, 70'000}, Shape{2, 2, 40'000}}) {
    for (const unsigned form : {0U, 5U, 3U, 35U}) {
      expect_product(shape, form, true, random);
      expect_product(shape, form, false, random);
    }
  }
}

// The following operators are fused into the product and give the same bits as on their own.
TEST(IntegerProduct, InAGraphWithItsNeighbors) {
  std::mt19937 random(9);
  for (const auto& [batch, shape] :
       {std::pair{std::int64_t{1}, Shape{9, 20, 30}}, {2, {50, 70, 300}}, {3, {200, 300, 40}}, {4, {1, 64, 64}}}) {
    for (unsigned how = 0; how < 4; ++how) {
      const Form a(ANYDML_UINT8, {batch, shape.rows, shape.depth});
      const Form b(ANYDML_UINT8, {batch, shape.depth, shape.columns}, {0, shape.columns, 1});
      const Form sums(ANYDML_INT32, {batch, shape.rows, shape.columns});
      const Form out(ANYDML_FLOAT32, {batch, shape.rows, shape.columns});
      const Form one(ANYDML_FLOAT32, {1, 1});
      Twin twin;
      const std::size_t x = twin.input(a, bytes_of(random_bytes(batch * shape.rows * shape.depth, random)));
      Bytes weights = bytes_of(random_bytes(shape.depth * shape.columns, random));
      const std::size_t w = (how & 1) != 0 ? twin.constant(b, std::move(weights)) : twin.input(b, std::move(weights));
      const std::size_t zero = twin.input(Form(ANYDML_UINT8, {1, 1}), bytes_of(ByteList{131}));
      const std::size_t scale = twin.constant(one, bytes_of(std::vector<float>{0.01F}));
      const std::size_t sum = twin.run("MATRIX_MULTIPLY_INTEGER", {x, zero, w, zero}, sums);
      const std::size_t real = twin.run("CAST", {sum}, out);
      const std::size_t direct = twin.run("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", {x, scale, zero, w, scale, zero}, out);
      const std::size_t added = twin.run("ELEMENT_WISE_ADD", {direct, real}, out);
      twin.output(twin.run("ACTIVATION_RELU", {added}, out));
      if ((how & 2) != 0) {
        twin.output(sum);
      }
      twin.compile();
      EXPECT_EQ(twin.difference(), "") << shape.rows << " x " << shape.columns << ", how " << how;
    }
  }
}

std::string plan_of(std::string_view graph, DeviceTraits traits) {
  std::string shown;
  traits.joins_from = 1;
  const auto plans = compile_graph(parse_graph(graph), traits, &shown);
  if (!plans.ok()) {
    return plans.error().message;
  }
  return shown.substr(shown.find("node") + (shown.find("nodes\n") != std::string::npos ? 6 : 5));
}

TEST(IntegerProductPlan, WeightsArePackedBeforehandAndTheEpilogueIsPartOfTheStep) {
  const char* const graph =
      "x = input 1200\n"
      "w = owned 900\n"
      "p = MATRIX_MULTIPLY_INTEGER x:u8[40,30] - w:i8[30,30] - -> i32[40,30]\n"
      "y = CAST p:i32[40,30] -> f32[40,30]\n"
      "out y\n";
  EXPECT_EQ(plan_of(graph, {.vector_bytes = 16}),
            "initialize: %0 INTEGER_PACK | reads input1 | writes persistent+0\n"
            "initialize: 1 step, 0 bytes of temporary for 0 bytes of values\n"
            "run: %1 INTEGER_PRODUCT; epilogue %2 CAST | reads input0, persistent+0 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(IntegerProductPlan, ADeviceThatPacksNothingTakesBytesAsTheyAreAndWiderIntegersAsFloats) {
  const DeviceTraits gpu{.vector_bytes = 0};
  const std::string bytes = plan_of(
      "x = input 1200\n"
      "w = input 900\n"
      "p = MATRIX_MULTIPLY_INTEGER x:u8[40,30] - w:i8[30,30] - -> i32[40,30]\n"
      "out p\n",
      gpu);
  EXPECT_NE(bytes.find("run: %0 INTEGER_PRODUCT | reads input0, input1 | writes output0\n"), std::string::npos)
      << bytes;
  const std::string wide = plan_of(
      "x = input 2400\n"
      "w = input 1800\n"
      "s = input 4\n"
      "p = MATRIX_MULTIPLY_INTEGER_TO_FLOAT x:i16[40,30] s:f32[1,1] - w:i16[30,30] s:f32[1,1] - - -> f32[40,30]\n"
      "out p\n",
      gpu);
  EXPECT_NE(wide.find(" PRODUCT; epilogue"), std::string::npos) << wide;
}

TEST(IntegerProductErrors, NameTheField) {
  const auto error = [](const char* name, std::vector<anydml_tensor> inputs, const anydml_tensor& out) {
    EXPECT_NE(anydml_run(nullptr, name, inputs.data(), inputs.size(), &out, 1, nullptr, 0), ANYDML_OK);
    return std::string(anydml_last_error());
  };
  std::array<u32, 64> data = {};
  const anydml_tensor none = {};
  const Form square(ANYDML_INT8, {4, 4});
  const Form narrow(ANYDML_INT8, {3, 4});
  const Form flat(ANYDML_INT8, {1});
  const Form out(ANYDML_INT32, {4, 4});
  const Form other(ANYDML_UINT8, {1, 1});
  const Form wide(ANYDML_INT16, {4, 4});
  const auto of = [&](const Form& form) { return form.tensor(data.data()); };
  EXPECT_EQ(error("MATRIX_MULTIPLY_INTEGER", {of(square), none, of(narrow), none}, of(out)),
            "MATRIX_MULTIPLY_INTEGER: BTensor.Sizes[0] is 3; expected ATensor.Sizes[1], which is 4");
  EXPECT_EQ(error("MATRIX_MULTIPLY_INTEGER", {of(square), of(narrow), of(square), none}, of(out)),
            "MATRIX_MULTIPLY_INTEGER: AZeroPointTensor.Sizes[1] is 4; expected 1");
  EXPECT_EQ(error("MATRIX_MULTIPLY_INTEGER", {of(square), of(other), of(square), none}, of(out)),
            "MATRIX_MULTIPLY_INTEGER: AZeroPointTensor: type is UINT8; expected INT8, the type of ATensor");
  EXPECT_EQ(error("MATRIX_MULTIPLY_INTEGER", {of(wide), none, of(square), none}, of(out)),
            "MATRIX_MULTIPLY_INTEGER: ATensor: type is INT16; expected UINT8, INT8");
  EXPECT_EQ(error("MATRIX_MULTIPLY_INTEGER", {of(flat), none, of(flat), none}, of(Form(ANYDML_INT32, {1}))),
            "MATRIX_MULTIPLY_INTEGER: OutputTensor: has 1 dimension; expected rows and columns");
}

}  // namespace
}  // namespace anydml::test
