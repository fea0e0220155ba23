// SPDX-License-Identifier: MIT
// Tests the less common forms of the C API: constants, numbers of any kind, names, arrays, operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "anydml/anydml.h"
#include "support/sanitizers.h"

namespace {

const int64_t kSizes[] = {5};

anydml_tensor floats(std::vector<float>& data) { return {ANYDML_FLOAT32, 1, kSizes, nullptr, data.data()}; }

TEST(Constants, AreReadWhenTheOperatorIsCompiled) {
  std::vector<float> a = {7, -7, 7, -7, 1};
  std::vector<float> b = {3, 3, -3, -3, 1};
  std::vector<float> out(5);
  anydml_tensor inputs[] = {floats(a), floats(b)};
  inputs[1].type |= ANYDML_CONSTANT;
  const anydml_tensor output = floats(out);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &output, 1, nullptr, 0, &compiled),
            ANYDML_OK)
      << anydml_last_error();
  std::fill(b.begin(), b.end(), 0.0F);  // b is not read again
  const void* given[] = {a.data(), nullptr};
  void* results[] = {out.data()};
  ASSERT_EQ(anydml_compiled_run(compiled, given, 2, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, (std::vector<float>{1, 2, -2, -1, 0}));
  results[0] = a.data();  // in place
  ASSERT_EQ(anydml_compiled_run(compiled, given, 2, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(a, (std::vector<float>{1, 2, -2, -1, 0}));
  anydml_compiled_release(compiled);
}

// A product of square matrices that is slow enough to be interrupted.
struct LongProduct {
  static constexpr int64_t kSide = anydml::test::kSanitized ? 600 : 3000;
  const int64_t sizes[4] = {1, 1, kSide, kSide};
  std::vector<float> a = std::vector<float>(kSide * kSide, 1);
  std::vector<float> out = std::vector<float>(kSide * kSide, -1);
  anydml_compiled* compiled = nullptr;

  int compile() {
    const anydml_tensor inputs[] = {{ANYDML_FLOAT32, 4, sizes, nullptr, a.data()},
                                    {ANYDML_FLOAT32, 4, sizes, nullptr, a.data()}};
    const anydml_tensor output = {ANYDML_FLOAT32, 4, sizes, nullptr, out.data()};
    const anydml_attribute attributes[] = {{"TransA", ANYDML_TEXT, 0, {.text = "NONE"}},
                                           {"TransB", ANYDML_TEXT, 0, {.text = "NONE"}},
                                           {"Alpha", ANYDML_FLOAT64, 0, {.f64 = 1}},
                                           {"Beta", ANYDML_FLOAT64, 0, {.f64 = 0}}};
    return anydml_compile(nullptr, "GEMM", inputs, 2, &output, 1, attributes, 4, &compiled);
  }
  int run() {
    const void* given[] = {a.data(), a.data()};
    void* results[] = {out.data()};
    return anydml_compiled_run(compiled, given, 2, results, 1);
  }
};

TEST(Interrupt, IsAskedByPrograms) {
  EXPECT_EQ(anydml_ask_interrupt(), ANYDML_OK);
  int answer = 0;
  ASSERT_EQ(anydml_set_interrupt([](void* context) { return *static_cast<int*>(context); }, &answer), ANYDML_OK);
  EXPECT_EQ(anydml_ask_interrupt(), ANYDML_OK);
  answer = 7;
  EXPECT_EQ(anydml_ask_interrupt(), ANYDML_INTERRUPTED);
  EXPECT_STREQ(anydml_last_error(), "interrupted by the caller");
  anydml_set_interrupt(nullptr, nullptr);
  EXPECT_EQ(anydml_ask_interrupt(), ANYDML_OK);
}

TEST(Interrupt, EndsALongCallAndLeavesTheRestUsable) {
  if (std::string(anydml_device_get_info(nullptr)->name) != "cpu") {
    GTEST_SKIP() << "calls on other devices do not poll the interrupt";
  }
  LongProduct product;
  ASSERT_EQ(product.compile(), ANYDML_OK) << anydml_last_error();
  int asked = 0;
  ASSERT_EQ(anydml_set_interrupt([](void* context) { return ++*static_cast<int*>(context); }, &asked), ANYDML_OK);
  // A call polls the interrupt only after 50 ms, and a fast machine may finish before that.
  constexpr int kMaxRuns = 200;
  int runs = 0;
  while (product.run() == ANYDML_OK && ++runs < kMaxRuns) {
    std::fill(product.out.begin(), product.out.end(), -1.0F);
    ASSERT_EQ(asked, 0);
  }
  if (runs == kMaxRuns) {
    anydml_set_interrupt(nullptr, nullptr);
    anydml_compiled_release(product.compiled);
    GTEST_SKIP() << "each of " << kMaxRuns << " calls ended before the first poll of the interrupt at 50 ms";
  }
  EXPECT_EQ(asked, 1);
  EXPECT_STREQ(anydml_last_error(), "GEMM: device cpu: interrupted by the caller; the outputs are partly written");
  EXPECT_NE(std::count(product.out.begin(), product.out.end(), -1.0F), 0);
  anydml_set_interrupt(nullptr, nullptr);
  ASSERT_EQ(product.run(), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(std::count(product.out.begin(), product.out.end(), float{LongProduct::kSide}),
            LongProduct::kSide * LongProduct::kSide);
  anydml_compiled_release(product.compiled);
}

// During a cached call, the interrupt function may make more library calls than the thread's cache holds.
TEST(Interrupt, MayCallTheLibrary) {
  struct Asked {
    int count = 0;
    int failed = 0;
  } asked;
  anydml_set_interrupt(
      [](void* context) {
        auto& all = *static_cast<Asked*>(context);
        ++all.count;
        for (int64_t size = 1; size < 20; ++size) {
          std::vector<float> a(static_cast<std::size_t>(size), 5);
          const anydml_tensor tensor = {ANYDML_FLOAT32, 1, &size, nullptr, a.data()};
          const anydml_tensor inputs[] = {tensor, tensor};
          all.failed +=
              anydml_run(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &tensor, 1, nullptr, 0) != ANYDML_OK || a[0] != 10;
        }
        return 0;
      },
      &asked);
  constexpr std::int64_t kCount = anydml::test::kSanitized ? 2'000'000 : 40'000'000;  // takes longer than 50 ms
  const int64_t sizes[] = {kCount};
  std::vector<float> data(kCount, 1.5F);
  const anydml_tensor tensor = {ANYDML_FLOAT32, 1, sizes, nullptr, data.data()};
  for (int run = 0; run < 4; ++run) {
    std::fill(data.begin(), data.end(), 1.5F);
    ASSERT_EQ(anydml_run(nullptr, "ACTIVATION_TANH", &tensor, 1, &tensor, 1, nullptr, 0), ANYDML_OK)
        << anydml_last_error();
    EXPECT_EQ(std::count(data.begin(), data.end(), data[0]), sizes[0]);
  }
  EXPECT_EQ(asked.failed, 0);
  anydml_set_interrupt(nullptr, nullptr);
}

TEST(Constants, WithStridesKeepTheirLayout) {
  std::vector<float> a = {1, 2, 3, 4, 5};
  std::vector<float> b = {9, 0, 8, 0, 7, 0, 6, 0, 5};
  std::vector<float> out(5);
  anydml_tensor inputs[] = {floats(a), {ANYDML_FLOAT32 | ANYDML_CONSTANT, 1, kSizes, nullptr, &b[8]}};
  const int64_t back[] = {-2};
  inputs[1].strides = back;
  const anydml_tensor output = floats(out);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &output, 1, nullptr, 0, &compiled), ANYDML_OK)
      << anydml_last_error();
  const void* given[] = {a.data(), nullptr};
  void* results[] = {out.data()};
  ASSERT_EQ(anydml_compiled_run(compiled, given, 2, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, (std::vector<float>{6, 8, 10, 12, 14}));
  anydml_compiled_release(compiled);
}

TEST(Constants, NeedDataAndAreInputs) {
  std::vector<float> a(5);
  anydml_tensor inputs[] = {floats(a), floats(a)};
  inputs[1].type |= ANYDML_CONSTANT;
  inputs[1].data = nullptr;
  anydml_tensor output = floats(a);
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &output, 1, nullptr, 0, &compiled),
            ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "ELEMENT_WISE_ADD: BTensor: data is null; expected the data of a constant");
  EXPECT_EQ(compiled, nullptr);
  inputs[1] = floats(a);
  output.type |= ANYDML_CONSTANT;
  EXPECT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_ADD", inputs, 2, &output, 1, nullptr, 0, &compiled),
            ANYDML_INVALID_ARGUMENT);
}

// An operator that was compiled without its last, optional input runs without it.
TEST(Compiled, AbsentTensorsAtTheEndNeedNoAddress) {
  const int64_t sizes[] = {2, 2};
  std::vector<float> a = {1, 2, 3, 4};
  std::vector<float> b = {1, 0, 0, 2};
  std::vector<float> out(4);
  const anydml_tensor inputs[] = {{ANYDML_FLOAT32, 2, sizes, nullptr, a.data()},
                                  {ANYDML_FLOAT32, 2, sizes, nullptr, b.data()}};
  const anydml_tensor output = {ANYDML_FLOAT32, 2, sizes, nullptr, out.data()};
  anydml_compiled* compiled = nullptr;
  anydml_attribute attributes[] = {{"TransA", ANYDML_INT64, 0, {}},
                                   {"TransB", ANYDML_INT64, 0, {}},
                                   {"Alpha", ANYDML_FLOAT64, 0, {}},
                                   {"Beta", ANYDML_FLOAT64, 0, {}}};
  attributes[2].value.f64 = 1.0;
  ASSERT_EQ(anydml_compile(nullptr, "GEMM", inputs, 2, &output, 1, attributes, 4, &compiled), ANYDML_OK)
      << anydml_last_error();
  const void* given[] = {a.data(), b.data(), nullptr};
  void* results[] = {out.data()};
  for (const std::size_t count : {std::size_t{2}, std::size_t{3}}) {
    std::fill(out.begin(), out.end(), 0.0F);
    ASSERT_EQ(anydml_compiled_run(compiled, given, count, results, 1), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(out, (std::vector<float>{1, 4, 3, 8}));
  }
  EXPECT_EQ(anydml_compiled_run(compiled, given, 1, results, 1), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "GEMM: the number of inputs is 1; expected 2 to 3");
  anydml_compiled_release(compiled);
}

// Inputs may also be declared constant through the options instead of a flag in the tensor's type.
TEST(Options, NameConstantInputs) {
  const std::vector<float> a = {7, -7, 7, -7, 1};
  std::vector<float> b = {3, 3, -3, -3, 1};
  std::vector<float> out(5);
  const anydml_tensor inputs[] = {anydml_const_tensor(ANYDML_FLOAT32, 1, kSizes, nullptr, a.data()), floats(b)};
  const anydml_tensor output = floats(out);
  const uint32_t constants[] = {1, 1};  // naming an input twice is allowed
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.constants = constants;
  options.constant_count = 2;
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile_with(&options, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &output, 1, nullptr, 0, &compiled),
            ANYDML_OK)
      << anydml_last_error();
  std::fill(b.begin(), b.end(), 0.0F);
  const void* given[] = {a.data(), nullptr};
  void* results[] = {out.data()};
  ASSERT_EQ(anydml_compiled_run(compiled, given, 2, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, (std::vector<float>{1, 2, -2, -1, 0}));
  anydml_compiled_release(compiled);
}

TEST(Options, NullIsTheDefaults) {
  std::vector<float> a = {1, 2, 3, 4, 5};
  std::vector<float> out(5);
  const anydml_tensor input = floats(a);
  const anydml_tensor output = floats(out);
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile_with(nullptr, "ELEMENT_WISE_NEGATE", &input, 1, &output, 1, nullptr, 0, &compiled),
            ANYDML_OK)
      << anydml_last_error();
  const void* given[] = {a.data()};
  void* results[] = {out.data()};
  EXPECT_EQ(anydml_compiled_run(compiled, given, 1, results, 1), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, (std::vector<float>{-1, -2, -3, -4, -5}));
  anydml_compiled_release(compiled);

  anydml_graph* graph = nullptr;
  anydml_value value = 0;
  ASSERT_EQ(anydml_graph_create(&graph), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_input(graph, &input, &value), ANYDML_OK);
  ASSERT_EQ(anydml_graph_add_output(graph, value), ANYDML_OK);
  EXPECT_EQ(anydml_graph_compile_with(graph, nullptr, &compiled), ANYDML_OK) << anydml_last_error();
  anydml_compiled_release(compiled);
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.device = anydml_device_at(0);
  EXPECT_EQ(anydml_graph_compile_with(graph, &options, &compiled), ANYDML_OK) << anydml_last_error();
  anydml_compiled_release(compiled);
  anydml_graph_release(graph);
}

// Options from a program that was compiled against a newer header. Unknown members may exist, but must not be set.
TEST(Options, OfANewerHeaderMustLeaveTheRestAlone) {
  struct Newer {
    anydml_options known;
    uint64_t unknown;
  } newer{ANYDML_OPTIONS_INIT, 0};
  newer.known.size = sizeof(newer);
  std::vector<float> a(5);
  const anydml_tensor tensor = floats(a);
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_compile_with(&newer.known, "ELEMENT_WISE_ABS", &tensor, 1, &tensor, 1, nullptr, 0, &compiled),
            ANYDML_OK)
      << anydml_last_error();
  anydml_compiled_release(compiled);
  newer.unknown = uint64_t{1} << 56;
  EXPECT_EQ(anydml_compile_with(&newer.known, "ELEMENT_WISE_ABS", &tensor, 1, &tensor, 1, nullptr, 0, &compiled),
            ANYDML_UNSUPPORTED);
  EXPECT_STREQ(anydml_last_error(),
               "anydml_compile_with: options has a member at byte 47 that is set; this version of the library knows 40 "
               "bytes of options");
  EXPECT_EQ(compiled, nullptr);
}

// Options from a program that was compiled before flags existed. The bytes after its options are unrelated.
TEST(Options, OfAnOlderHeaderHaveNoFlags) {
  anydml_options older = ANYDML_OPTIONS_INIT;
  older.size = offsetof(anydml_options, flags);
  older.flags = ~uint64_t{0};
  std::vector<float> a(5);
  const anydml_tensor tensor = floats(a);
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_compile_with(&older, "ELEMENT_WISE_ABS", &tensor, 1, &tensor, 1, nullptr, 0, &compiled), ANYDML_OK)
      << anydml_last_error();
  anydml_compiled_release(compiled);
}

TEST(Options, HalfPrecisionMayBeAllowedOnAnyDevice) {
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.flags = ANYDML_ALLOW_HALF_PRECISION;
  std::vector<float> a(5);
  const anydml_tensor tensor = floats(a);
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_compile_with(&options, "ELEMENT_WISE_ABS", &tensor, 1, &tensor, 1, nullptr, 0, &compiled), ANYDML_OK)
      << anydml_last_error();
  anydml_compiled_release(compiled);
}

TEST(Options, AnAbsentInputIsNoConstant) {
  std::vector<float> a(5);
  const anydml_tensor inputs[] = {floats(a), floats(a), {ANYDML_NONE, 0, nullptr, nullptr, nullptr}};
  std::vector<uint8_t> out(5);
  const anydml_tensor output = {ANYDML_UINT8, 1, kSizes, nullptr, out.data()};
  const uint32_t constants[] = {2};
  anydml_options options = ANYDML_OPTIONS_INIT;
  options.constants = constants;
  options.constant_count = 1;
  anydml_compiled* compiled = nullptr;
  EXPECT_EQ(anydml_compile_with(&options, "ELEMENT_WISE_QUANTIZE_LINEAR", inputs, 3, &output, 1, nullptr, 0, &compiled),
            ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "ELEMENT_WISE_QUANTIZE_LINEAR: options.constants[0] is 2; expected the position of an input that is not "
               "absent");
}

TEST(Names, OfStatusesAndVersions) {
  EXPECT_STREQ(anydml_status_name(ANYDML_OK), "OK");
  EXPECT_STREQ(anydml_status_name(ANYDML_INVALID_ARGUMENT), "INVALID_ARGUMENT");
  EXPECT_STREQ(anydml_status_name(ANYDML_UNSUPPORTED), "UNSUPPORTED");
  EXPECT_STREQ(anydml_status_name(ANYDML_OUT_OF_MEMORY), "OUT_OF_MEMORY");
  EXPECT_STREQ(anydml_status_name(ANYDML_DEVICE_ERROR), "DEVICE_ERROR");
  EXPECT_STREQ(anydml_status_name(ANYDML_INTERNAL_ERROR), "INTERNAL_ERROR");
  EXPECT_STREQ(anydml_status_name(ANYDML_INTERRUPTED), "INTERRUPTED");
  EXPECT_STREQ(anydml_status_name(7), "UNKNOWN");
  EXPECT_STREQ(anydml_status_name(-1), "UNKNOWN");
  EXPECT_EQ(anydml_version_number(), static_cast<uint32_t>(ANYDML_VERSION));
  EXPECT_EQ(std::string(anydml_version()), std::to_string(ANYDML_VERSION / 1000000) + "." +
                                               std::to_string(ANYDML_VERSION / 1000 % 1000) + "." +
                                               std::to_string(ANYDML_VERSION % 1000));
  EXPECT_EQ(anydml_numerics_version(), static_cast<uint32_t>(ANYDML_NUMERICS_VERSION));
}

// A tensor description without memory.
anydml_tensor described(anydml_type type, const std::vector<int64_t>& sizes) {
  return {type, static_cast<int32_t>(sizes.size()), sizes.data(), nullptr, nullptr};
}

std::vector<int64_t> sizes_of(const anydml_shape& shape) { return {shape.sizes, shape.sizes + shape.rank}; }

TEST(InferOutputs, CompletesTypesAndSizes) {
  const std::vector<int64_t> sizes = {2, 3, 4};
  const std::vector<int64_t> column = {3, 1};
  const anydml_tensor inputs[] = {described(ANYDML_FLOAT16, sizes), described(ANYDML_FLOAT16, column)};
  anydml_shape shape = ANYDML_UNKNOWN_SHAPE;
  ASSERT_EQ(anydml_infer_outputs("ELEMENT_WISE_ADD", inputs, 2, &shape, 1, nullptr, 0), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(shape.type, std::uint32_t{ANYDML_FLOAT16});
  EXPECT_EQ(sizes_of(shape), sizes);
  // A type that the caller sets is kept. ARGMAX allows several output types.
  const int64_t axes[] = {2};
  anydml_attribute attributes[] = {{"Axes", ANYDML_INT64 | uint32_t{ANYDML_ARRAY}, 1, {}},
                                   {"AxisDirection", ANYDML_TEXT, 0, {}}};
  attributes[0].value.i64s = axes;
  attributes[1].value.text = "INCREASING";
  shape = ANYDML_UNKNOWN_SHAPE;
  shape.type = ANYDML_INT64;
  ASSERT_EQ(anydml_infer_outputs("ARGMAX", inputs, 1, &shape, 1, attributes, 2), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(shape.type, std::uint32_t{ANYDML_INT64});
  EXPECT_EQ(sizes_of(shape), (std::vector<int64_t>{2, 3, 1}));
  // A tensor without dimensions has no sizes that could be unknown.
  const anydml_tensor number = described(ANYDML_INT8, {});
  shape = ANYDML_UNKNOWN_SHAPE;
  ASSERT_EQ(anydml_infer_outputs("ELEMENT_WISE_IDENTITY", &number, 1, &shape, 1, nullptr, 0), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(shape.rank, 0);
}

TEST(InferOutputs, OfSeveralOutputsAndOfOperatorsThatAreNotBuilt) {
  const std::vector<int64_t> sizes = {1, 2, 8, 8};
  const anydml_tensor input = described(ANYDML_FLOAT32, sizes);
  const uint64_t two[] = {2, 2};
  const uint64_t none[] = {0, 0};
  std::vector<anydml_attribute> attributes;
  for (const auto& [name, values] : {std::pair("Strides", two), std::pair("WindowSize", two),
                                     std::pair("StartPadding", none), std::pair("EndPadding", none)}) {
    anydml_attribute one = {name, ANYDML_UINT64 | uint32_t{ANYDML_ARRAY}, 2, {}};
    one.value.u64s = values;
    attributes.push_back(one);
  }
  anydml_shape shapes[2] = {ANYDML_UNKNOWN_SHAPE, ANYDML_UNKNOWN_SHAPE};
  ASSERT_EQ(anydml_infer_outputs("MAX_POOLING1", &input, 1, shapes, 2, attributes.data(), attributes.size()), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(shapes[1].type, std::uint32_t{ANYDML_UINT32});
  EXPECT_EQ(sizes_of(shapes[0]), (std::vector<int64_t>{1, 2, 4, 4}));
  EXPECT_EQ(sizes_of(shapes[1]), (std::vector<int64_t>{1, 2, 4, 4}));
  shapes[1].type = ANYDML_NONE;  // the indices are optional
  shapes[0] = ANYDML_UNKNOWN_SHAPE;
  ASSERT_EQ(anydml_infer_outputs("MAX_POOLING1", &input, 1, shapes, 2, attributes.data(), attributes.size()), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(sizes_of(shapes[0]), (std::vector<int64_t>{1, 2, 4, 4}));
}

TEST(InferOutputs, SaysWhatIsNotDetermined) {
  const std::vector<int64_t> sizes = {1, 2, 3};
  anydml_tensor input = described(ANYDML_FLOAT32, sizes);
  anydml_shape shape = ANYDML_UNKNOWN_SHAPE;
  const auto message = [&](const char* op, size_t inputs = 1, size_t outputs = 1) {
    EXPECT_EQ(anydml_infer_outputs(op, &input, inputs, &shape, outputs, nullptr, 0), ANYDML_INVALID_ARGUMENT);
    return std::string(anydml_last_error());
  };
  EXPECT_EQ(
      message("CAST"),
      "CAST: OutputTensor.DataType is not determined by the inputs and attributes; DirectML accepts FLOAT32, FLOAT16, "
      "UINT32, UINT16, UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64");
  EXPECT_EQ(shape.type, ANYDML_UNKNOWN_TYPE);
  EXPECT_EQ(shape.rank, ANYDML_UNKNOWN_RANK);
  EXPECT_EQ(message("SPLOT"), "op: is 'SPLOT'; did you mean SPLIT?");
  EXPECT_EQ(message("ELEMENT_WISE_ADD"), "ELEMENT_WISE_ADD: the number of input tensors is 1; expected 2");
  EXPECT_NE(message("ELEMENT_WISE_IDENTITY", 1, 0).find("output"), std::string::npos);
  input.rank = 9;
  EXPECT_EQ(message("ELEMENT_WISE_IDENTITY"), "ELEMENT_WISE_IDENTITY: inputs[0].rank is 9; expected 0 to 8");
  input.rank = 3;
  input.sizes = nullptr;
  EXPECT_EQ(message("ELEMENT_WISE_IDENTITY"), "ELEMENT_WISE_IDENTITY: inputs[0].sizes is null; expected 3 sizes");
  input.sizes = sizes.data();
  shape.rank = 1;
  shape.sizes[0] = -4;
  EXPECT_EQ(message("ELEMENT_WISE_IDENTITY"), "ELEMENT_WISE_IDENTITY: outputs[0].sizes[0] is -4; expected 0 or more");
  shape.rank = -2;
  EXPECT_EQ(message("ELEMENT_WISE_IDENTITY"),
            "ELEMENT_WISE_IDENTITY: outputs[0].rank is -2; expected 0 to 8, or ANYDML_UNKNOWN_RANK");
  EXPECT_EQ(anydml_infer_outputs("ELEMENT_WISE_IDENTITY", nullptr, 1, &shape, 1, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(anydml_infer_outputs("ELEMENT_WISE_IDENTITY", &input, 1, nullptr, 1, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "ELEMENT_WISE_IDENTITY: outputs is null; expected an array of 1 shapes");
}

TEST(Fill, TakesNoInput) {
  std::vector<float> out(5);
  const anydml_tensor output = floats(out);
  anydml_attribute value = {"Value", ANYDML_INT64, 0, {}};
  value.value.i64 = -3;
  ASSERT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, &value, 1), ANYDML_OK)
      << anydml_last_error();
  EXPECT_EQ(out, std::vector<float>(5, -3.0F));
  // The data type may also be specified, by number or by name.
  anydml_attribute both[] = {value, {"ValueDataType", ANYDML_TEXT, 0, {}}};
  both[1].value.text = "FLOAT32";
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, both, 2), ANYDML_OK)
      << anydml_last_error();
  both[1].value.text = "FLOAT33";
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, both, 2), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "FILL_VALUE_CONSTANT: attribute ValueDataType: is 'FLOAT33'; expected the name of a value of "
               "DML_TENSOR_DATA_TYPE");
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", nullptr, 0, &output, 1, nullptr, 0), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(),
               "FILL_VALUE_CONSTANT: attribute Value is missing; the operator takes ValueDataType, Value");
  EXPECT_EQ(anydml_run(nullptr, "FILL_VALUE_CONSTANT", &output, 1, &output, 1, &value, 1), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "FILL_VALUE_CONSTANT: the number of input tensors is 1; expected 0");
}

}  // namespace
