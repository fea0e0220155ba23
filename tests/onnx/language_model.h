// SPDX-License-Identifier: MIT
// A folder with a small language model of random weights, as onnxruntime-genai's builder writes it: one layer of
// GroupQueryAttention.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "onnx/message_bytes.h"

namespace anydml::test {

using Tokens = std::vector<std::int64_t>;

inline constexpr std::int64_t kWords = 40;
inline constexpr std::int64_t kContext = 64;
inline constexpr std::int64_t kSize = 8;
inline constexpr std::int64_t kEnd = 39;  // the model's end token
inline const Tokens kPrompt = {3, 17, 8, 25, 1, 30, 12};

inline std::vector<float> random_floats(std::size_t count, std::uint32_t seed) {
  std::vector<float> all(count);
  for (float& one : all) {
    seed = seed * 1664525 + 1013904223;
    one = static_cast<float>(seed >> 8) / static_cast<float>(1U << 24) - 0.5F;
  }
  return all;
}

inline onnx::test::Bytes integer_attribute(const char* name, std::int64_t number) {
  onnx::test::Bytes bytes = onnx::test::attribute(name, 2);
  bytes.number(3, number);
  return bytes;
}

// Embeddings that are queries, keys and values, attention, and a product that gives the logits.
inline std::string model_bytes() {
  using onnx::test::Bytes;
  using onnx::test::node;
  using onnx::test::raw_tensor;
  using onnx::test::value;
  std::vector<float> angles;
  std::vector<float> other_angles;
  for (std::int64_t row = 0; row < kContext; ++row) {
    for (std::int64_t i = 0; i < kSize / 2; ++i) {
      const double angle = static_cast<double>(row) / std::pow(10.0, static_cast<double>(i));
      angles.push_back(static_cast<float>(std::cos(angle)));
      other_angles.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  Bytes graph;
  graph.text(2, "g")
      .message(1, node("Gather", {"embedding", "input_ids"}, {"qkv"}))
      .message(1, node("ReduceSum", {"attention_mask", "one"}, {"sum"}, "", {integer_attribute("keepdims", 0)}))
      .message(1, node("Sub", {"sum", "one"}, {"last"}))
      .message(1, node("Cast", {"last"}, {"last32"}, "", {integer_attribute("to", 6)}))
      .message(1, node("Shape", {"attention_mask"}, {"shape"}))
      .message(1, node("Gather", {"shape", "one"}, {"total"}))
      .message(1, node("Cast", {"total"}, {"total32"}, "", {integer_attribute("to", 6)}))
      .message(1, node("GroupQueryAttention",
                       {"qkv", "", "", "past_key_values.0.key", "past_key_values.0.value", "last32", "total32",
                        "cosines", "sines"},
                       {"y", "present.0.key", "present.0.value"}, "com.microsoft",
                       {integer_attribute("num_heads", 1), integer_attribute("kv_num_heads", 1),
                        integer_attribute("do_rotary", 1)}))
      .message(1, node("MatMul", {"y", "head"}, {"logits"}))
      .message(5, raw_tensor<float>("embedding", 1, {kWords, 3 * kSize}, random_floats(kWords * 3 * kSize, 1)))
      .message(5, raw_tensor<float>("head", 1, {kSize, kWords}, random_floats(kSize * kWords, 2)))
      .message(5, raw_tensor<float>("cosines", 1, {kContext, kSize / 2}, angles))
      .message(5, raw_tensor<float>("sines", 1, {kContext, kSize / 2}, other_angles))
      .message(5, raw_tensor<std::int64_t>("one", 7, {1}, {1}))
      .message(11, value("input_ids", 7, {-1, -1}))
      .message(11, value("attention_mask", 7, {-1, -1}))
      .message(11, value("past_key_values.0.key", 1, {-1, 1, -1, kSize}))
      .message(11, value("past_key_values.0.value", 1, {-1, 1, -1, kSize}))
      .message(12, value("logits", 1, {-1, -1, kWords}))
      .message(12, value("present.0.key", 1, {-1, 1, -1, kSize}))
      .message(12, value("present.0.value", 1, {-1, 1, -1, kSize}));
  Bytes bytes = onnx::test::model(graph);
  bytes.message(8, onnx::test::opset("com.microsoft", 1));
  return bytes.data();
}

inline std::string config_text(const std::string& changed = {}, const std::string& with = {}) {
  std::string text = R"({"model": {"context_length": 64, "eos_token_id": [39], "vocab_size": 40, "decoder": {
    "filename": "model.onnx", "head_size": 8, "num_hidden_layers": 1, "num_key_value_heads": 1,
    "inputs": {"past_key_names": "past_key_values.%d.key"}}}, "search": {"max_length": 48, "do_sample": false}})";
  if (!changed.empty()) {
    text.replace(text.find(changed), changed.size(), with);
  }
  return text;
}

class LanguageModel {
 public:
  LanguageModel() : folder_(testing::TempDir() + "anydml_language_model_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/model.onnx", std::ios::binary) << model_bytes();
    write_config(config_text());
  }
  ~LanguageModel() { std::filesystem::remove_all(folder_); }
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  void write_config(const std::string& text) const { std::ofstream(folder_ + "/genai_config.json") << text; }

 private:
  std::string folder_;
};

}  // namespace anydml::test
