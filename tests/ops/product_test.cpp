// SPDX-License-Identifier: MIT
// Checks GEMM through the C API, output by output, against an independent implementation of its summation order that
// ignores layouts, threads and vectors. The test runs with several thread counts and targets; since all runs match the
// same reference, they also match each other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "graph/compile.h"
#include "support/graph_text.h"
#include "support/graph_twin.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

using Floats = std::vector<float>;

struct Shape {
  int64_t rows;
  int64_t columns;
  int64_t depth;
};

anydml_attribute text(const char* name, const char* value) {
  anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
  attribute.value.text = value;
  return attribute;
}

std::vector<anydml_attribute> attributes_of(bool transposed_a, bool transposed_b, double alpha, double beta) {
  return {text("TransA", transposed_a ? "TRANSPOSE" : "NONE"), text("TransB", transposed_b ? "TRANSPOSE" : "NONE"),
          number("Alpha", alpha), number("Beta", beta)};
}

// Ordinary numbers with some zeros, and optionally a few infinities and NaNs.
Floats random_floats(int64_t count, std::mt19937& random, bool special = false) {
  Floats values(static_cast<std::size_t>(count));
  std::normal_distribution<float> normal;
  for (float& value : values) {
    value = random() % 16 == 0 ? 0.0F : normal(random);
    if (special && random() % 4096 == 0) {
      value = random() % 2 == 0 ? INFINITY : random() % 2 == 0 ? -INFINITY : NAN;
    }
  }
  return values;
}

Floats transposed(const Floats& matrix, int64_t rows, int64_t columns) {
  Floats other(matrix.size());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      other[static_cast<std::size_t>(column * rows + row)] = matrix[static_cast<std::size_t>(row * columns + column)];
    }
  }
  return other;
}

// Sums chains of at most 256 products, each starting from +0, and adds the chains in order. Each scale is applied with
// one rounding.
Floats expected_product(const Shape& shape, const Floats& a, const Floats& b, const Floats& c, float alpha,
                        float beta) {
  Floats result;
  for (int64_t row = 0; row < shape.rows; ++row) {
    for (int64_t column = 0; column < shape.columns; ++column) {
      float total = 0;
      for (int64_t first = 0; first < shape.depth; first += 256) {
        float chain = 0;
        for (int64_t k = first; k < std::min(shape.depth, first + 256); ++k) {
          chain = std::fma(a[static_cast<std::size_t>(row * shape.depth + k)],
                           b[static_cast<std::size_t>(k * shape.columns + column)], chain);
        }
        total = first == 0 ? chain : total + chain;
      }
      const float scaled = alpha * total;
      if (c.empty()) {
        result.push_back(scaled);
        continue;
      }
      const float added = beta * c[static_cast<std::size_t>(row * shape.columns + column)];
      result.push_back(scaled + added);
    }
  }
  return result;
}

// All NaNs are equal; +0 and -0 differ.
std::string difference(const Floats& actual, const Floats& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(&actual[i], &expected[i], sizeof(float)) != 0 &&
        !(std::isnan(actual[i]) && std::isnan(expected[i]))) {
      return "output " + std::to_string(i) + " is " + std::to_string(actual[i]) + ", expected " +
             std::to_string(expected[i]);
    }
  }
  return "";
}

enum class Given { each_time, as_constant };

// An empty C means no C.
void expect_product(const Shape& shape, unsigned form, Given given_b, std::mt19937& random, bool special = false) {
  const bool transposed_a = (form & 1) != 0;
  const bool transposed_b = (form & 2) != 0;
  const bool has_c = (form & 4) != 0;
  const float alpha = (form & 8) != 0 ? 0.37F : 1.0F;
  const float beta = (form & 8) != 0 ? -1.3F : 1.0F;
  const Floats a = random_floats(shape.rows * shape.depth, random, special);
  const Floats b = random_floats(shape.depth * shape.columns, random, special);
  const Floats c = has_c ? random_floats(shape.rows * shape.columns, random) : Floats();
  Floats held_a = transposed_a ? transposed(a, shape.rows, shape.depth) : a;
  Floats held_b = transposed_b ? transposed(b, shape.depth, shape.columns) : b;
  Floats held_c = c;
  Floats out(static_cast<std::size_t>(shape.rows * shape.columns), 77.0F);
  const Form form_a(ANYDML_FLOAT32, transposed_a ? Sizes{shape.depth, shape.rows} : Sizes{shape.rows, shape.depth});
  const Form form_b(ANYDML_FLOAT32,
                    transposed_b ? Sizes{shape.columns, shape.depth} : Sizes{shape.depth, shape.columns});
  const Form form_c(ANYDML_FLOAT32, {shape.rows, shape.columns});
  std::vector<anydml_tensor> inputs = {form_a.tensor(held_a.data()), form_b.tensor(held_b.data())};
  if (has_c) {
    inputs.push_back(form_c.tensor(held_c.data()));
  }
  const anydml_tensor output = form_c.tensor(out.data());
  const auto attributes = attributes_of(transposed_a, transposed_b, alpha, beta);
  if (given_b == Given::each_time) {
    ASSERT_EQ(
        anydml_run(nullptr, "GEMM", inputs.data(), inputs.size(), &output, 1, attributes.data(), attributes.size()),
        ANYDML_OK)
        << anydml_last_error();
  } else {
    inputs[1].type |= ANYDML_CONSTANT;
    anydml_compiled* compiled = nullptr;
    ASSERT_EQ(anydml_compile(nullptr, "GEMM", inputs.data(), inputs.size(), &output, 1, attributes.data(),
                             attributes.size(), &compiled),
              ANYDML_OK)
        << anydml_last_error();
    std::fill(held_b.begin(), held_b.end(), 0.0F);  // the library has its own copy
    const void* addresses[] = {held_a.data(), nullptr, held_c.data()};
    void* const outputs[] = {out.data()};
    ASSERT_EQ(anydml_compiled_run(compiled, addresses, std::size(addresses), outputs, 1), ANYDML_OK)
        << anydml_last_error();
    anydml_compiled_release(compiled);
  }
  EXPECT_EQ(difference(out, expected_product(shape, a, b, c, alpha, beta)), "")
      << shape.rows << " x " << shape.columns << " x " << shape.depth << ", form " << form << ", constant "
      << (given_b == Given::as_constant);
}

TEST(Product, EveryFormOfSmallMatrices) {
  std::mt19937 random(5);
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{1, 40, 30}, Shape{40, 1, 30}, Shape{7, 17, 257}, Shape{16, 16, 16},
                             Shape{17, 33, 5}, Shape{50, 15, 300}, Shape{15, 50, 0}, Shape{31, 64, 512}}) {
    for (unsigned form = 0; form < 16; ++form) {
      for (const Given given : {Given::each_time, Given::as_constant}) {
        expect_product(shape, form, given, random, form % 3 == 0);
      }
    }
  }
}

TEST(Product, EveryNumberOfRowsAndColumns) {
  std::mt19937 random(6);
  for (int64_t rows = 1; rows < 40; rows += kSanitized ? 6 : 1) {
    for (const int64_t columns : {1, 15, 16, 17, 31, 32, 33, 49}) {
      expect_product({rows, columns, 70}, static_cast<unsigned>(rows) % 16, Given::as_constant, random);
      expect_product({rows, columns, 70}, static_cast<unsigned>(rows) % 16, Given::each_time, random);
    }
  }
}

// Several tiles, shared by threads.
TEST(Product, LargeMatrices) {
  std::mt19937 random(7);
  for (const Shape& shape :
       {Shape{200, 530, 600}, Shape{1, 3000, 1000}, Shape{5, 1000, 700}, Shape{1500, 3, 500}, Shape{100, 100, 2000}}) {
    for (const unsigned form : {0U, 1U, 2U, 15U}) {
      if (kThreadSanitizer && form != 0) {  // the forms differ in packing, which the small matrices cover
        continue;
      }
      expect_product(shape, form, Given::as_constant, random);
      expect_product(shape, form, Given::each_time, random);
    }
  }
}

// Enough outputs for a GPU's widest tiles; the cases above already cover the CPU.
TEST(Product, WidestTilesOfAGpu) {
  const char* const adapter = std::getenv("ANYDML_ADAPTER");
  if (adapter == nullptr || std::string_view(adapter) != "cuda") {
    GTEST_SKIP() << "ANYDML_ADAPTER is not cuda";
  }
  std::mt19937 random(9);
  for (const unsigned form : {0U, 1U, 2U, 3U, 15U}) {
    expect_product({2040, 2045, 513}, form, Given::each_time, random);
    expect_product({2048, 2048, 513}, form, Given::each_time, random);
  }
}

Bytes bytes_of(const Floats& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A layer's bias, residual and activation, which are fused into the product, and intermediate values that are also
// outputs.
TEST(Product, InAGraphWithItsNeighbors) {
  std::mt19937 random(8);
  for (const auto& [batch, shape] : {std::pair{int64_t{1}, Shape{9, 20, 30}},
                                     {2, {50, 70, 300}},
                                     {3, {200, 300, 40}},
                                     {4, {1, 64, 64}},
                                     {1, {100, 2, 50}}}) {
    for (unsigned how = 0; how < 8; ++how) {
      const Form a(ANYDML_FLOAT32, {batch, shape.rows, shape.depth});
      const Form b(ANYDML_FLOAT32, {batch, shape.depth, shape.columns}, {0, shape.columns, 1});
      const Form out(ANYDML_FLOAT32, {batch, shape.rows, shape.columns});
      Twin twin;
      const std::size_t x = twin.input(a, bytes_of(random_floats(batch * shape.rows * shape.depth, random)));
      Bytes weights = bytes_of(random_floats(shape.depth * shape.columns, random));
      const std::size_t w = (how & 1) != 0 ? twin.constant(b, std::move(weights)) : twin.input(b, std::move(weights));
      const std::size_t bias =
          twin.constant(Form(ANYDML_FLOAT32, {shape.columns}), bytes_of(random_floats(shape.columns, random)));
      const std::size_t residual = twin.input(out, bytes_of(random_floats(batch * shape.rows * shape.columns, random)));
      const std::size_t product = twin.run("GEMM", {x, w}, out, attributes_of(false, false, 0.9, 1));
      const std::size_t shifted = twin.run("ELEMENT_WISE_ADD", {product, bias}, out);
      const std::size_t sum = twin.run("ELEMENT_WISE_ADD", {shifted, residual}, out);
      const std::size_t cut = twin.run("ACTIVATION_RELU", {sum}, out);
      twin.output(cut);
      if ((how & 2) != 0) {
        twin.output(shifted);
      }
      if ((how & 4) != 0) {
        twin.output(product);
      }
      twin.compile();
      EXPECT_EQ(twin.difference(), "") << shape.rows << " x " << shape.columns << ", how " << how;
    }
  }
}

// FLOAT64 has the same order, and scales that FLOAT32 cannot represent. DirectML's operator rejects it.
TEST(Product, DoublesHaveTheSameOrder) {
  std::mt19937 random(43);
  std::normal_distribution<double> normal;
  for (const Shape& shape : {Shape{1, 37, 300}, Shape{37, 1, 300}, Shape{7, 9, 600}, Shape{100, 20, 257},
                             Shape{97, 300, 5}, Shape{5, 3, 0}, Shape{1, 1, 1}}) {
    for (unsigned form = 0; form < 4; ++form) {
      const bool transposed_b = (form & 1) != 0;
      const auto make = [&](int64_t count) {
        std::vector<double> values(static_cast<std::size_t>(count));
        for (double& value : values) {
          value = random() % 16 == 0 ? 0.0 : normal(random);
        }
        return values;
      };
      std::vector<double> a = make(shape.rows * shape.depth);
      std::vector<double> b = make(shape.depth * shape.columns);
      std::vector<double> c = make(shape.rows * shape.columns);
      std::vector<double> out(c.size(), 77.0);
      const Form of_a(ANYDML_FLOAT64, {shape.rows, shape.depth});
      const Form of_b(ANYDML_FLOAT64, transposed_b ? std::vector<int64_t>{shape.columns, shape.depth}
                                                   : std::vector<int64_t>{shape.depth, shape.columns});
      const Form of_c(ANYDML_FLOAT64, {shape.rows, shape.columns});
      const bool has_c = (form & 2) != 0;
      const anydml_tensor inputs[] = {of_a.tensor(a.data()), of_b.tensor(b.data()), of_c.tensor(c.data())};
      const anydml_tensor output = of_c.tensor(out.data());
      const auto attributes = attributes_of(false, transposed_b, 0.1, -1.7);
      ASSERT_EQ(anydml_run(nullptr, "GEMM", inputs, has_c ? 3 : 2, &output, 1, attributes.data(), attributes.size()),
                ANYDML_OK)
          << anydml_last_error();
      for (int64_t i = 0; i < shape.rows * shape.columns; ++i) {
        const int64_t row = i / shape.columns;
        const int64_t column = i % shape.columns;
        double total = 0;
        for (int64_t first = 0; first < shape.depth; first += 256) {
          double chain = 0;
          for (int64_t k = first; k < std::min(shape.depth, first + 256); ++k) {
            chain = std::fma(
                a[static_cast<std::size_t>(row * shape.depth + k)],
                b[static_cast<std::size_t>(transposed_b ? column * shape.depth + k : k * shape.columns + column)],
                chain);
          }
          total = first == 0 ? chain : total + chain;
        }
        const double scaled = 0.1 * total;
        const double added = -1.7 * c[static_cast<std::size_t>(i)];
        ASSERT_EQ(out[static_cast<std::size_t>(i)], has_c ? scaled + added : scaled)
            << shape.rows << " x " << shape.columns << " x " << shape.depth << ", form " << form << ", output " << i;
      }
    }
  }
}

std::string plan_of(std::string_view graph, std::uint32_t vector_bytes) {
  const DeviceTraits traits{.joins_from = 1, .vector_bytes = vector_bytes};
  std::string shown;
  const auto plans = compile_graph(parse_graph(graph), traits, &shown);
  if (!plans.ok()) {
    return plans.error().message;
  }
  return shown.substr(shown.find("node") + (shown.find("nodes\n") != std::string::npos ? 6 : 5));
}

TEST(ProductPlan, WeightsArePackedBeforehandAndTheEpilogueIsPartOfTheStep) {
  const char* const graph =
      "x = input 4800\n"
      "w = owned 3600\n"
      "bias = owned 120\n"
      "r = input 4800\n"
      "p = GEMM x:f32[40,30] w:f32[30,30] - -> f32[40,30] TransA=NONE TransB=NONE Alpha=1 Beta=1\n"
      "s = ADD p:f32[40,30] bias:f32[30] -> f32[40,30]\n"
      "t = ADD s:f32[40,30] r:f32[40,30] -> f32[40,30]\n"
      "y = ACTIVATION_RELU t:f32[40,30] -> f32[40,30]\n"
      "out y\n";
  EXPECT_EQ(plan_of(graph, 16),
            "initialize: %0 PRODUCT_PACK | reads input1 | writes persistent+256\n"
            "initialize: 1 step, 0 bytes of temporary for 0 bytes of values\n"
            "run: %1 PRODUCT; epilogue %2 ELEMENT_WISE_ADD, %3 ELEMENT_WISE_ADD, %4 ACTIVATION_RELU | reads input0, "
            "persistent+256, persistent+0, input3 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
  EXPECT_EQ(plan_of(graph, 0),
            "run: %0 PRODUCT; epilogue %1 ELEMENT_WISE_ADD, %2 ELEMENT_WISE_ADD, %3 ACTIVATION_RELU | reads input0, "
            "persistent+0, persistent+3840, input3 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(ProductPlan, UnknownWeightsArePackedForManyRowsOnly) {
  const auto graph = [](const std::string& rows) {
    return "x = input 4800\nw = input 3600\np = GEMM x:f32[" + rows + ",30] w:f32[30,30] - -> f32[" + rows +
           ",30] TransA=NONE TransB=TRANSPOSE Alpha=1 Beta=1\nout p\n";
  };
  EXPECT_EQ(plan_of(graph("40"), 64),
            "run: %0 PRODUCT_PACK | reads input1 | writes temporary+0\n"
            "run: %1 PRODUCT | reads input0, temporary+0 | writes output0\n"
            "run: 2 steps, 3840 bytes of temporary for 3840 bytes of values\n");
  EXPECT_EQ(plan_of(graph("4"), 64),
            "run: %0 PRODUCT | reads input0, input1 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(ProductPlan, AFusedActivationIsAnEpilogue) {
  EXPECT_EQ(plan_of("x = input 4800\n"
                    "w = owned 3600\n"
                    "p = GEMM x:f32[40,30] w:f32[30,30] - -> f32[40,30] TransA=NONE TransB=NONE Alpha=1 Beta=1 "
                    "FusedActivation=ACTIVATION_RELU\n"
                    "out p\n",
                    32),
            "initialize: %0 PRODUCT_PACK | reads input1 | writes persistent+0\n"
            "initialize: 1 step, 0 bytes of temporary for 0 bytes of values\n"
            "run: %1 PRODUCT; epilogue %2 ACTIVATION_RELU | reads input0, persistent+0 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(ProductErrors, NameTheField) {
  const auto error = [](const anydml_tensor& a, const anydml_tensor& b, const anydml_tensor& out) {
    const anydml_tensor inputs[] = {a, b};
    const auto attributes = attributes_of(false, false, 1, 1);
    EXPECT_NE(anydml_run(nullptr, "GEMM", inputs, 2, &out, 1, attributes.data(), attributes.size()), ANYDML_OK);
    return std::string(anydml_last_error());
  };
  float data[64] = {};
  const Form square(ANYDML_FLOAT32, {4, 4});
  const Form narrow(ANYDML_FLOAT32, {3, 4});
  const Form flat(ANYDML_FLOAT32, {1});
  const Form integers(ANYDML_INT32, {4, 4});
  EXPECT_EQ(
      error(square.tensor(data), narrow.tensor(data), square.tensor(data)),
      "GEMM: BTensor.Sizes[0] is 3; expected ATensor.Sizes[1] if TransA is NONE, otherwise ATensor.Sizes[0], which "
      "is 4, since TransB is NONE");
  EXPECT_EQ(error(flat.tensor(data), flat.tensor(data), flat.tensor(data)),
            "GEMM: OutputTensor: has 1 dimension; expected rows and columns");
  EXPECT_EQ(error(integers.tensor(data), integers.tensor(data), integers.tensor(data)),
            "GEMM: ATensor: type is INT32; expected FLOAT32, FLOAT16, FLOAT64");
}

}  // namespace
}  // namespace anydml::test
