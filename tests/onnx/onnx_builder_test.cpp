// SPDX-License-Identifier: MIT
// Models that are built node by node through the ONNX library's C interface, and wrong calls to its functions.
#include <anydml/onnx.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "onnx/onnx_models.h"

namespace anydml::test {
namespace {

// ---- Builders -------------------------------------------------------------------------------------------------------

BuilderPointer builder(std::int64_t opset = 13) {
  anydml_onnx_builder* created = nullptr;
  EXPECT_EQ(anydml_onnx_builder_create(&created), ANYDML_OK);
  EXPECT_EQ(anydml_onnx_builder_set_opset(created, "", opset), ANYDML_OK);
  return BuilderPointer(created);
}

void input(const BuilderPointer& of, const char* name, std::int32_t type, const std::vector<std::int64_t>& sizes) {
  EXPECT_EQ(anydml_onnx_builder_add_input(of.get(), name, type, static_cast<std::int32_t>(sizes.size()), sizes.data(),
                                          nullptr),
            ANYDML_OK)
      << anydml_last_error();
}

void output(const BuilderPointer& of, const char* name) {
  EXPECT_EQ(anydml_onnx_builder_add_output(of.get(), name, ANYDML_ONNX_UNDEFINED, -1, nullptr, nullptr), ANYDML_OK);
}

int node(const BuilderPointer& of, const char* op, const std::vector<const char*>& inputs,
         const std::vector<const char*>& outputs, const std::vector<anydml_onnx_attribute>& attributes = {}) {
  const anydml_onnx_node one = {op,
                                nullptr,
                                op,
                                inputs.data(),
                                inputs.size(),
                                outputs.data(),
                                outputs.size(),
                                attributes.data(),
                                attributes.size()};
  return anydml_onnx_builder_add_node(of.get(), &one);
}

ModelPointer finish(const BuilderPointer& of) {
  anydml_onnx_model* model = nullptr;
  EXPECT_EQ(anydml_onnx_builder_finish(of.get(), nullptr, &model), ANYDML_OK) << anydml_last_error();
  return ModelPointer(model);
}

// ---- Building -------------------------------------------------------------------------------------------------------

TEST(OnnxBuilder, InitializersThatARunMayReplace) {
  const BuilderPointer own = builder();
  input(own, "x", ANYDML_ONNX_FLOAT, {-1});
  input(own, "w", ANYDML_ONNX_FLOAT, {2});
  const std::int64_t sizes[] = {2};
  const float weights[] = {10, 20};
  const anydml_onnx_tensor tensor = {ANYDML_ONNX_FLOAT, 1, sizes, weights};
  EXPECT_EQ(anydml_onnx_builder_add_initializer(own.get(), "w", &tensor), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(node(own, "Add", {"x", "w"}, {"y"}), ANYDML_OK) << anydml_last_error();
  output(own, "y");
  const ModelPointer model = finish(own);
  EXPECT_EQ(anydml_onnx_input_at(model.get(), 0)->has_initializer, 0);
  EXPECT_EQ(anydml_onnx_input_at(model.get(), 1)->has_initializer, 1);
  const float values[] = {1, 2};
  const anydml_tensor x = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, nullptr, values);
  EXPECT_EQ(elements<float>(run(model, {x}), 0, 2), (std::vector<float>{11, 22}));
  EXPECT_EQ(elements<float>(run(model, {x, {}}), 0, 2), (std::vector<float>{11, 22}));
  EXPECT_EQ(elements<float>(run(model, {x, x}), 0, 2), (std::vector<float>{2, 4}));
  EXPECT_EQ(elements<float>(run(model, {x}), 0, 2), (std::vector<float>{11, 22}));
}

TEST(OnnxBuilder, InitializersInFiles) {
  const std::string path = ::testing::TempDir() + "onnx_builder_weights_" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << std::string("abc") + std::string(reinterpret_cast<const char*>(
                                                                                std::array<float, 2>{10, 20}.data()),
                                                                            8);
  const BuilderPointer own = builder();
  input(own, "x", ANYDML_ONNX_FLOAT, {-1});
  const std::int64_t sizes[] = {2};
  const anydml_onnx_tensor tensor = {ANYDML_ONNX_FLOAT, 1, sizes, nullptr};
  const auto add = [&](const char* file, std::uint64_t offset) {
    return anydml_onnx_builder_add_file_initializer(own.get(), "w", &tensor, file, offset);
  };
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(nullptr, 0), "path is null; expected the path of a file");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add((path + "none").c_str(), 0), "cannot be mapped: No such file");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(path.c_str(), 4), "tensor 'w' has 8 bytes at offset 4, but the file");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(path.c_str(), UINT64_MAX), "but the file");
  EXPECT_EQ(add(path.c_str(), 3), ANYDML_OK) << anydml_last_error();  // the elements need not be aligned
  std::remove(path.c_str());
  EXPECT_EQ(node(own, "Add", {"x", "w"}, {"y"}), ANYDML_OK) << anydml_last_error();
  output(own, "y");
  const ModelPointer model = finish(own);
  const float values[] = {1, 2};
  const anydml_tensor x = anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, nullptr, values);
  EXPECT_EQ(elements<float>(run(model, {x}), 0, 2), (std::vector<float>{11, 22}));
}

TEST(OnnxBuilder, BoolIsAByte) {
  const BuilderPointer own = builder();
  input(own, "x", ANYDML_ONNX_BOOL, {4});
  EXPECT_EQ(node(own, "Not", {"x"}, {"y"}), ANYDML_OK);
  output(own, "y");
  const ModelPointer model = finish(own);
  EXPECT_EQ(anydml_onnx_output_at(model.get(), 0)->type, ANYDML_ONNX_BOOL);
  const std::int64_t sizes[] = {4};
  const std::uint8_t values[] = {0, 1, 1, 0};
  const ResultsPointer results = run(model, {anydml_const_tensor(ANYDML_UINT8, 1, sizes, nullptr, values)});
  EXPECT_EQ(anydml_onnx_result_at(results.get(), 0)->type, anydml_type{ANYDML_UINT8});
  EXPECT_EQ(elements<std::uint8_t>(results, 0, 4), (std::vector<std::uint8_t>{1, 0, 0, 1}));
}

TEST(OnnxBuilder, FourBitElementsArePacked) {
  const std::int64_t sizes[] = {5};
  const float one = 1;
  const anydml_onnx_tensor scale = {ANYDML_ONNX_FLOAT, 0, nullptr, &one};
  const std::uint8_t zero = 0;
  const anydml_onnx_tensor zero_point = {ANYDML_ONNX_INT4, 0, nullptr, &zero};
  const BuilderPointer own = builder(21);
  input(own, "q", ANYDML_ONNX_INT4, {5});
  EXPECT_EQ(anydml_onnx_builder_add_initializer(own.get(), "s", &scale), ANYDML_OK);
  EXPECT_EQ(anydml_onnx_builder_add_initializer(own.get(), "z", &zero_point), ANYDML_OK);
  EXPECT_EQ(node(own, "DequantizeLinear", {"q", "s"}, {"f"}), ANYDML_OK);
  EXPECT_EQ(node(own, "Neg", {"f"}, {"n"}), ANYDML_OK);
  EXPECT_EQ(node(own, "QuantizeLinear", {"n", "s", "z"}, {"p"}), ANYDML_OK);
  output(own, "f");
  output(own, "p");
  const ModelPointer model = finish(own);
  const std::uint8_t packed[] = {0x71, 0x8f, 0x02};  // 1, 7, -1, -8, 2
  const anydml_tensor q = anydml_const_tensor(ANYDML_INT4, 1, sizes, nullptr, packed);
  const ResultsPointer results = run(model, {q});
  EXPECT_EQ(elements<float>(results, 0, 5), (std::vector<float>{1, 7, -1, -8, 2}));
  EXPECT_EQ(anydml_onnx_result_at(results.get(), 1)->type, anydml_type{ANYDML_INT4});
  EXPECT_EQ(elements<std::uint8_t>(results, 1, 3), (std::vector<std::uint8_t>{0x9f, 0x71, 0x0e}));  // 8 becomes 7

  anydml_onnx_results* none = nullptr;
  const std::int64_t strides[] = {1};
  anydml_tensor wrong = q;
  wrong.strides = strides;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(model.get(), &wrong, 1, &none),
                 "input 'q': strides is set; expected null");
  wrong = q;
  wrong.type = ANYDML_INT8;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_run_to_results(model.get(), &wrong, 1, &none),
                 "input 'q' is INT8, but the model declares INT4");
}

// If: y = c ? -x : |x|.
TEST(OnnxBuilder, GraphsInAttributes) {
  std::vector<BuilderPointer> branches;
  for (const char* op : {"Neg", "Abs"}) {
    branches.push_back(builder());
    EXPECT_EQ(node(branches.back(), op, {"x"}, {"b"}), ANYDML_OK);
    output(branches.back(), "b");
  }
  const BuilderPointer own = builder();
  input(own, "x", ANYDML_ONNX_FLOAT, {2});
  input(own, "c", ANYDML_ONNX_BOOL, {});
  std::vector<anydml_onnx_attribute> attributes(2);
  for (std::size_t i = 0; i < 2; ++i) {
    attributes[i].name = i == 0 ? "then_branch" : "else_branch";
    attributes[i].type = ANYDML_ONNX_ATTRIBUTE_GRAPH;
    attributes[i].value.g = branches[i].get();
  }
  EXPECT_EQ(node(own, "If", {"c"}, {"y"}, attributes), ANYDML_OK) << anydml_last_error();
  branches.clear();  // the node has a copy
  output(own, "y");
  const ModelPointer model = finish(own);
  const std::int64_t sizes[] = {2};
  const float values[] = {3, -4};
  for (const std::uint8_t condition : {std::uint8_t{1}, std::uint8_t{0}}) {
    const ResultsPointer results = run(model, {anydml_const_tensor(ANYDML_FLOAT32, 1, sizes, nullptr, values),
                                               anydml_const_tensor(ANYDML_UINT8, 0, nullptr, nullptr, &condition)});
    EXPECT_EQ(elements<float>(results, 0, 2),
              condition != 0 ? (std::vector<float>{-3, 4}) : (std::vector<float>{3, 4}));
  }
}

TEST(OnnxBuilder, AttributesOfEveryType) {
  const std::int64_t sizes[] = {2};
  const float values[] = {0.5F, 1.5F};
  const anydml_onnx_tensor tensor = {ANYDML_ONNX_FLOAT, 1, sizes, values};
  const BuilderPointer own = builder(20);
  input(own, "x", ANYDML_ONNX_FLOAT, {1, 2});
  anydml_onnx_attribute value{};
  value.name = "value";
  value.type = ANYDML_ONNX_ATTRIBUTE_TENSOR;
  value.value.t = &tensor;
  EXPECT_EQ(node(own, "Constant", {}, {"c"}, {value}), ANYDML_OK);
  anydml_onnx_attribute alpha{};
  alpha.name = "alpha";
  alpha.type = ANYDML_ONNX_ATTRIBUTE_FLOAT;
  alpha.value.f = 0.25F;
  EXPECT_EQ(node(own, "LeakyRelu", {"x"}, {"l"}, {alpha}), ANYDML_OK);
  anydml_onnx_attribute perm{};
  const std::int64_t order[] = {1, 0};
  perm.name = "perm";
  perm.type = ANYDML_ONNX_ATTRIBUTE_INTS;
  perm.count = 2;
  perm.value.ints = order;
  EXPECT_EQ(node(own, "Transpose", {"l"}, {"t"}, {perm}), ANYDML_OK);
  EXPECT_EQ(node(own, "Flatten", {"t"}, {"f"}, {number_attribute("axis", 0)}), ANYDML_OK);
  anydml_onnx_attribute approximate{};
  approximate.name = "approximate";
  approximate.type = ANYDML_ONNX_ATTRIBUTE_STRING;
  approximate.value.s = "none";
  EXPECT_EQ(node(own, "Gelu", {"f"}, {"g"}, {approximate}), ANYDML_OK);
  anydml_onnx_attribute floats{};
  floats.name = "value_floats";
  floats.type = ANYDML_ONNX_ATTRIBUTE_FLOATS;
  floats.count = 2;
  floats.value.floats = values;
  EXPECT_EQ(node(own, "Constant", {}, {"d"}, {floats}), ANYDML_OK);
  EXPECT_EQ(node(own, "Sum", {"f", "c", "d"}, {"y"}), ANYDML_OK);
  output(own, "y");
  output(own, "g");
  const ModelPointer model = finish(own);
  const std::int64_t wide[] = {1, 2};
  const float x[] = {8, -4};
  const ResultsPointer results = run(model, {anydml_const_tensor(ANYDML_FLOAT32, 2, wide, nullptr, x)});
  EXPECT_EQ(elements<float>(results, 0, 2), (std::vector<float>{9, 2}));
}

// A model with one node of ai.onnx.ml.
BuilderPointer learned(const char* op, std::int32_t type, const anydml_onnx_attribute& attribute) {
  BuilderPointer own = builder();
  EXPECT_EQ(anydml_onnx_builder_set_opset(own.get(), "ai.onnx.ml", 3), ANYDML_OK);
  input(own, "x", type, {-1, 2});
  const char* const inputs[] = {"x"};
  const char* const outputs[] = {"y"};
  const anydml_onnx_node one = {op, "ai.onnx.ml", "n", inputs, 1, outputs, 1, &attribute, 1};
  EXPECT_EQ(anydml_onnx_builder_add_node(own.get(), &one), ANYDML_OK);
  output(own, "y");
  return own;
}

TEST(OnnxBuilder, MapsAreMatrices) {
  const std::int64_t keys[] = {4, 5};
  anydml_onnx_attribute attribute = {"classlabels_int64s", ANYDML_ONNX_ATTRIBUTE_INTS, 2, {}};
  attribute.value.ints = keys;
  const ModelPointer model = finish(learned("ZipMap", ANYDML_ONNX_FLOAT, attribute));
  EXPECT_EQ(anydml_onnx_output_at(model.get(), 0)->type, ANYDML_ONNX_FLOAT);
  const std::int64_t sizes[] = {1, 2};
  const float scores[] = {0.25F, 0.75F};
  const anydml_tensor x = anydml_const_tensor(ANYDML_FLOAT32, 2, sizes, nullptr, scores);
  anydml_onnx_results* results = nullptr;
  ASSERT_EQ(anydml_onnx_run_to_results(model.get(), &x, 1, &results), ANYDML_OK) << anydml_last_error();
  const anydml_tensor* const y = anydml_onnx_result_at(results, 0);
  EXPECT_EQ(y->type, anydml_type{ANYDML_FLOAT32});
  EXPECT_EQ(static_cast<const float*>(y->data)[1], 0.75F);
  anydml_onnx_results_release(results);
}

TEST(OnnxBuilder, StringsAreRefusedByName) {
  const char* const classes[] = {"a", "b"};
  anydml_onnx_attribute attribute = {"classes_strings", ANYDML_ONNX_ATTRIBUTE_STRINGS, 2, {}};
  attribute.value.strings = classes;
  const BuilderPointer own = learned("LabelEncoder", ANYDML_ONNX_INT64, attribute);
  EXPECT_EQ(anydml_onnx_builder_set_opset(own.get(), "ai.onnx.ml", 1), ANYDML_OK);
  anydml_onnx_model* model = nullptr;
  EXPECT_EQ(anydml_onnx_builder_finish(own.get(), nullptr, &model), ANYDML_UNSUPPORTED);
  EXPECT_STREQ(anydml_last_error(), "output 'y' has strings, which the C interface does not support");
}

TEST(OnnxBuilder, WrongCalls) {
  const std::int64_t sizes[] = {2};
  const std::int64_t negative[] = {-2};
  const float values[] = {1, 2};
  const BuilderPointer own = builder();
  anydml_onnx_builder* const it = own.get();
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_create(nullptr), "builder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_set_opset(nullptr, "", 1), "builder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_set_opset(it, nullptr, 0), "version is 0");

  const auto add_input = [&](const char* name, std::int32_t type, std::int32_t rank, const std::int64_t* of) {
    return anydml_onnx_builder_add_input(it, name, type, rank, of, nullptr);
  };
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_input(nullptr, "x", 1, 1, sizes, nullptr),
                 "builder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input(nullptr, 1, 1, sizes), "name is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input("", 1, 1, sizes), "name is empty");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input("x", 99, 1, sizes), "type is 99");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input("x", -1, 1, sizes), "type is -1");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input("x", 1, -2, sizes), "rank is -2");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input("x", 1, 65, sizes), "rank is 65");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input("x", 1, 1, nullptr), "sizes is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_input("x", 1, 1, negative), "sizes[0] is -2");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_output(nullptr, "x", 1, 1, sizes, nullptr),
                 "builder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_output(it, nullptr, 1, 1, sizes, nullptr),
                 "name is null");

  const auto add_tensor = [&](const anydml_onnx_tensor& tensor) {
    return anydml_onnx_builder_add_initializer(it, "w", &tensor);
  };
  const anydml_onnx_tensor good = {ANYDML_ONNX_FLOAT, 1, sizes, values};
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_initializer(nullptr, "w", &good), "builder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_initializer(it, nullptr, &good), "name is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_initializer(it, "w", nullptr), "tensor is null");
  EXPECT_FAILURE(ANYDML_UNSUPPORTED, add_tensor({16, 1, sizes, values}), "bfloat16");
  EXPECT_FAILURE(ANYDML_UNSUPPORTED, add_tensor({0, 1, sizes, values}), "undefined");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_tensor({1, -1, sizes, values}), "tensor.rank is -1");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_tensor({1, 65, sizes, values}), "tensor.rank is 65");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_tensor({1, 1, nullptr, values}), "tensor.sizes is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_tensor({1, 1, negative, values}), "tensor.sizes are [-2]");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add_tensor({1, 1, sizes, nullptr}), "tensor.data is null");
  const std::int64_t huge[] = {INT64_MAX, INT64_MAX};
  EXPECT_EQ(add_tensor({1, 2, huge, values}), ANYDML_OUT_OF_MEMORY);

  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_node(it, nullptr), "node is null");
  const anydml_onnx_node empty{};
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_node(nullptr, &empty), "builder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_node(it, &empty), "node.op_type is null");
  anydml_onnx_node wrong{};
  wrong.op_type = "Neg";
  wrong.input_count = 1;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_node(it, &wrong), "node.inputs is null");
  wrong.input_count = 0;
  wrong.output_count = 2;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_node(it, &wrong), "node.outputs is null");
  wrong.output_count = 0;
  wrong.attribute_count = 3;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_add_node(it, &wrong), "node.attributes is null");

  anydml_onnx_model* model = nullptr;
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_finish(nullptr, nullptr, &model), "builder is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, anydml_onnx_builder_finish(it, nullptr, nullptr), "model is null");
  anydml_onnx_builder_release(nullptr);
}

TEST(OnnxBuilder, WrongAttributes) {
  const BuilderPointer own = builder();
  const auto add = [&](std::int32_t type, std::uint32_t count = 0, const char* name = "a") {
    anydml_onnx_attribute attribute{};
    attribute.name = name;
    attribute.type = type;
    attribute.count = count;
    return node(own, "Neg", {"x"}, {"y"}, {attribute});
  };
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(ANYDML_ONNX_ATTRIBUTE_INT, 0, nullptr), "name is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(0), "the type of attribute 'a' is 0; expected one of");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(9), "the type of attribute 'a' is 9");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(ANYDML_ONNX_ATTRIBUTE_STRING), "value.s is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(ANYDML_ONNX_ATTRIBUTE_TENSOR), "tensor is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(ANYDML_ONNX_ATTRIBUTE_GRAPH), "value.g is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(ANYDML_ONNX_ATTRIBUTE_FLOATS, 2), "value.floats is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(ANYDML_ONNX_ATTRIBUTE_INTS, 2), "value.ints is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, add(ANYDML_ONNX_ATTRIBUTE_STRINGS, 2), "value.strings is null");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT,
                 node(own, "Neg", {"x"}, {"y"}, {number_attribute("a", 1), number_attribute("a", 2)}),
                 "two attributes have the name 'a'");
}

TEST(OnnxBuilder, WrongGraphs) {
  const auto finished = [](const BuilderPointer& of) {
    anydml_onnx_model* model = nullptr;
    const int code = anydml_onnx_builder_finish(of.get(), nullptr, &model);
    EXPECT_EQ(model != nullptr, code == ANYDML_OK);
    anydml_onnx_release(model);
    return code;
  };
  const BuilderPointer unknown = builder();
  EXPECT_EQ(node(unknown, "Neg", {"nowhere"}, {"y"}), ANYDML_OK);
  output(unknown, "y");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, finished(unknown), "nowhere");

  const BuilderPointer missing = builder();
  input(missing, "x", ANYDML_ONNX_FLOAT, {1});
  output(missing, "z");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, finished(missing), "z");

  const BuilderPointer late = builder(9999);
  EXPECT_EQ(finished(late), ANYDML_INVALID_ARGUMENT);

  const BuilderPointer attribute = builder();
  input(attribute, "x", ANYDML_ONNX_FLOAT, {1});
  EXPECT_EQ(node(attribute, "Neg", {"x"}, {"y"}, {number_attribute("size", 3)}), ANYDML_OK);
  output(attribute, "y");
  EXPECT_FAILURE(ANYDML_INVALID_ARGUMENT, finished(attribute), "Neg 'Neg': size is not an attribute of Neg");
}

TEST(OnnxBuilder, DeepGraphsAreRefused) {
  BuilderPointer inner = builder();
  int code = ANYDML_OK;
  for (int depth = 0; depth < 1000 && code == ANYDML_OK; ++depth) {
    BuilderPointer outer = builder();
    anydml_onnx_attribute body{};
    body.name = "body";
    body.type = ANYDML_ONNX_ATTRIBUTE_GRAPH;
    body.value.g = inner.get();
    code = node(outer, "Loop", {"", "c"}, {"y"}, {body});
    inner = std::move(outer);
  }
  EXPECT_EQ(code, ANYDML_INVALID_ARGUMENT);
  EXPECT_TRUE(says("graphs are nested more than 64 deep"));
}

}  // namespace
}  // namespace anydml::test
