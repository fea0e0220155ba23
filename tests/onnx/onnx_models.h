// SPDX-License-Identifier: MIT
// Helpers for the tests of the ONNX library's C interface.
#pragma once

#include <anydml/onnx.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace anydml::test {

struct Release {
  void operator()(anydml_onnx_model* model) const { anydml_onnx_release(model); }
  void operator()(anydml_onnx_builder* builder) const { anydml_onnx_builder_release(builder); }
  void operator()(anydml_onnx_results* results) const { anydml_onnx_results_release(results); }
};
using ModelPointer = std::unique_ptr<anydml_onnx_model, Release>;
using BuilderPointer = std::unique_ptr<anydml_onnx_builder, Release>;
using ResultsPointer = std::unique_ptr<anydml_onnx_results, Release>;

inline testing::AssertionResult says(std::string_view part) {
  const std::string_view message = anydml_last_error();
  return message.find(part) != std::string_view::npos
             ? testing::AssertionSuccess()
             : testing::AssertionFailure() << "the message is '" << message << "', without '" << part << "'";
}

// A failing call with its code and part of its message.
#define EXPECT_FAILURE(code, call, part) \
  do {                                   \
    EXPECT_EQ(call, code);               \
    EXPECT_TRUE(says(part));             \
  } while (false)

inline ResultsPointer run(const ModelPointer& model, const std::vector<anydml_tensor>& inputs) {
  anydml_onnx_results* results = nullptr;
  EXPECT_EQ(anydml_onnx_run_to_results(model.get(), inputs.data(), inputs.size(), &results), ANYDML_OK)
      << anydml_last_error();
  return ResultsPointer(results);
}

template <class T>
std::vector<T> elements(const ResultsPointer& results, std::size_t index, std::size_t count) {
  const anydml_tensor* tensor = anydml_onnx_result_at(results.get(), index);
  std::vector<T> values(count);
  std::memcpy(values.data(), tensor->data, count * sizeof(T));
  return values;
}

inline anydml_onnx_attribute number_attribute(const char* name, std::int64_t number) {
  anydml_onnx_attribute attribute{};
  attribute.name = name;
  attribute.type = ANYDML_ONNX_ATTRIBUTE_INT;
  attribute.value.i = number;
  return attribute;
}

}  // namespace anydml::test
