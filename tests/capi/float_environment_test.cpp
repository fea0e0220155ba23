// SPDX-License-Identifier: MIT
// The caller may have set any rounding, flush or trap mode. No bit of a result may depend on these modes, and the
// caller's modes and exception flags must be preserved. operator_digests --upwards covers the operators that these
// tests cannot call.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <span>
#include <string_view>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "support/oracle.h"
#include "support/tensor.h"

namespace anydml::test {
namespace {

// Makes the machine flush subnormals to zero when it reads and writes them.
void set_flush(bool on) {
#if defined(__x86_64__)
  constexpr unsigned kFlushAndZero = 0x8040;
  _mm_setcsr(on ? _mm_getcsr() | kFlushAndZero : _mm_getcsr() & ~kFlushAndZero);
#elif defined(__aarch64__)
  constexpr u64 kFlushBoth = u64{1} << 24 | u64{1} << 19;
  u64 control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  control = on ? control | kFlushBoth : control & ~kFlushBoth;
  asm volatile("msr fpcr, %0" : : "r"(control));
#else
  (void)on;
#endif
}

u64 modes() {
#if defined(__x86_64__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  u64 control = 0;
  u64 flags = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  asm volatile("mrs %0, fpsr" : "=r"(flags));
  return control << 32 | flags;
#else
  return static_cast<u64>(std::fegetround());
#endif
}

struct Modes {
  int rounding;
  bool flush;
};
constexpr Modes kModes[] = {{FE_DOWNWARD, true}, {FE_TONEAREST, false}, {FE_TONEAREST, true},   {FE_UPWARD, false},
                            {FE_UPWARD, true},   {FE_DOWNWARD, false},  {FE_TOWARDZERO, false}, {FE_TOWARDZERO, true}};

// Sets modes for its lifetime. It also enables traps on machines that support them, so a trap would kill this program.
class WithModes {
 public:
  explicit WithModes(Modes wanted) {
    std::fesetround(wanted.rounding);
    set_flush(wanted.flush);
    feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  }
  ~WithModes() {
    fedisableexcept(FE_ALL_EXCEPT);
    set_flush(false);
    std::fesetround(FE_TONEAREST);
  }
  WithModes(const WithModes&) = delete;
  WithModes& operator=(const WithModes&) = delete;
};

// Pairs from every distribution, mixed with special values.
template <class T>
void draw_operands(std::vector<T>& a, std::vector<T>& b) {
  Random random(kSeed);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto pair = draw<T>(kDistributions[i % 4], random);
    a[i] = i % 3 == 0 ? any_value<T>(random) : pair.a;
    b[i] = i % 5 == 0 ? any_value<T>(random) : pair.b;
  }
}

// Every implemented operator, with its attributes and a ScaleBias if it accepts them. The first call in the process,
// which creates the workers, runs under the most unusual modes.
template <class T>
void check_all_operators() {
  constexpr std::size_t kCount = 40'000;
  constexpr int64_t kSide = 200;  // the side of a square matrix of kCount elements
  std::vector<T> a(kCount);
  std::vector<T> b(kCount);
  std::vector<T> out(kCount);
  draw_operands(a, b);
  const int64_t sizes[] = {kCount};
  const auto type = static_cast<anydml_type>(kDataTypeOf<T>);
  const anydml_tensor first = {type, 1, sizes, nullptr, a.data()};
  const anydml_tensor second = {type, 1, sizes, nullptr, b.data()};
  const anydml_tensor bytes = {ANYDML_UINT8, 1, sizes, nullptr, a.data()};
  const auto number = [](const char* name, double value) {
    anydml_attribute attribute = {name, ANYDML_FLOAT64, 0, {}};
    attribute.value.f64 = value;
    return attribute;
  };
  // The choices are no attributes, bounds, a ScaleBias, both, a value and so on. Each operator rejects the attributes
  // that it does not accept.
  using List = std::vector<anydml_attribute>;
  const List bounds = {number("Min", -0.1), number("Max", 1000.3)};
  const List scale_bias = {number("Scale", 0.3), number("Bias", -1e-3)};
  List both = bounds;
  both.insert(both.end(), scale_bias.begin(), scale_bias.end());
  std::vector<List> choices = {{},
                               bounds,
                               scale_bias,
                               both,
                               {number("Min", -0.1)},
                               {number("Value", 0.1)},
                               {number("ValueStart", 0.1), number("ValueDelta", 0.3)},
                               {number("Alpha", 0.3)},
                               {number("Alpha", 0.3), number("Beta", 0.1)},
                               {number("Alpha", 0.3), number("Gamma", 1.1)},
                               {number("Exponent", 0.3)},
                               {number("Steepness", 1.3)},
                               {number("SigmoidInputScale", 0.7)},
                               {number("Bias", 0.3), number("Threshold", 0.1)},
                               {number("RoundingMode", 0)},
                               {number("InfinityMode", 0)}};
  // Reductions have rows longer than a block.
  const int64_t row_sizes[] = {8, kCount / 8};
  const int64_t reduced_sizes[] = {8, 1};
  const int64_t axis[] = {1};
  const auto named = [](const char* name, const char* value) {
    anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
    attribute.value.text = value;
    return attribute;
  };
  anydml_attribute axes = {"Axes", uint32_t{ANYDML_INT64} | uint32_t{ANYDML_ARRAY}, 1, {}};
  axes.value.i64s = axis;
  choices.push_back({axes, named("AxisDirection", "INCREASING")});
  choices.push_back({axes});  // softmax and related operators
  for (const char* function : {"SUM", "AVERAGE", "L1", "L2", "SUM_SQUARE", "MULTIPLY", "MAX", "MIN"}) {
    choices.push_back({axes, named("Function", function)});
  }
  // Products have square matrices.
  const int64_t matrix_sizes[] = {kSide, kSide};
  choices.push_back(
      {named("TransA", "NONE"), named("TransB", "TRANSPOSE"), number("Alpha", 0.3), number("Beta", -1.1)});
  // Operators that move elements.
  static constexpr std::string_view kMoves[] = {"SPLIT",           "JOIN",
                                                "SLICE",           "SLICE1",
                                                "SLICE_GRAD",      "PADDING",
                                                "PADDING1",        "TILE",
                                                "SPACE_TO_DEPTH",  "SPACE_TO_DEPTH1",
                                                "DEPTH_TO_SPACE",  "DEPTH_TO_SPACE1",
                                                "DIAGONAL_MATRIX", "DIAGONAL_MATRIX1"};
  const int64_t image_sizes[] = {2, 4, 50, kCount / 400};
  const int64_t zeros[] = {0, 0, 0, 0};
  const int64_t ones[] = {1, 1, 1, 1};
  const auto listed = [](const char* name, const int64_t* values) {
    anydml_attribute attribute = {name, uint32_t{ANYDML_INT64} | uint32_t{ANYDML_ARRAY}, 4, {}};
    attribute.value.i64s = values;
    return attribute;
  };
  choices.insert(choices.end(), {{number("Axis", 0)},
                                 {listed("Offsets", zeros), listed("Sizes", image_sizes), listed("Strides", ones)},
                                 {listed("InputWindowOffsets", zeros), listed("InputWindowSizes", image_sizes),
                                  listed("InputWindowStrides", ones)},
                                 {named("PaddingMode", "CONSTANT"), number("PaddingValue", 0.1),
                                  listed("StartPadding", zeros), listed("EndPadding", zeros)},
                                 {listed("Repeats", ones)},
                                 {number("BlockSize", 1)},
                                 {number("BlockSize", 1), named("Order", "DEPTH_COLUMN_ROW")},
                                 {number("Offset", 1), number("Value", 0.1)},
                                 {number("Value", 0.1), number("DiagonalFillBegin", 0), number("DiagonalFillEnd", 2)}});
  choices.push_back({named("QuantizationType", "SCALE")});
  // TOP_K returns the first element of each row and its index.
  choices.push_back({number("Axis", 1), number("K", 1)});
  choices.push_back({number("Axis", 1), number("K", 1), named("AxisDirection", "INCREASING")});
  std::vector<uint32_t> chosen(kCount);
  std::vector<u64> indices(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    indices[i] = i ^ 1;
  }
  // Windows are 3-by-3, around each element.
  const int64_t threes[] = {3, 3};
  const auto pair = [](const char* name, const int64_t* values) {
    anydml_attribute attribute = {name, uint32_t{ANYDML_INT64} | uint32_t{ANYDML_ARRAY}, 2, {}};
    attribute.value.i64s = values;
    return attribute;
  };
  const List windows = {pair("WindowSize", threes), pair("Strides", ones), pair("StartPadding", ones),
                        pair("EndPadding", ones)};
  const auto with = [](List list, const List& more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  for (const List& all : {windows, with(windows, {pair("Dilations", ones)})}) {
    choices.insert(choices.end(), {all, with(all, {number("IncludePadding", 0)}), with(all, {number("P", 2)}),
                                   with(all, {number("P", 3)})});
  }
  choices.insert(choices.end(), {{number("Spatial", 1), number("Epsilon", 0.1)},
                                 {number("CrossChannel", 1), number("NormalizeVariance", 1), number("Epsilon", 0.1)},
                                 {axes, number("NormalizeVariance", 1), number("Epsilon", 0.1)},
                                 {axes, number("UseMean", 1), number("UseVariance", 1), number("Epsilon", 0.1)},
                                 {number("CrossChannel", 1), number("LocalSize", 3), number("Alpha", 0.3),
                                  number("Beta", 0.7), number("Bias", 1.1)},
                                 {number("Axis", 1), number("Epsilon", 0.1), number("P", 2)}});
  for (std::size_t n = 0; n < anydml_operator_count(); ++n) {
    const anydml_operator_info& info = *anydml_operator_at(n);
    const bool is_top_k = std::string_view(info.name).starts_with("TOP_K");
    const bool is_choice = std::string_view(info.name) == "ELEMENT_WISE_IF";
    if (info.is_built == 0 || ((info.types >> type & 1) == 0 && !is_choice)) {
      continue;  // integer operators do not depend on the modes
    }
    const bool is_reduce = std::string_view(info.name) == "REDUCE";
    const bool is_arg = std::string_view(info.name).starts_with("ARG");
    const bool is_product = std::string_view(info.name) == "GEMM";
    const bool is_row_wise =
        std::string_view(info.name).starts_with("ACTIVATION_") && std::string_view(info.name).ends_with("MAX1");
    const anydml_tensor matrix = {type, 2, matrix_sizes, nullptr, a.data()};
    const anydml_tensor other_matrix = {type, 2, matrix_sizes, nullptr, b.data()};
    const bool is_pool = std::string_view(info.name).find("POOLING") != std::string_view::npos;
    const bool is_unpooling = std::string_view(info.name) == "MAX_UNPOOLING";
    const bool is_max_gradient = std::string_view(info.name) == "MAX_POOLING_GRAD";
    const bool normalizes = std::string_view(info.name).find("NORMALIZATION") != std::string_view::npos;
    const bool is_image = normalizes || is_pool || std::ranges::find(kMoves, info.name) != std::end(kMoves);
    const anydml_tensor image = {type, 4, image_sizes, nullptr, a.data()};
    const anydml_tensor positions = {ANYDML_UINT64, 4, image_sizes, nullptr, indices.data()};
    const anydml_tensor rows = {type, 2, row_sizes, nullptr, a.data()};
    // Operators with mixed types use bytes where they require them: for a condition, a zero point or a truth value.
    const bool quantizes = std::string_view(info.name) == "ELEMENT_WISE_QUANTIZE_LINEAR";
    std::vector<anydml_tensor> inputs = {is_product                                       ? matrix
                                         : is_image                                       ? image
                                         : is_reduce || is_arg || is_row_wise || is_top_k ? rows
                                         : is_choice                                      ? bytes
                                                                                          : first,
                                         is_product                      ? other_matrix
                                         : is_unpooling                  ? positions
                                         : normalizes || is_max_gradient ? image
                                         : is_choice                     ? first
                                                                         : second,
                                         is_product   ? matrix
                                         : normalizes ? image
                                         : quantizes  ? bytes
                                                      : second,
                                         image, image};
    inputs.resize(std::max<std::size_t>(inputs.size(), info.input_count), image);  // as many as the operator requires
    std::vector<anydml_tensor> outputs;
    if (is_image) {
      outputs = {{type, 4, image_sizes, nullptr, out.data()}};
    } else if (is_product) {
      outputs = {{type, 2, matrix_sizes, nullptr, out.data()}};
    } else if (is_row_wise) {
      outputs = {{type, 2, row_sizes, nullptr, out.data()}};
    } else if (is_top_k) {
      outputs = {{type, 2, reduced_sizes, nullptr, out.data()},
                 {ANYDML_UINT32, 2, reduced_sizes, nullptr, chosen.data()}};
    } else if (is_reduce || is_arg) {
      outputs = {{is_arg ? uint32_t{ANYDML_UINT32} : uint32_t{type}, 2, reduced_sizes, nullptr, out.data()}};
    } else {
      outputs = {{type, 1, sizes, nullptr, out.data()}, {ANYDML_UINT8, 1, sizes, nullptr, out.data()}};
    }
    std::fill(out.begin(), out.end(), T{});
    std::vector<std::pair<const anydml_tensor*, const List*>> calls;
    for (const anydml_tensor& output : is_top_k ? std::span(outputs).first(1) : std::span(outputs)) {
      for (const List& list : choices) {
        calls.emplace_back(&output, &list);
      }
    }
    for (const auto& call : calls) {
      const auto run = [&, output = call.first, given = call.second] {
        return anydml_run(nullptr, info.name, inputs.data(), info.input_count, output, is_top_k ? 2 : 1, given->data(),
                          given->size());
      };
      std::vector<T> expected;
      for (const Modes& wanted : kModes) {
        int code = ANYDML_OK;
        u64 before = 0;
        u64 after = 0;
        {
          const WithModes modes_set(wanted);
          before = modes();
          code = run();
          after = modes();
        }
        ASSERT_EQ(before, after) << info.name;
        if (code != ANYDML_OK) {
          ASSERT_EQ(code, ANYDML_INVALID_ARGUMENT) << info.name << ": " << anydml_last_error();
          break;
        }
        const std::vector<T> odd = out;
        if (expected.empty()) {
          ASSERT_EQ(run(), ANYDML_OK);
          expected = out;
        }
        for (std::size_t i = 0; i < kCount; ++i) {
          ASSERT_TRUE(same(odd[i], expected[i])) << info.name << " of " << show(a[i]) << " and " << show(b[i]);
        }
      }
    }
  }
}

TEST(FloatEnvironmentOfEveryOperator, ChangesNoBit) {
  check_all_operators<f32>();
  check_all_operators<f16>();
  check_all_operators<f64>();
}

template <class T>
class FloatEnvironment : public testing::Test {};
using Floats = testing::Types<f16, f32, f64>;
TYPED_TEST_SUITE(FloatEnvironment, Floats);

TYPED_TEST(FloatEnvironment, ChangesNoBitAndIsLeftAsFound) {
  using T = TypeParam;
  constexpr std::size_t kCount = 50'000;  // several chunks, so that the workers take part
  std::vector<T> a(kCount);
  std::vector<T> b(kCount);
  std::vector<T> floor(kCount);
  std::vector<T> truncate(kCount);
  draw_operands(a, b);
  std::vector<Expected<T>> expected;
  for (std::size_t i = 0; i < kCount; ++i) {
    expected.push_back(oracle(a[i], b[i]));  // under the default modes
  }
  const int64_t sizes[] = {kCount};
  const auto type = static_cast<anydml_type>(kDataTypeOf<T>);
  const anydml_tensor ta = {type, 1, sizes, nullptr, a.data()};
  const anydml_tensor tb = {type, 1, sizes, nullptr, b.data()};
  const anydml_tensor tf = {type, 1, sizes, nullptr, floor.data()};
  const anydml_tensor tt = {type, 1, sizes, nullptr, truncate.data()};
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (const bool flush : {false, true}) {
      for (const int raised : {0, FE_INEXACT | FE_DIVBYZERO}) {
        std::feclearexcept(FE_ALL_EXCEPT);
        std::feraiseexcept(raised);
        std::fesetround(rounding);
        set_flush(flush);
        const u64 before = modes();
        const int floor_code = anydml_modulus_floor(&ta, &tb, &tf);
        const int truncate_code = anydml_modulus_truncate(&ta, &tb, &tt);
        const u64 after = modes();
        set_flush(false);
        std::fesetround(FE_TONEAREST);
        ASSERT_EQ(before, after);
        ASSERT_EQ(floor_code, ANYDML_OK);
        ASSERT_EQ(truncate_code, ANYDML_OK);
        for (std::size_t i = 0; i < kCount; ++i) {
          ASSERT_TRUE(same(floor[i], expected[i].floor)) << show(a[i]) << " floor-mod " << show(b[i]);
          ASSERT_TRUE(same(truncate[i], expected[i].truncate)) << show(a[i]) << " truncate-mod " << show(b[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace anydml::test
