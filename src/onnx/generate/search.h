// SPDX-License-Identifier: MIT
// The options of a search for text, checked, with the model's own defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/generate/config.h"
#include "onnx/generate/sampling.h"

namespace anydml::onnx {

// What a caller asks for. Absent options have the defaults of genai_config.json.
struct SearchRequest {
  std::optional<double> temperature, top_p, repetition_penalty;
  std::optional<std::int64_t> top_k;
  std::uint64_t seed = 0;
  std::int64_t max_length = 0;      // of prompt and result together; 0: the default
  std::int64_t max_new_tokens = 0;  // 0: no limit
  std::vector<std::int64_t> stop_tokens;
  bool ignores_end = false;  // whether the model's own end tokens are tokens like others
};

struct Search {
  Sampling sampling;
  std::int64_t max_length = 0, max_new_tokens = 0;
  std::vector<std::int64_t> stop_tokens;
};

// Raises Invalid, which names the option.
[[nodiscard]] Search checked_search(const SearchRequest& request, const GenerateConfig& config);

}  // namespace anydml::onnx
