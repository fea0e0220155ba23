// SPDX-License-Identifier: MIT
// The ONNX library's C interface, with correct arguments and with wrong ones: loading, running and reports.
#include <anydml/onnx.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "onnx/onnx_models.h"

namespace anydml::test {
namespace {

// ---- A small writer of ONNX files -----------------------------------------------------------------------------------

std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7U) {
    bytes += static_cast<char>(number % 128 + 128);
  }
  return bytes += static_cast<char>(number);
}
std::string integer(unsigned field, std::uint64_t number) { return varint(field * 8) + varint(number); }
std::string text(unsigned field, const std::string& bytes) {
  return varint(field * 8 + 2) + varint(bytes.size()) + bytes;
}

std::string value_text(const std::string& name, std::uint64_t type, const std::vector<std::string>& dims) {
  std::string shape;
  for (const std::string& dim : dims) {
    const bool is_size = dim.find_first_not_of("0123456789") == std::string::npos && !dim.empty();
    shape += text(1, is_size ? integer(1, std::stoull(dim)) : dim.empty() ? std::string() : text(2, dim));
  }
  return text(1, name) + text(2, text(1, integer(1, type) + text(2, shape)));
}

// y = op(x), with x: float[batch, 3].
std::string model_bytes(const std::string& op, const std::string& more = "") {
  const std::string node = text(1, "x") + text(2, "y") + text(3, "only") + text(4, op);
  const std::string graph = text(1, node) + text(2, "graph") + more + text(11, value_text("x", 1, {"batch", "3"})) +
                            text(12, value_text("y", 1, {"batch", ""}));
  return integer(1, 8) + text(7, graph) + text(8, integer(2, 13));
}

ModelPointer load(const std::string& bytes, const anydml_onnx_options* options = nullptr) {
  anydml_onnx_model* model = nullptr;
  EXPECT_EQ(anydml_onnx_load_memory(bytes.data(), bytes.size(), nullptr, options, &model), ANYDML_OK)
      << anydml_last_error();
  return ModelPointer(model);
}

// ---- Loading --------------------------------------------------------------------------------------------------------

TEST(OnnxApi, LoadsFromMemory) {
  const std::string bytes = model_bytes("Neg");
  const ModelPointer model = load(bytes);
  ASSERT_NE(model, nullptr);
  ASSERT_EQ(anydml_onnx_input_count(model.get()), 1U);
  ASSERT_EQ(anydml_onnx_output_count(model.get()), 1U);
  const anydml_onnx_value_info* x = anydml_onnx_input_at(model.get(), 0);
  EXPECT_STREQ(x->name, "x");
  EXPECT_EQ(x->type, ANYDML_ONNX_FLOAT);
  ASSERT_EQ(x->rank, 2);
  EXPECT_EQ(x->sizes[0], -1);
  EXPECT_STREQ(x->dimension_names[0], "batch");
  EXPECT_EQ(x->sizes[1], 3);
  EXPECT_STREQ(x->dimension_names[1], "");
  EXPECT_EQ(x->has_initializer, 0);
  const anydml_onnx_value_info* y = anydml_onnx_output_at(model.get(), 0);
  EXPECT_STREQ(y->name, "y");
  EXPECT_EQ(y->type, ANYDML_ONNX_FLOAT);

  const std::int64_t sizes[] = {2, 3};
  const float values[] = {1, -2, 3, -4, 5, -6};
  const ResultsPointer results = run(model, {anydml_const_tensor(ANYDML_FLOAT32, 2, sizes, nullptr, values)});
  ASSERT_EQ(anydml_onnx_result_count(results.get()), 1U);
  EXPECT_EQ(anydml_onnx_result_at(results.get(), 0)->rank, 2);
  EXPECT_EQ(elements<float>(results, 0, 6), (std::vector<float>{-1, 2, -3, 4, -5, 6}));
}

TEST(OnnxApi, LoadsFromFiles) {
  const std::string path = testing::TempDir() + "onnx_api_test.onnx";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  const std::string bytes = model_bytes("Abs");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  anydml_onnx_model* model = nullptr;
  EXPECT_EQ(anydml_onnx_load(path.c_str(), nullptr, &model), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(anydml_onnx_input_count(model), 1U);
  anydml_onnx_release(model);
  std::remove(path.c_str());
}

TEST(OnnxApi, WrongLoading) {
  const std::string bytes = model_bytes("Neg");
  int somewhere = 0;
  auto* const before = reinterpret_cast<anydml_onnx_model*>(&somewhere);
  anydml_onnx_model* model = before;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_load("none.onnx", nullptr, &model), "none.onnx");
  EXPECT_EQ(model, nullptr);
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_load(nullptr, nullptr, &model), "anydml_onnx_load: path is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_load("none.onnx", nullptr, nullptr),
                 "anydml_onnx_load: model is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_load_memory(nullptr, 4, nullptr, nullptr, &model),
                 "anydml_onnx_load_memory: bytes is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_load_memory(bytes.data(), 4, nullptr, nullptr, nullptr),
                 "anydml_onnx_load_memory: model is null");
  model = before;
  EXPECT_EQ(anydml_onnx_load_memory(bytes.data(), bytes.size() - 5, nullptr, nullptr, &model), ANYDML_INVALID_ARGUMENT);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(anydml_onnx_load_memory(nullptr, 0, nullptr, nullptr, &model), ANYDML_INVALID_ARGUMENT);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    if (anydml_onnx_load_memory(bytes.data(), length, nullptr, nullptr, &model) == ANYDML_OK) {
      anydml_onnx_release(model);  // only the last field can be missing without an error
    } else {
      EXPECT_EQ(model, nullptr) << length;
    }
  }
  anydml_onnx_release(nullptr);
}

TEST(OnnxApi, Options) {
  const std::string bytes = model_bytes("Neg");
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.device = anydml_device_at(0);
  for (const std::uint64_t flags : {ANYDML_ONNX_MULTIPLY_INTEGERS, ANYDML_ONNX_LITERAL, ANYDML_ONNX_FLOAT_ACTIVATIONS,
                                    ANYDML_ONNX_INTEGER_ACTIVATIONS | ANYDML_ONNX_LITERAL}) {
    options.flags = flags;
    EXPECT_NE(load(bytes, &options), nullptr);
  }

  anydml_onnx_model* model = nullptr;
  const auto loaded = [&](const void* given) {
    return anydml_onnx_load_memory(bytes.data(), bytes.size(), nullptr, static_cast<const anydml_onnx_options*>(given),
                                   &model);
  };
  options.size = 0;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, loaded(&options), "options.size is 0; expected sizeof");
  options.size = 1 << 20;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, loaded(&options), "options.size is 1048576");
  options.size = sizeof(options);
  options.flags = 34;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, loaded(&options), "options.flags is 0x22");
  options.flags = ANYDML_ONNX_FLOAT_ACTIVATIONS | ANYDML_ONNX_INTEGER_ACTIVATIONS;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, loaded(&options), "options.flags is 0x18");
  options.flags = ANYDML_ONNX_MULTIPLY_INTEGERS | ANYDML_ONNX_LITERAL;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, loaded(&options), "options.flags is 0x3");
  options.flags = ANYDML_ONNX_LITERAL | ANYDML_ONNX_ALLOW_HALF_PRECISION;
  options.kept_forms = 65537;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, loaded(&options), "options.kept_forms is 65537; expected 0 to 65536");
  options.kept_forms = 1;
  EXPECT_EQ(loaded(&options), ANYDML_OK);
  anydml_onnx_release(model);

  struct Newer {
    anydml_onnx_options known = ANYDML_ONNX_OPTIONS_INIT;
    std::uint64_t added = 0;
  } newer;
  newer.known.size = sizeof(newer);
  EXPECT_EQ(loaded(&newer), ANYDML_OK);
  anydml_onnx_release(model);
  newer.added = 1;
  EXPECT_FAILURE(ANYDML_UNSUPPORTED, loaded(&newer),
                 "options has a member at byte " + std::to_string(sizeof(anydml_onnx_options)) + " that is set");
}

TEST(OnnxApi, ReportsEverythingThatIsUnsupported) {
  std::vector<std::string> needs;
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.on_unsupported = [](void* context, const char* need) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(need);
  };
  options.on_unsupported_context = &needs;
  const std::string bytes = model_bytes("StringNormalizer");
  anydml_onnx_model* model = nullptr;
  EXPECT_EQ(anydml_onnx_load_memory(bytes.data(), bytes.size(), nullptr, &options, &model), ANYDML_UNSUPPORTED)
      << anydml_last_error();
  EXPECT_TRUE(says("StringNormalizer"));
  ASSERT_EQ(needs.size(), 1U);
  EXPECT_NE(needs[0].find("StringNormalizer"), std::string::npos);
}

TEST(OnnxApi, QuestionsAboutNothing) {
  EXPECT_FAILURE(0U, anydml_onnx_input_count(nullptr), "anydml_onnx_input_count: model is null");
  EXPECT_FAILURE(0U, anydml_onnx_output_count(nullptr), "anydml_onnx_output_count: model is null");
  EXPECT_FAILURE(nullptr, anydml_onnx_input_at(nullptr, 0), "anydml_onnx_input_at: model is null");
  EXPECT_FAILURE(nullptr, anydml_onnx_output_at(nullptr, 0), "anydml_onnx_output_at: model is null");
  EXPECT_FAILURE(0U, anydml_onnx_result_count(nullptr), "anydml_onnx_result_count: results is null");
  EXPECT_FAILURE(nullptr, anydml_onnx_result_at(nullptr, 0), "anydml_onnx_result_at: results is null");
  anydml_onnx_results_release(nullptr);
  const std::string bytes = model_bytes("Neg");
  const ModelPointer model = load(bytes);
  EXPECT_FAILURE(nullptr, anydml_onnx_input_at(model.get(), 1), "index is 1; the model has 1 inputs");
  EXPECT_FAILURE(nullptr, anydml_onnx_output_at(model.get(), 7), "index is 7; the model has 1 outputs");
}

TEST(OnnxApi, ErrorsBelongToTheirThread) {
  EXPECT_EQ(anydml_onnx_input_count(nullptr), 0U);
  std::thread([] {
    EXPECT_STREQ(anydml_last_error(), "");
    EXPECT_EQ(anydml_onnx_output_count(nullptr), 0U);
  }).join();
  EXPECT_TRUE(says("anydml_onnx_input_count"));
}

TEST(OnnxApi, Types) {
  EXPECT_EQ(anydml_onnx_tensor_type(ANYDML_ONNX_FLOAT), anydml_type{ANYDML_FLOAT32});
  EXPECT_EQ(anydml_onnx_tensor_type(ANYDML_ONNX_BOOL), anydml_type{ANYDML_UINT8});
  EXPECT_EQ(anydml_onnx_tensor_type(ANYDML_ONNX_INT4), anydml_type{ANYDML_INT4});
  EXPECT_EQ(anydml_onnx_tensor_type(ANYDML_ONNX_UINT4), anydml_type{ANYDML_UINT4});
  EXPECT_EQ(anydml_onnx_tensor_type(ANYDML_ONNX_DOUBLE), anydml_type{ANYDML_FLOAT64});
  for (const std::int32_t type : {0, 8, 14, 16, 17, 23, 26, 27, 31, 32, 90, 100, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(anydml_onnx_tensor_type(type), anydml_type{ANYDML_NONE}) << type;
  }
  EXPECT_STREQ(anydml_onnx_type_name(ANYDML_ONNX_FLOAT), "float");
  EXPECT_STREQ(anydml_onnx_type_name(16), "bfloat16");
  EXPECT_STREQ(anydml_onnx_type_name(90), "undefined");
  EXPECT_STREQ(anydml_onnx_type_name(-5), "undefined");
}

// ---- Running --------------------------------------------------------------------------------------------------------

class OnnxRun : public testing::Test {
 protected:
  OnnxRun() : bytes_(model_bytes("Neg")), model_(load(bytes_)) {}

  int run_with(const anydml_tensor& tensor) {
    anydml_onnx_results* results = nullptr;
    const int code = anydml_onnx_run_to_results(model_.get(), &tensor, 1, &results);
    EXPECT_EQ(results != nullptr, code == ANYDML_OK);
    anydml_onnx_results_release(results);
    return code;
  }

  std::string bytes_;
  ModelPointer model_;
  const std::array<std::int64_t, 2> sizes_ = {2, 3};
  std::array<float, 6> values_ = {1, 2, 3, 4, 5, 6};
  anydml_tensor good_ = {ANYDML_FLOAT32, 2, sizes_.data(), nullptr, values_.data()};
};

TEST_F(OnnxRun, CallsTheFunctionOnceForEachOutput) {
  struct Memory {
    std::array<float, 6> values{};
    int calls = 0;
  } memory;
  const auto provide = [](void* context, std::size_t index, std::int32_t type, const anydml_tensor* tensor) -> void* {
    auto* own = static_cast<Memory*>(context);
    ++own->calls;
    EXPECT_EQ(index, 0U);
    EXPECT_EQ(type, ANYDML_ONNX_FLOAT);
    EXPECT_EQ(tensor->type, anydml_type{ANYDML_FLOAT32});
    EXPECT_EQ(tensor->rank, 2);
    EXPECT_EQ(tensor->sizes[0] * tensor->sizes[1], 6);
    EXPECT_EQ(tensor->data, nullptr);
    return own->values.data();
  };
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(anydml_onnx_run(model_.get(), &good_, 1, provide, &memory), ANYDML_OK) << anydml_last_error();
    EXPECT_EQ(memory.calls, i);
    EXPECT_EQ(memory.values, (std::array<float, 6>{-1, -2, -3, -4, -5, -6}));
  }
}

TEST_F(OnnxRun, AnyAlignmentAndStrides) {
  std::array<char, 4 * 6 + 1> memory{};
  std::memcpy(memory.data() + 1, values_.data(), sizeof(values_));
  anydml_tensor moved = good_;
  moved.data = memory.data() + 1;
  ResultsPointer results = run(model_, {moved});
  EXPECT_EQ(elements<float>(results, 0, 6), (std::vector<float>{-1, -2, -3, -4, -5, -6}));

  const std::int64_t reversed[] = {-3, -1};
  anydml_tensor backward = good_;
  backward.strides = reversed;
  backward.data = values_.data() + 5;
  results = run(model_, {backward});
  EXPECT_EQ(elements<float>(results, 0, 6), (std::vector<float>{-6, -5, -4, -3, -2, -1}));
  const std::int64_t transposed[] = {1, 2};
  backward.strides = transposed;
  backward.data = values_.data();
  results = run(model_, {backward});
  EXPECT_EQ(elements<float>(results, 0, 6), (std::vector<float>{-1, -3, -5, -2, -4, -6}));

  const auto provide = [](void* context, std::size_t, std::int32_t, const anydml_tensor*) { return context; };
  std::array<char, 4 * 6 + 1> written{};
  EXPECT_EQ(anydml_onnx_run(model_.get(), &good_, 1, provide, written.data() + 1), ANYDML_OK) << anydml_last_error();
  std::array<float, 6> values{};
  std::memcpy(values.data(), written.data() + 1, sizeof(values));
  EXPECT_EQ(values, (std::array<float, 6>{-1, -2, -3, -4, -5, -6}));
}

TEST_F(OnnxRun, EmptyTensors) {
  const std::int64_t sizes[] = {0, 3};
  const ResultsPointer results = run(model_, {{ANYDML_FLOAT32, 2, sizes, nullptr, nullptr}});
  ASSERT_NE(results, nullptr);
  EXPECT_EQ(anydml_onnx_result_at(results.get(), 0)->sizes[0], 0);
  const auto nothing = [](void*, std::size_t, std::int32_t, const anydml_tensor*) -> void* { return nullptr; };
  const anydml_tensor empty = {ANYDML_FLOAT32, 2, sizes, nullptr, nullptr};
  EXPECT_EQ(anydml_onnx_run(model_.get(), &empty, 1, nothing, nullptr), ANYDML_OK) << anydml_last_error();
}

TEST_F(OnnxRun, WrongTensors) {
  anydml_tensor tensor = good_;
  tensor.type = ANYDML_INT32;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor), "input 'x' is INT32, but the model declares FLOAT32");
  tensor.type = 99;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor), "input 'x' is UNKNOWN");
  tensor = good_;
  tensor.rank = -1;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor), "input 'x': rank is -1; expected 0 to 64");
  tensor.rank = 65;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor), "input 'x': rank is 65");
  tensor.rank = 1;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor),
                 "input 'x' has the shape [2], but the model declares [?, 3]");
  tensor = good_;
  tensor.sizes = nullptr;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor), "input 'x': sizes is null; expected an array of 2");
  tensor = good_;
  tensor.data = nullptr;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor), "input 'x': data is null; expected 6 elements");
  tensor = good_;
  const std::int64_t negative[] = {2, -3};
  tensor.sizes = negative;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor), "input 'x': sizes are [2, -3]; expected 0 or more");
  const std::int64_t other[] = {3, 2};
  tensor.sizes = other;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, run_with(tensor),
                 "input 'x' has the shape [3, 2], but the model declares [?, 3]");
  EXPECT_EQ(run_with(good_), ANYDML_OK) << anydml_last_error();
}

TEST_F(OnnxRun, WrongCalls) {
  anydml_onnx_results* results = nullptr;
  anydml_onnx_model* const model = model_.get();
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(nullptr, &good_, 1, &results), "model is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(model, nullptr, 1, &results), "inputs is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(model, &good_, 1, nullptr), "results is null");
  const anydml_tensor two[] = {good_, good_};
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(model, two, 2, &results),
                 "input_count is 2; the model has 1 inputs");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(model, nullptr, 0, &results),
                 "input 'x' is missing");
  const anydml_tensor none{};
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(model, &none, 1, &results),
                 "input 'x' is missing");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run(model, &good_, 1, nullptr, nullptr), "output is null");
  const auto nothing = [](void*, std::size_t, std::int32_t, const anydml_tensor*) -> void* { return nullptr; };
  EXPECT_FAILURE(ANYDML_OUT_OF_MEMORY, anydml_onnx_run(model, &good_, 1, nothing, nullptr),
                 "output 0: the caller's function returned no memory for 24 bytes");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run(nullptr, &good_, 1, nothing, nullptr), "model is null");
  const ResultsPointer good = run(model_, {good_});
  EXPECT_FAILURE(nullptr, anydml_onnx_result_at(good.get(), 1), "index is 1; there are 1 results");
}

TEST_F(OnnxRun, ThreadsShareAModel) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(run_with(good_), ANYDML_OK);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(OnnxRun, Reports) {
  std::vector<std::string> lines;
  const auto add = [](void* context, const char* line) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(line);
  };
  EXPECT_EQ(anydml_onnx_explain(model_.get(), add, &lines), ANYDML_OK) << anydml_last_error();
  EXPECT_FALSE(lines.empty());
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_explain(nullptr, add, &lines), "model is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_explain(model_.get(), nullptr, nullptr), "function is null");

  std::vector<std::string> labels;
  const auto time = [](void* context, const anydml_onnx_node_time* one) {
    EXPECT_STREQ(one->op, "Neg");
    EXPECT_GE(one->seconds, 0);
    static_cast<std::vector<std::string>*>(context)->emplace_back(one->label);
  };
  EXPECT_EQ(anydml_onnx_profile(model_.get(), &good_, 1, 2, time, &labels), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(labels, (std::vector<std::string>{"Neg 'only'"}));
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_profile(model_.get(), &good_, 1, 0, time, &labels),
                 "rounds is 0; expected 1 to");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_profile(model_.get(), &good_, 1, 1, nullptr, nullptr),
                 "function is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_profile(nullptr, &good_, 1, 1, time, nullptr), "model is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_profile(model_.get(), nullptr, 0, 1, time, nullptr),
                 "input 'x' is missing");
}

// ---- Traces ---------------------------------------------------------------------------------------------------------

std::vector<std::string> lines_of(const anydml_onnx_trace* trace) {
  std::vector<std::string> lines;
  const auto add = [](void* context, const char* line) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(line);
  };
  EXPECT_EQ(anydml_onnx_trace_lines(trace, add, &lines), ANYDML_OK) << anydml_last_error();
  return lines;
}

std::size_t count_events(const std::vector<std::string>& lines, std::string_view part) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

TEST_F(OnnxRun, IsTraced) {
  anydml_onnx_trace* trace = nullptr;
  ASSERT_EQ(anydml_onnx_trace_create(&trace), ANYDML_OK);
  EXPECT_EQ(lines_of(trace), (std::vector<std::string>{"[", "]"}));
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.trace = trace;
  model_ = load(bytes_, &options);
  ASSERT_NE(model_, nullptr);
  EXPECT_EQ(count_events(lines_of(trace), "\"name\":\"read\""), 1U);
  EXPECT_EQ(count_events(lines_of(trace), "\"name\":\"prepare\""), 1U);
  std::thread([this] { EXPECT_EQ(run_with(good_), ANYDML_OK); }).join();
  EXPECT_EQ(run_with(good_), ANYDML_OK);
  const auto ignore = [](void*, const anydml_onnx_node_time*) {};
  EXPECT_EQ(anydml_onnx_profile(model_.get(), &good_, 1, 2, ignore, nullptr), ANYDML_OK);
  const std::vector<std::string> lines = lines_of(trace);
  EXPECT_EQ(count_events(lines, "\"cat\":\"Compile\""), 1U);
  EXPECT_EQ(count_events(lines, "\"cat\":\"Graph\",\"name\":\"steps 0 to 0\""), 2U);
  EXPECT_EQ(count_events(lines, "\"name\":\"run node by node\""), 2U);
  EXPECT_EQ(count_events(lines, "\"cat\":\"Node\",\"name\":\"Neg 'only'\""), 2U);
  EXPECT_EQ(count_events(lines, "\"input_type_shape\":[{\"float\":[2,3]}],\"output_type_shape\":[{\"float\":[2,3]}]"),
            6U);
  // The model keeps what it needs of the trace.
  anydml_onnx_trace_release(trace);
  EXPECT_EQ(run_with(good_), ANYDML_OK);
}

TEST_F(OnnxRun, OptionsOfOlderPrograms) {
  anydml_onnx_options options = ANYDML_ONNX_OPTIONS_INIT;
  options.size = offsetof(anydml_onnx_options, trace);
  options.trace = reinterpret_cast<const anydml_onnx_trace*>(&options);  // beyond what such a program has
  model_ = load(bytes_, &options);
  ASSERT_NE(model_, nullptr);
  EXPECT_EQ(run_with(good_), ANYDML_OK);
}

TEST(OnnxApi, TracesOfNothing) {
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_trace_create(nullptr), "trace is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_trace_lines(nullptr, nullptr, nullptr), "trace is null");
  anydml_onnx_trace_release(nullptr);
  anydml_onnx_trace* trace = nullptr;
  ASSERT_EQ(anydml_onnx_trace_create(&trace), ANYDML_OK);
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_trace_lines(trace, nullptr, nullptr), "function is null");
  anydml_onnx_trace_release(trace);
}

TEST(OnnxApi, TableOfOperators) {
  const std::size_t count = anydml_onnx_operator_count();
  ASSERT_GT(count, 100U);
  bool has_conv = false;
  std::string before;
  for (std::size_t i = 0; i < count; ++i) {
    const anydml_onnx_operator_info* info = anydml_onnx_operator_at(i);
    ASSERT_NE(info, nullptr);
    const std::string key = std::string(info->domain) + '.' + info->name;
    EXPECT_LE(before, key);
    before = key;
    has_conv |= key == ".Conv" && std::string_view(info->uses).find("CONVOLUTION") != std::string_view::npos;
  }
  EXPECT_TRUE(has_conv);
  EXPECT_FAILURE(nullptr, anydml_onnx_operator_at(count), "there are " + std::to_string(count) + " operators");
}

}  // namespace
}  // namespace anydml::test
