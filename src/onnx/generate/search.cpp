// SPDX-License-Identifier: MIT
#include "onnx/generate/search.h"

#include <cmath>
#include <limits>

#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

// Scores are floats, so a number that a score is divided by must be a float above 0.
float checked_divisor(const char* name, double value) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  constexpr double kMost = std::numeric_limits<float>::max();
  if (!(value >= kLeast && value <= kMost)) {
    fail("{} is {}; expected a positive number", name, value);
  }
  return static_cast<float>(value);
}

void check_count(const char* name, std::int64_t value) {
  if (value < 0) {
    fail("{} is {}; expected 0 or more", name, value);
  }
}

}  // namespace

Search checked_search(const SearchRequest& request, const GenerateConfig& config) {
  Search search;
  const double temperature = request.temperature.value_or(config.search.temperature);
  if (temperature != 0) {
    if (!(temperature > 0)) {
      fail("temperature is {}; expected 0, for the most likely tokens, or a positive number", temperature);
    }
    search.sampling.temperature = checked_divisor("temperature", temperature);
  } else if (request.top_k.value_or(0) != 0 || request.top_p.value_or(1) != 1) {
    fail("{} is given and temperature is 0, which always takes the most likely token; expected a temperature above 0",
         request.top_k.value_or(0) != 0 ? "top_k" : "top_p");
  }
  search.sampling.top_k = request.top_k.value_or(config.search.top_k);
  check_count("top_k", search.sampling.top_k);
  search.sampling.top_p = request.top_p.value_or(config.search.top_p);
  if (!(search.sampling.top_p > 0 && search.sampling.top_p <= 1)) {
    fail("top_p is {}; expected a number above 0, up to 1", search.sampling.top_p);
  }
  search.sampling.repetition_penalty =
      checked_divisor("repetition_penalty", request.repetition_penalty.value_or(config.search.repetition_penalty));
  search.sampling.seed = request.seed;
  check_count("max_length", request.max_length);
  check_count("max_new_tokens", request.max_new_tokens);
  if (request.max_length > config.context_length) {
    fail("max_length is {} and the model's context_length {}; expected at most as much", request.max_length,
         config.context_length);
  }
  search.max_length = request.max_length != 0 ? request.max_length : config.search.max_length;
  search.max_new_tokens = request.max_new_tokens;
  search.stop_tokens = request.stop_tokens;
  if (!request.ignores_end) {
    search.stop_tokens.insert(search.stop_tokens.end(), config.end_tokens.begin(), config.end_tokens.end());
  }
  return search;
}

}  // namespace anydml::onnx
