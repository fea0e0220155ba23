// SPDX-License-Identifier: MIT
// Generates text token by token with a language model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "onnx/generate/config.h"
#include "onnx/generate/decoder.h"
#include "onnx/generate/lane.h"
#include "onnx/generate/search.h"

namespace anydml::onnx {

// What happens to the cache of keys and values as the text becomes longer.
enum class CacheMode : std::int64_t {
  kFixed = 0,     // it has `slots` rows, and a full cache is an error
  kDoubling = 1,  // it starts with `slots` rows; a full cache doubles
  kGrowing = 2,   // it has as many rows as there are tokens
};

struct GeneratorOptions {
  ModelOptions model;
  std::int64_t slots = 4096;  // the model's context length limits it
  std::int64_t chunk = 128;   // the most tokens of prompts that run at once, a power of two
  CacheMode cache = CacheMode::kFixed;
};

// Why a sequence has no more tokens: a stop token, its length, or the caller.
enum class End : std::int32_t { kNone = 0, kStopToken = 1, kLength = 2, kStopped = 3 };

struct GeneratedToken {
  std::int64_t token = -1;  // -1: the sequence ended with an earlier token
  End end = End::kNone;     // of the sequence, with this token or before it
};

class Generator {
 public:
  // Raises the errors of read_generate_config and of Decoder, and Invalid if an option is wrong.
  Generator(const std::string& folder, const GeneratorOptions& options);

  [[nodiscard]] const GenerateConfig& config() const { return config_; }
  [[nodiscard]] CacheMode cache_mode() const { return options_.cache; }
  [[nodiscard]] std::int64_t slots() const { return options_.slots; }

  // Runs the prompts, and ends earlier sequences. A prompt that begins with the tokens of an earlier sequence of the
  // same number keeps their rows of the cache, which has no influence on the results. Raises Invalid if an option or a
  // prompt is wrong.
  void start(std::vector<Tokens> prompts, const SearchRequest& request);
  // Generates the next token of each sequence.
  void step(std::span<GeneratedToken> tokens);
  [[nodiscard]] std::size_t sequences() const { return sequences_.size(); }
  // The prompt and the tokens that were generated.
  [[nodiscard]] const Tokens& text(std::size_t sequence) const { return sequences_[sequence].text; }
  // The logits from which the sequence's last token was chosen, or the first one will be.
  [[nodiscard]] std::span<const float> logits(std::size_t sequence) const;
  // Ends a sequence, for example because its text has a stop word.
  void end(std::size_t sequence);

 private:
  struct Sequence {
    Tokens text;
    std::size_t prompt = 0;  // the number of tokens in the prompt
    std::size_t done = 0;    // tokens of the text that have run
    std::vector<float> logits;
    End end = End::kNone;
  };
  struct Place {
    std::size_t lane, row;
  };
  void check(const std::vector<Tokens>& prompts, const Search& search) const;
  void check_number(std::size_t sequence) const;
  // Keeps the lanes if the new prompts can use them.
  void set_lanes(std::size_t count, std::size_t longest);
  [[nodiscard]] Place place_of(std::size_t sequence) const;
  // Runs the tokens that have not run yet.
  void run_new_tokens();
  void make_room(Lane& lane, std::size_t first);
  [[nodiscard]] std::int64_t chosen_token(std::size_t number) const;
  // Appends a token to a sequence, and returns whether the sequence ends with it.
  End take_token(std::size_t number, std::int64_t token);
  void finish(std::size_t number, End end);

  GenerateConfig config_;
  GeneratorOptions options_;
  Decoder decoder_;
  Search search_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Sequence> sequences_;
};

}  // namespace anydml::onnx
