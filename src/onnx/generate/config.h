// SPDX-License-Identifier: MIT
// The description of a language model in genai_config.json, which onnxruntime-genai's builder writes next to the model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anydml::onnx {

// How to choose tokens if the caller does not say so.
struct SearchDefaults {
  double temperature = 0;  // 0: the largest logit
  double top_p = 1;
  double repetition_penalty = 1;
  std::int64_t top_k = 0;  // 0: all tokens
  std::int64_t max_length = 0;
};

struct GenerateConfig {
  std::string path;  // of the model
  // The names of inputs and outputs. In the names of caches, %d stands for the number of the layer.
  std::string tokens, mask, positions, past_keys, past_values;
  std::string logits, present_keys, present_values;
  std::int64_t layers = 0;
  std::int64_t heads = 0;      // of keys and values
  std::int64_t head_size = 0;  // elements of a key or value
  std::int64_t context_length = 0;
  std::int64_t words = 0;  // the number of tokens in the vocabulary; 0 if the file does not say
  std::vector<std::int64_t> end_tokens;
  SearchDefaults search;
};

// Reads genai_config.json of a folder. Raises Invalid, which names the field, or Unsupported.
[[nodiscard]] GenerateConfig read_generate_config(const std::string& folder);

// The name of a cache of a layer: the pattern with the number in place of %d.
[[nodiscard]] std::string layer_name(const std::string& pattern, std::int64_t layer);

}  // namespace anydml::onnx
