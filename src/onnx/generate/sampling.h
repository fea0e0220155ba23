// SPDX-License-Identifier: MIT
// Chooses a token from logits, in an order of operations that gives the same token on every machine; see
// docs/language-models.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace anydml::onnx {

struct Sampling {
  float temperature = 0;  // 0: the largest logit
  float repetition_penalty = 1;
  double top_p = 1;        // 1: no limit
  std::int64_t top_k = 0;  // 0: no limit
  std::uint64_t seed = 0;
};

// A number from 0 (included) to 1 (excluded), a multiple of 2^-53: the draw for a token of a sequence.
[[nodiscard]] double uniform_number(std::uint64_t seed, std::uint64_t sequence, std::uint64_t token);

// logits: of all tokens of the vocabulary; they are changed. text: the tokens so far, for the penalty. draw: from
// uniform_number. Raises Invalid if no logit is a number.
[[nodiscard]] std::int64_t choose_token(std::span<float> logits, std::span<const std::int64_t> text,
                                        const Sampling& sampling, double draw);

}  // namespace anydml::onnx
