// SPDX-License-Identifier: MIT
// Tests FLOAT16 GEMM when results may differ from the defined bits. The results are compared with FLOAT64 sums, within
// the bound given in docs/numerics.md, so the tests pass on every device, whether or not it uses this permission. The
// plan tests describe a device that supports such products, so no such device needs to be present.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/process.h"
#include "graph/compile.h"
#include "programs/programs.h"
#include "support/graph_text.h"
#include "support/graph_twin.h"
#include "support/oracle.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

anydml_attribute text(const char* name, const char* value) {
  anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
  attribute.value.text = value;
  return attribute;
}

// A tensor of matrices, in elements. It begins `offset` bytes after a multiple of 16.
struct Matrices {
  int64_t batch_stride;
  int64_t row_stride;
  int64_t column_stride;
  int64_t offset = 0;

  [[nodiscard]] int64_t at(int64_t batch, int64_t row, int64_t column) const {
    return batch * batch_stride + row * row_stride + column * column_stride;
  }
};

struct Problem {
  int64_t batches;
  int64_t rows;
  int64_t columns;
  int64_t depth;
  bool transposed_a = false;
  bool transposed_b = false;
  bool has_c = false;
  double alpha = 1;
  double beta = 1;
  Matrices a{};
  Matrices b{};
  Matrices c{};
  Matrices output{};
  const char* activation = nullptr;
  bool special = false;  // A and B have an infinity and a NaN

  // Resets the tensors to packed layouts.
  void pack() {
    const auto packed = [](int64_t high, int64_t wide) {
      return Matrices{.batch_stride = high * wide, .row_stride = wide, .column_stride = 1};
    };
    a = transposed_a ? packed(depth, rows) : packed(rows, depth);
    b = transposed_b ? packed(columns, depth) : packed(depth, columns);
    c = packed(rows, columns);
    output = packed(rows, columns);
  }
  [[nodiscard]] std::string name() const {
    return std::to_string(batches) + " of " + std::to_string(rows) + " x " + std::to_string(columns) + " x " +
           std::to_string(depth) + (transposed_a ? ", A transposed" : "") + (transposed_b ? ", B transposed" : "") +
           (has_c ? ", C" : "") + ", alpha " + std::to_string(alpha) + ", beta " + std::to_string(beta) + ", pitches " +
           std::to_string(a.row_stride) + " " + std::to_string(b.row_stride) + " " + std::to_string(c.row_stride) +
           " " + std::to_string(output.row_stride) + ", offset " + std::to_string(a.offset);
  }
};

double half_at(const Bytes& bytes, const Matrices& matrices, int64_t element) {
  f16 half{};
  std::memcpy(&half, &bytes[static_cast<std::size_t>(matrices.offset + element * 2)], sizeof(half));
  return to_double(half);
}

// An operand of a graph: bytes, and the tensor as a view of them.
struct Operand {
  Form form;
  Bytes bytes;

  Operand(const Matrices& matrices, int64_t batches, int64_t high, int64_t wide)
      : form(ANYDML_FLOAT16, {batches, high, wide},
             {matrices.batch_stride, matrices.row_stride, matrices.column_stride}),
        bytes(static_cast<std::size_t>(matrices.offset) + form.bytes()) {}

  void fill(const Matrices& matrices, std::mt19937& random) {
    std::normal_distribution<double> normal;
    for (std::size_t i = static_cast<std::size_t>(matrices.offset); i + 1 < bytes.size(); i += 2) {
      const auto half = from_double<f16>(normal(random));
      std::memcpy(&bytes[i], &half, sizeof(half));
    }
  }
  [[nodiscard]] anydml_value add_to(anydml_graph* graph, const Matrices& matrices) const {
    const Form whole(ANYDML_UINT8, {static_cast<int64_t>(bytes.size())});
    const Form rest(ANYDML_UINT8, {static_cast<int64_t>(form.bytes())});
    const anydml_tensor tensors[] = {whole.tensor(), rest.tensor(), form.tensor()};
    anydml_value all = 0;
    anydml_value part = 0;
    anydml_value value = 0;
    EXPECT_EQ(anydml_graph_add_input(graph, &tensors[0], &all), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(anydml_graph_add_view_at(graph, all, &tensors[1], matrices.offset, &part), ANYDML_OK)
        << anydml_last_error();
    EXPECT_EQ(anydml_graph_add_view(graph, part, &tensors[2], &value), ANYDML_OK) << anydml_last_error();
    return value;
  }
};

// The bound given in docs/numerics.md: FLOAT32 sums in any order, in which each addition may truncate, and one rounding
// to FLOAT16.
double bound_of(double exact, double magnitudes, int64_t depth) {
  const double of_sum = static_cast<double>(depth + 4) * 0x1p-23 * magnitudes;
  return of_sum + std::max((std::fabs(exact) + of_sum) * 0x1p-11, 0x1p-25);
}

// Runs a problem as a graph with the permission. Returns a description of the first error, or an empty string.
std::string run_problem(const Problem& problem, std::mt19937& random) {
  const auto [batches, rows, columns, depth] =
      std::tuple(problem.batches, problem.rows, problem.columns, problem.depth);
  Operand a(problem.a, batches, problem.transposed_a ? depth : rows, problem.transposed_a ? rows : depth);
  Operand b(problem.b, batches, problem.transposed_b ? columns : depth, problem.transposed_b ? depth : columns);
  Operand c(problem.c, batches, rows, columns);
  Operand output(problem.output, batches, rows, columns);
  a.fill(problem.a, random);
  b.fill(problem.b, random);
  c.fill(problem.c, random);
  if (problem.special) {
    const auto infinite = from_double<f16>(INFINITY);
    const auto nan = from_double<f16>(NAN);
    std::memcpy(&a.bytes[static_cast<std::size_t>(problem.a.offset)], &infinite, sizeof(infinite));
    std::memcpy(&b.bytes[b.bytes.size() - sizeof(nan)], &nan, sizeof(nan));
  }

  anydml_graph* graph = nullptr;
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  std::vector<anydml_value> values = {a.add_to(graph, problem.a), b.add_to(graph, problem.b)};
  std::vector<const void*> inputs = {a.bytes.data(), b.bytes.data()};
  if (problem.has_c) {
    values.push_back(c.add_to(graph, problem.c));
    inputs.push_back(c.bytes.data());
  }
  std::vector<anydml_attribute> attributes = {text("TransA", problem.transposed_a ? "TRANSPOSE" : "NONE"),
                                              text("TransB", problem.transposed_b ? "TRANSPOSE" : "NONE"),
                                              number("Alpha", problem.alpha), number("Beta", problem.beta)};
  const anydml_operator activation = {problem.activation, nullptr, 0};
  if (problem.activation != nullptr) {
    attributes.push_back({"FusedActivation", ANYDML_OPERATOR, 0, {}});
    attributes.back().value.operators = &activation;
  }
  const anydml_tensor built = output.form.tensor();
  anydml_value value = 0;
  const bool good = anydml_graph_add_operator(graph, "GEMM", values.data(), values.size(), &built, 1, attributes.data(),
                                              attributes.size(), &value) == ANYDML_OK &&
                    anydml_graph_add_output(graph, value) == ANYDML_OK;
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.flags = ANYDML_ALLOW_HALF_PRECISION;
  void* const outputs[] = {output.bytes.data()};
  const bool ran = good && anydml_graph_compile_with(graph, &options, &compiled) == ANYDML_OK &&
                   anydml_compiled_run(compiled, inputs.data(), inputs.size(), outputs, 1) == ANYDML_OK;
  const std::string error = ran ? "" : anydml_last_error();
  anydml_compiled_release(compiled);
  anydml_graph_release(graph);
  if (!ran) {
    return problem.name() + ": " + error;
  }

  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        double exact = 0;
        double magnitudes = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const double product =
              half_at(a.bytes, problem.a,
                      problem.transposed_a ? problem.a.at(batch, k, row) : problem.a.at(batch, row, k)) *
              half_at(b.bytes, problem.b,
                      problem.transposed_b ? problem.b.at(batch, column, k) : problem.b.at(batch, k, column));
          exact += product;
          magnitudes += std::fabs(product);
        }
        exact *= problem.alpha;
        magnitudes *= std::fabs(problem.alpha);
        if (problem.has_c) {
          const double added = problem.beta * half_at(c.bytes, problem.c, problem.c.at(batch, row, column));
          exact += added;
          magnitudes += std::fabs(added);
        }
        const double shown = problem.activation != nullptr ? std::max(exact, 0.0) : exact;
        const double result = half_at(output.bytes, problem.output, problem.output.at(batch, row, column));
        const double bound = bound_of(exact, magnitudes, depth);
        const bool is_right = std::isnan(exact)   ? std::isnan(result)
                              : std::isinf(exact) ? result == shown
                                                  : std::fabs(result - shown) <= bound;
        if (!is_right) {
          return problem.name() + ": output [" + std::to_string(batch) + ", " + std::to_string(row) + ", " +
                 std::to_string(column) + "] is " + std::to_string(result) + ", expected " + std::to_string(shown) +
                 " within " + std::to_string(bound);
        }
      }
    }
  }
  return "";
}

std::vector<Problem> shapes() {
  std::vector<Problem> built = {{1, 1, 1, 1},    {1, 1, 64, 128}, {1, 64, 1, 128},    {1, 17, 33, 5}, {1, 64, 64, 64},
                                {3, 24, 40, 56}, {2, 7, 9, 11},   {1, 128, 256, 512}, {4, 1, 16, 32}, {1, 8, 8, 2048}};
  if (!kSanitized) {
    built.push_back({1, 200, 136, 1000});
    built.push_back({1, 16, 24, 20'000});  // few outputs with long sums, which are split
  }
  return built;
}

TEST(HalfProduct, EveryFormIsWithinTheBound) {
  std::mt19937 random(11);
  for (Problem problem : shapes()) {
    for (unsigned form = 0; form < 16; ++form) {
      problem.transposed_a = (form & 1) != 0;
      problem.transposed_b = (form & 2) != 0;
      problem.has_c = (form & 4) != 0;
      problem.alpha = (form & 8) != 0 ? 0.37F : 1.0F;
      problem.beta = (form & 8) != 0 ? -1.3F : 1.0F;
      problem.pack();
      EXPECT_EQ(run_problem(problem, random), "");
    }
  }
}

// Pitches, batches that repeat or are interleaved, column-major matrices, and a C that is a row or a column.
TEST(HalfProduct, EveryLayoutIsWithinTheBound) {
  std::mt19937 random(12);
  Problem problem{.batches = 3, .rows = 24, .columns = 40, .depth = 56};
  problem.has_c = true;
  problem.beta = 0.75;
  const auto expect = [&](auto change) {
    Problem changed = problem;
    changed.pack();
    change(changed);
    EXPECT_EQ(run_problem(changed, random), "");
  };
  expect([](Problem& p) { p.a = {.batch_stride = 24 * 64, .row_stride = 64, .column_stride = 1}; });
  expect([](Problem& p) { p.a = {.batch_stride = 24 * 57, .row_stride = 57, .column_stride = 1}; });
  expect([](Problem& p) { p.a.batch_stride = 0; });
  expect([](Problem& p) { p.b.batch_stride = 0; });
  expect([](Problem& p) { p.a.batch_stride = p.b.batch_stride = 0; });
  expect([](Problem& p) { p.b = {.batch_stride = 56 * 40, .row_stride = 1, .column_stride = 56}; });
  expect([](Problem& p) { p.a = {.batch_stride = 56 * 24, .row_stride = 1, .column_stride = 24}; });
  expect([](Problem& p) { p.a = {.batch_stride = 56, .row_stride = 3 * 56, .column_stride = 1}; });
  expect([](Problem& p) { p.a = {.batch_stride = 24 * 112, .row_stride = 112, .column_stride = 2}; });
  expect([](Problem& p) { p.output = {.batch_stride = 24 * 48, .row_stride = 48, .column_stride = 1}; });
  expect([](Problem& p) { p.output = {.batch_stride = 40, .row_stride = 3 * 40, .column_stride = 1}; });
  expect([](Problem& p) { p.output = {.batch_stride = 24 * 40, .row_stride = 1, .column_stride = 24}; });
  expect([](Problem& p) { p.c = {.batch_stride = 24 * 44, .row_stride = 44, .column_stride = 1}; });
  expect([](Problem& p) { p.c = {.batch_stride = 0, .row_stride = 0, .column_stride = 1}; });
  expect([](Problem& p) { p.c = {.batch_stride = 0, .row_stride = 1, .column_stride = 0}; });
  expect([](Problem& p) { p.c.batch_stride = 0; });
  expect([](Problem& p) { p.beta = 0; });
  expect([](Problem& p) { p.alpha = 0; });
  expect([](Problem& p) { p.activation = "ACTIVATION_RELU"; });
  expect([](Problem& p) {
    p.activation = "ACTIVATION_RELU";
    p.c = {.batch_stride = 0, .row_stride = 0, .column_stride = 1};
  });
}

// Addresses that are aligned only to an element, and odd addresses.
TEST(HalfProduct, AnyAddressIsWithinTheBound) {
  std::mt19937 random(13);
  for (const int64_t offset : {1, 2, 8, 16, 18}) {
    for (const bool has_c : {false, true}) {
      Problem problem{.batches = 2, .rows = 24, .columns = 40, .depth = 56};
      problem.has_c = has_c;
      problem.pack();
      problem.a.offset = offset;
      problem.b.offset = has_c ? offset : 0;
      problem.c.offset = offset;
      EXPECT_EQ(run_problem(problem, random), "");
    }
  }
}

TEST(HalfProduct, InfinitiesAndNanAreThoseOfTheSum) {
  std::mt19937 random(15);
  for (Problem problem : {Problem{1, 24, 40, 56}, Problem{2, 5, 7, 9}}) {
    problem.special = true;
    for (const bool has_c : {false, true}) {
      problem.has_c = has_c;
      problem.pack();
      EXPECT_EQ(run_problem(problem, random), "");
    }
  }
}

// The log names the kernel that runs. A device without such products says so in its log, and there is nothing to check.
TEST(HalfProduct, TheLogNamesTheLibraryWhereItRuns) {
  const anydml_device_info* const device = anydml_device_get_info(nullptr);
  ASSERT_NE(device, nullptr) << anydml_last_error();
  if (!std::string(device->name).starts_with("cuda")) {
    GTEST_SKIP() << device->name << " only has FLOAT16 products with the defined bits";
  }
  static std::string lines;
  lines.clear();
  ASSERT_EQ(anydml_set_log([](void*, int, const char* line) { lines.append(line).append("\n"); }, nullptr,
                           ANYDML_LOG_DISPATCH),
            ANYDML_OK);
  std::mt19937 random(14);
  Problem problem{.batches = 1, .rows = 64, .columns = 64, .depth = 64};
  problem.pack();
  EXPECT_EQ(run_problem(problem, random), "");
  ASSERT_EQ(anydml_set_log(nullptr, nullptr, 0), ANYDML_OK);
  if (lines.find("cannot run the FLOAT16 products") != std::string::npos) {
    GTEST_SKIP() << lines;
  }
  EXPECT_NE(lines.find("FLOAT16 by cuBLASLt"), std::string::npos) << lines;
}

// ---- Plans ----

constexpr DeviceTraits kHalves{.joins_from = 1, .half_products = true};

// The first step of the plan for a GEMM with these tensors: "x:f16[..] w:f16[..] c -> f16[..] attributes".
std::string plan_of(const std::string& gemm, const DeviceTraits& traits = kHalves) {
  const std::string graph = "x = input 100000\nw = input 100000\nc = input 100000\np = GEMM " + gemm + "\nout p\n";
  std::string shown;
  const auto plans = compile_graph(parse_graph(graph), traits, &shown);
  if (!plans.ok()) {
    return plans.error().message;
  }
  std::string steps;
  for (std::size_t at = shown.find("run: %"); at != std::string::npos; at = shown.find("run: %", at + 1)) {
    const std::size_t begin = shown.find(' ', at + 5) + 1;
    steps += (steps.empty() ? "" : ", ") + shown.substr(begin, shown.find(" |", begin) - begin);
  }
  return steps;
}
constexpr char kPlain[] = " TransA=NONE TransB=NONE Alpha=1 Beta=1";

bool is_half(const std::string& gemm) { return plan_of(gemm).find("HALF_PRODUCT") != std::string::npos; }

TEST(HalfProductPlan, IsOneStepWhereItIsAllowed) {
  const std::string gemm = std::string("x:f16[40,30] w:f16[30,20] - -> f16[40,20]") + kPlain;
  EXPECT_EQ(plan_of(gemm), "HALF_PRODUCT");
  DeviceTraits exact = kHalves;
  exact.half_products = false;
  EXPECT_EQ(plan_of(gemm, exact).find("HALF_PRODUCT"), std::string::npos) << plan_of(gemm, exact);
  EXPECT_EQ(plan_of(std::string("x:f32[40,30] w:f32[30,20] - -> f32[40,20]") + kPlain), "PRODUCT");
}

TEST(HalfProductPlan, TheCallerAndTheDeviceMustBothAllowIt) {
  const auto allowed = [](bool has, bool allow) {
    const DeviceTraits device{.half_products = has};
    return lowering_traits(device, {.allow_half = allow}).value().half_products;
  };
  EXPECT_TRUE(allowed(true, true));
  EXPECT_FALSE(allowed(true, false));
  EXPECT_FALSE(allowed(false, true));
}

// The CPU simulates a device that claims to have such products and then cannot run one.
TEST(HalfProductPlan, ADeviceThatRefusesItGetsThePlanOfTheDefinedBits) {
  const BackendTable& backend = cpu_backend();
  const BackendSettings settings{.threads = 1, .cpu_target = ""};
  BackendDevice* device = nullptr;
  BackendDeviceInfo info{};
  {
    const std::unique_lock lock(process_mutex());
    ASSERT_EQ(backend.open(0, &settings, &device).code, BackendCode::ok);
  }
  backend.describe(device, &info);
  info.traits.half_products = true;
  const CoreDevice core{.backend = &backend, .handle = device, .info = &info};
  const Graph graph = parse_graph(std::string("x = input 2400\nw = input 1200\np = GEMM x:f16[40,30] w:f16[30,20] - -> "
                                              "f16[40,20]") +
                                  kPlain + "\nout p\n");
  std::string shown;
  {
    const auto programs = compile_programs(graph, core, "test", &shown, {.allow_half = true});
    EXPECT_TRUE(programs.ok()) << programs.error().message;
  }
  EXPECT_NE(shown.find("PRODUCT"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("HALF_PRODUCT"), std::string::npos) << shown;
  backend.close(device);
}

TEST(HalfProductPlan, LayoutsThatFit) {
  for (const char* gemm :
       {"x:f16[40,30] w:f16[30,20] c:f16[40,20] -> f16[40,20]", "x:f16[40,30/32,1] w:f16[30,20/24,1] - -> f16[40,20]",
        "x:f16[40,30/1,40] w:f16[30,20/1,30] - -> f16[40,20]", "x:f16[40,30] w:f16[30,20] - -> f16[40,20/24,1]",
        "x:f16[3,40,30] w:f16[3,30,20/0,20,1] - -> f16[3,40,20]",
        "x:f16[3,40,30/0,30,1] w:f16[3,30,20] - -> f16[3,40,20]",
        "x:f16[3,40,30/30,90,1] w:f16[3,30,20] - -> f16[3,40,20/20,60,1]",
        "x:f16[2,3,40,30] w:f16[2,3,30,20] - -> f16[2,3,40,20]",
        "x:f16[2,3,40,30/0,1200,30,1] w:f16[2,3,30,20/600,0,20,1] - -> f16[2,3,40,20]",
        "x:f16[1,30] w:f16[30,1] - -> f16[1,1]", "x:f16[3,1,30/0,30,1] w:f16[3,30,20/0,20,1] - -> f16[3,1,20]"}) {
    EXPECT_EQ(plan_of(std::string(gemm) + kPlain), "HALF_PRODUCT") << gemm;
  }
}

TEST(HalfProductPlan, LayoutsThatDoNotFitHaveTheDefinedBits) {
  for (const char* gemm :
       {"x:f16[40,30/60,2] w:f16[30,20] - -> f16[40,20]", "x:f16[40,30/1,1] w:f16[30,20] - -> f16[40,20]",
        "x:f16[40,30/0,1] w:f16[30,20] - -> f16[40,20]", "x:f16[40,30] w:f16[30,20] - -> f16[40,20/1,40]",
        "x:f16[2,3,40,30] w:f16[2,3,30,20/600,1200,20,1] - -> f16[2,3,40,20]"}) {
    EXPECT_FALSE(is_half(std::string(gemm) + kPlain)) << gemm;
  }
  // A library would skip the product, and with it infinities and NaN.
  EXPECT_FALSE(is_half("x:f16[40,30] w:f16[30,20] - -> f16[40,20] TransA=NONE TransB=NONE Alpha=0 Beta=1"));
}

TEST(HalfProductPlan, AnActivationAndAnAwkwardCAreStepsAfterIt) {
  const std::string gemm = "x:f16[40,30] w:f16[30,20] ";
  EXPECT_EQ(plan_of(gemm + "- -> f16[40,20]" + kPlain + " FusedActivation=ACTIVATION_RELU"),
            "HALF_PRODUCT, ACTIVATION_RELU");
  EXPECT_EQ(plan_of(gemm + "c:f16[40,20/0,1] -> f16[40,20]" + kPlain).find("HALF_PRODUCT, "), 0U)
      << plan_of(gemm + "c:f16[40,20/0,1] -> f16[40,20]" + kPlain);
  // A library would not read C, whose infinities and NaN must propagate.
  EXPECT_NE(plan_of(gemm + "c:f16[40,20] -> f16[40,20] TransA=NONE TransB=NONE Alpha=1 Beta=0"), "HALF_PRODUCT");
  EXPECT_TRUE(is_half(gemm + "c:f16[40,20] -> f16[40,20] TransA=NONE TransB=NONE Alpha=1 Beta=0"));
}

}  // namespace
}  // namespace anydml::test
