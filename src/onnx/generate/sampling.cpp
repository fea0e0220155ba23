// SPDX-License-Identifier: MIT
#include "onnx/generate/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "onnx/values/array.h"
#include "onnx/values/dispatch.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15U;

// The function of SplitMix64, whose state grows by kStep with each number.
std::uint64_t mixed(std::uint64_t state) {
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31U);
}

// Tokens with a score, in the order of their scores, and of their numbers where scores are equal. Only the beginning is
// sorted, as far as it is used: nearly all draws fall on the first few tokens of a large vocabulary.
class Ranking {
 public:
  explicit Ranking(std::span<const float> scores) : scores_(scores), tokens_(scores.size()) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      tokens_[i] = static_cast<std::uint32_t>(i);
    }
  }

  [[nodiscard]] std::size_t size() const { return tokens_.size(); }

  std::uint32_t at(std::size_t rank) {
    if (rank >= sorted_) {
      sort_up_to(rank + 1);
    }
    return tokens_[rank];
  }

  void sort_up_to(std::size_t count) {
    constexpr std::size_t kFirst = 64;
    count = std::min(std::max({count, kFirst, 4 * sorted_}), tokens_.size());
    if (count <= sorted_) {
      return;
    }
    const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(count);
    const auto is_before = [this](std::uint32_t a, std::uint32_t b) {
      return scores_[a] != scores_[b] ? scores_[a] > scores_[b] : a < b;
    };
    if (end != tokens_.end()) {
      std::nth_element(begin, end, tokens_.end(), is_before);
    }
    std::sort(begin, end, is_before);
    sorted_ = count;
  }

 private:
  std::span<const float> scores_;
  std::vector<std::uint32_t> tokens_;
  std::size_t sorted_ = 0;
};

void apply_penalty(std::span<float> logits, std::span<const std::int64_t> text, float penalty) {
  std::vector<std::int64_t> tokens(text.begin(), text.end());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (const std::int64_t token : tokens) {
    if (token >= static_cast<std::int64_t>(logits.size())) {
      break;  // of a prompt; the model has no logit for it
    }
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

// exp(score - largest score), times 2^32, rounded down. The exponential is correctly rounded. Sums of these integers
// are exact, so no order of additions has to be defined: 2^24 of them are less than 2^57, and those of a vocabulary of
// up to 2^20 tokens have exact doubles.
std::vector<std::uint64_t> weights_of(std::span<const float> scores, float largest) {
  Array differences = Array::empty(Kind::kFloat, {static_cast<std::int64_t>(scores.size())});
  auto* const to = static_cast<float*>(differences.writable());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    to[i] = scores[i] - largest;
  }
  const Array exponentials = dispatch("ELEMENT_WISE_EXP", {differences}).packed();
  std::vector<std::uint64_t> weights;
  weights.reserve(scores.size());
  for (const float one : exponentials.elements<float>()) {
    weights.push_back(static_cast<std::uint64_t>(std::ldexp(static_cast<double>(one), 32)));
  }
  return weights;
}

}  // namespace

double uniform_number(std::uint64_t seed, std::uint64_t sequence, std::uint64_t token) {
  const std::uint64_t start = mixed(mixed(seed + kStep) + (sequence + 1) * kStep);
  return std::ldexp(static_cast<double>(mixed(start + (token + 1) * kStep) >> 11U), -53);
}

std::int64_t choose_token(std::span<float> logits, std::span<const std::int64_t> text, const Sampling& sampling,
                          double draw) {
  if (sampling.repetition_penalty != 1) {
    apply_penalty(logits, text, sampling.repetition_penalty);
  }
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  for (float& logit : logits) {
    if (sampling.temperature != 0) {
      logit /= sampling.temperature;
    }
    logit = std::isnan(logit) ? kNothing : std::min(logit, std::numeric_limits<float>::max());
  }
  const auto largest = std::max_element(logits.begin(), logits.end());  // the first one of equal numbers
  if (largest == logits.end() || *largest == kNothing) {
    throw Invalid("no logit of the model is a number");
  }
  if (sampling.temperature == 0) {
    return std::distance(logits.begin(), largest);
  }
  const std::vector<std::uint64_t> weights = weights_of(logits, *largest);
  Ranking ranking(logits);
  const std::size_t count =
      sampling.top_k == 0 ? logits.size() : std::min(logits.size(), static_cast<std::size_t>(sampling.top_k));
  std::uint64_t total = 0;
  if (count == logits.size()) {
    for (const std::uint64_t weight : weights) {
      total += weight;
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      total += weights[ranking.at(i)];
    }
  }
  if (sampling.top_p < 1) {
    const double limit = sampling.top_p * static_cast<double>(total);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count && (i == 0 || static_cast<double>(sum) < limit); ++i) {
      sum += weights[ranking.at(i)];
    }
    total = sum;
  }
  const double place = draw * static_cast<double>(total);
  std::uint64_t sum = 0;
  for (std::size_t i = 0;; ++i) {
    const std::uint32_t token = ranking.at(i);
    sum += weights[token];
    if (static_cast<double>(sum) > place || i + 1 == count) {
      return token;
    }
  }
}

}  // namespace anydml::onnx
