// SPDX-License-Identifier: MIT
#include "onnx/generate/generator.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "onnx/values/dispatch.h"
#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

std::vector<float> floats_of(const Array& logits) {
  const Array packed = cast(logits, Kind::kFloat).packed();
  const std::span<const float> elements = packed.elements<float>();
  return {elements.begin(), elements.end()};
}

const GeneratorOptions& checked(const GeneratorOptions& options) {
  constexpr std::int64_t kMaxSlots = std::int64_t{1} << 30;
  constexpr std::int64_t kMaxChunk = 65536;
  if (options.slots < 1 || options.slots > kMaxSlots) {
    fail("slots is {}; expected 1 to {}", options.slots, kMaxSlots);
  }
  if (options.chunk < 1 || options.chunk > kMaxChunk ||
      !std::has_single_bit(static_cast<std::uint64_t>(options.chunk))) {
    fail("chunk is {}; expected a power of two from 1 to {}", options.chunk, kMaxChunk);
  }
  const auto cache = static_cast<std::int64_t>(options.cache);
  if (cache < 0 || cache > static_cast<std::int64_t>(CacheMode::kGrowing)) {
    fail("cache is {}; expected 0 (fixed), 1 (doubling) or 2 (growing)", cache);
  }
  return options;
}

}  // namespace

Generator::Generator(const std::string& folder, const GeneratorOptions& options)
    : config_(read_generate_config(folder)), options_(checked(options)), decoder_(config_, options.model) {
  if (!decoder_.can_have_free_rows()) {
    options_.cache = CacheMode::kGrowing;
  }
  options_.slots = options_.cache == CacheMode::kGrowing ? 0 : std::min(options_.slots, config_.context_length);
}

void Generator::check(const std::vector<Tokens>& prompts, const Search& search) const {
  if (prompts.empty()) {
    fail("there are no prompts; expected one or more");
  }
  const auto check_token = [this](std::int64_t token, const char* what, std::size_t number) {
    // A model whose vocabulary is not known may take its tokens as int32.
    const std::int64_t last = config_.words != 0 ? config_.words - 1 : std::numeric_limits<std::int32_t>::max();
    if (token < 0 || token > last) {
      fail("{} {} has the token {}; expected 0 to {}", what, number, token, last);
    }
  };
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto length = static_cast<std::int64_t>(prompts[i].size());
    if (length == 0) {
      fail("prompt {} has no tokens; expected one or more", i);
    }
    for (const std::int64_t token : prompts[i]) {
      check_token(token, "prompt", i);
    }
    if (length >= search.max_length) {
      fail("prompt {} has {} tokens and max_length is {}; expected fewer tokens", i, length, search.max_length);
    }
    if (options_.cache == CacheMode::kFixed && length > options_.slots) {
      fail("prompt {} has {} tokens and the cache {} slots; expected at most as many tokens, or more slots", i, length,
           options_.slots);
    }
  }
}

void Generator::start(std::vector<Tokens> prompts, const SearchRequest& request) {
  const Search search = checked_search(request, config_);
  check(prompts, search);
  std::size_t longest = 0;
  for (const Tokens& prompt : prompts) {
    longest = std::max(longest, prompt.size());
  }
  sequences_.clear();  // stays so if this call fails
  set_lanes(prompts.size(), longest);
  search_ = search;
  std::vector<Sequence> sequences(prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto [lane, row] = place_of(i);
    const Tokens& before = lanes_[lane]->text(row);
    // The last token gives the logits. A text that fills the cache keeps nothing, because the other texts of its lane
    // may need runs of several tokens.
    const bool fills_cache = lanes_[lane]->rows() != 0 && lanes_[lane]->size() > 1 &&
                             static_cast<std::int64_t>(prompts[i].size()) >= lanes_[lane]->rows();
    const std::size_t most = fills_cache ? 0 : std::min(before.size(), prompts[i].size() - 1);
    const auto end = before.begin() + static_cast<std::ptrdiff_t>(most);
    sequences[i].done = static_cast<std::size_t>(
        std::distance(before.begin(), std::mismatch(before.begin(), end, prompts[i].begin()).first));
    lanes_[lane]->begin(row, sequences[i].done);
    sequences[i].prompt = prompts[i].size();
    sequences[i].text = std::move(prompts[i]);
  }
  sequences_ = std::move(sequences);
  try {
    run_new_tokens();
  } catch (...) {
    sequences_.clear();
    throw;
  }
}

void Generator::set_lanes(std::size_t count, std::size_t longest) {
  const bool is_shared = decoder_.can_pad() && options_.cache != CacheMode::kGrowing;
  const bool fits = is_shared && lanes_.size() == 1 && lanes_.front()->size() == count;
  if (fits) {
    return;
  }
  lanes_.clear();
  Lane::Form form = {.rows = options_.slots, .chunk = options_.chunk};
  while (options_.cache == CacheMode::kDoubling && form.rows < static_cast<std::int64_t>(longest)) {
    form.rows = std::min(2 * form.rows, config_.context_length);
  }
  const std::size_t lanes = is_shared ? 1 : count;
  for (std::size_t i = 0; i < lanes; ++i) {
    lanes_.push_back(std::make_unique<Lane>(decoder_, is_shared ? count : 1, form));
  }
}

Generator::Place Generator::place_of(std::size_t sequence) const {
  return lanes_.size() == 1 ? Place{0, sequence} : Place{sequence, 0};
}

void Generator::make_room(Lane& lane, std::size_t first) {
  std::size_t longest = 0;
  std::size_t number = first;
  for (std::size_t i = first; i < first + lane.size(); ++i) {
    if (sequences_[i].end == End::kNone && sequences_[i].text.size() > longest) {
      longest = sequences_[i].text.size();
      number = i;
    }
  }
  std::int64_t rows = lane.rows();
  const auto needed = static_cast<std::int64_t>(longest);
  if (rows == 0 || needed <= rows) {
    return;
  }
  if (options_.cache == CacheMode::kFixed) {
    fail("the cache is full: text {} has {} tokens, and the cache has {} slots", number, longest, rows);
  }
  while (rows < needed) {
    rows = std::min(2 * rows, config_.context_length);  // which max_length does not exceed
  }
  lane.enlarge(rows);
}

void Generator::run_new_tokens() {
  for (std::size_t lane = 0, first = 0; lane < lanes_.size(); ++lane) {
    Lane& own = *lanes_[lane];
    make_room(own, first);
    std::vector<Tokens> tokens(own.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Sequence& sequence = sequences_[first + i];
      if (sequence.end == End::kNone) {
        tokens[i].assign(sequence.text.begin() + static_cast<std::ptrdiff_t>(sequence.done), sequence.text.end());
      }
    }
    own.append(tokens, [&](std::size_t row, const Array& logits) {
      Sequence& sequence = sequences_[first + row];
      sequence.logits = floats_of(logits);
      sequence.done = sequence.text.size();
    });
    first += own.size();
  }
}

void Generator::step(std::span<GeneratedToken> tokens) {
  if (sequences_.empty()) {
    fail("there are no texts; start with prompts first");
  }
  if (tokens.size() != sequences_.size()) {
    fail("there is room for {} tokens; expected {}, one for each text", tokens.size(), sequences_.size());
  }
  run_new_tokens();
  // All choices come first: if one of them fails, no sequence has a new token.
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = {.token = sequences_[i].end == End::kNone ? chosen_token(i) : -1, .end = sequences_[i].end};
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].token >= 0) {
      tokens[i].end = take_token(i, tokens[i].token);
    }
  }
}

std::int64_t Generator::chosen_token(std::size_t number) const {
  const Sequence& sequence = sequences_[number];
  const double draw = uniform_number(search_.sampling.seed, number, sequence.text.size() - sequence.prompt);
  std::vector<float> logits = sequence.logits;
  return choose_token(logits, sequence.text, search_.sampling, draw);
}

End Generator::take_token(std::size_t number, std::int64_t token) {
  Sequence& sequence = sequences_[number];
  sequence.text.push_back(token);
  const auto length = static_cast<std::int64_t>(sequence.text.size());
  const bool is_stop =
      std::find(search_.stop_tokens.begin(), search_.stop_tokens.end(), token) != search_.stop_tokens.end();
  const bool is_long =
      length >= search_.max_length || length - static_cast<std::int64_t>(sequence.prompt) == search_.max_new_tokens;
  const End end = is_stop ? End::kStopToken : is_long ? End::kLength : End::kNone;
  if (end != End::kNone) {
    finish(number, end);
  }
  return end;
}

void Generator::check_number(std::size_t sequence) const {
  if (sequence >= sequences_.size()) {
    fail("there is no text {}; there are {} texts", sequence, sequences_.size());
  }
}

std::span<const float> Generator::logits(std::size_t sequence) const {
  check_number(sequence);
  return sequences_[sequence].logits;
}

void Generator::end(std::size_t sequence) {
  check_number(sequence);
  if (sequences_[sequence].end == End::kNone) {
    finish(sequence, End::kStopped);
  }
}

void Generator::finish(std::size_t number, End end) {
  sequences_[number].end = end;
  const auto [lane, row] = place_of(number);
  lanes_[lane]->end(row);
}

}  // namespace anydml::onnx
