// SPDX-License-Identifier: MIT
#include "onnx/generate/lane.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "onnx/values/errors.h"

namespace anydml::onnx {
namespace {

// Fills the runs of shorter sequences. Its results are not used, and every model has it; the pad_token_id of a
// description may be outside of the model's vocabulary.
constexpr std::int64_t kPadToken = 0;

// A matrix of integers of the type of an input.
Array matrix_of(Kind kind, std::int64_t rows, std::int64_t columns, const Tokens& numbers) {
  if (kind == Kind::kInt64) {
    return Array::of(kind, {rows, columns}, numbers);
  }
  return Array::of(kind, {rows, columns}, std::vector<std::int32_t>(numbers.begin(), numbers.end()));
}

// The largest power of two up to a number, and 0 for 0.
std::int64_t floor_power(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
}

}  // namespace

Lane::Lane(Decoder& decoder, std::size_t batch, const Form& form)
    : decoder_(decoder),
      form_(form),
      cache_(decoder, static_cast<std::int64_t>(batch), form.rows),
      texts_(batch),
      is_ended_(batch, false) {
  form_.chunk = std::max<std::int64_t>(1, floor_power(form.chunk / static_cast<std::int64_t>(batch)));
}

void Lane::append(std::span<const Tokens> tokens, const Receive& receive) {
  std::size_t longest = 0;
  for (const Tokens& one : tokens) {
    longest = std::max(longest, one.size());
  }
  for (std::size_t first = 0; first < longest;) {
    const std::int64_t count = run_length(static_cast<std::int64_t>(longest - first));
    if (count < 1) {
      fail("the cache has {} slots, which is too few for the new tokens", cache_.rows());
    }
    run(tokens, first, count, receive);
    first += static_cast<std::size_t>(count);
  }
}

// The lengths of runs are powers of two, so that a few compiled forms serve all prompts. Where tokens behind the end of
// a sequence do no harm, the last run of a prompt has some; otherwise several shorter runs end it.
std::int64_t Lane::run_length(std::int64_t remaining) const {
  if (!decoder_.can_have_free_rows()) {
    return remaining;  // such models may compute the mask of a prompt only for its first run
  }
  if (cache_.rows() == 0) {
    return std::min(remaining, form_.chunk);  // each run has a form of its own in any case
  }
  if (!decoder_.can_pad()) {
    return floor_power(std::min(remaining, form_.chunk));
  }
  const auto next = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(remaining)));
  std::int64_t count = std::min(next, form_.chunk);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::int64_t free = cache_.rows() - (is_ended_[i] ? 0 : static_cast<std::int64_t>(texts_[i].size()));
    count = std::min(count, floor_power(free));
  }
  return count;
}

std::int64_t Lane::rows_before(std::size_t sequence, std::int64_t count) const {
  const auto length = static_cast<std::int64_t>(texts_[sequence].size());
  return is_ended_[sequence] ? std::min(length, cache_.rows() - count) : length;
}

void Lane::run(std::span<const Tokens> tokens, std::size_t first, std::int64_t count, const Receive& receive) {
  const auto batch = static_cast<std::int64_t>(texts_.size());
  const auto width = static_cast<std::size_t>(count);
  const std::int64_t columns =
      cache_.rows() != 0 ? cache_.rows() : static_cast<std::int64_t>(texts_.front().size()) + count;
  Tokens ids;
  Tokens mask;
  Tokens positions;
  Tokens last;  // the last new token of each sequence
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::int64_t before = rows_before(i, count);
    texts_[i].resize(static_cast<std::size_t>(before));
    const std::size_t end = std::min(first + width, tokens[i].size());
    last.push_back(end > first ? static_cast<std::int64_t>(end - first - 1) : 0);
    for (std::size_t j = 0; j < width; ++j) {
      ids.push_back(first + j < tokens[i].size() ? tokens[i][first + j] : kPadToken);
      positions.push_back(before + static_cast<std::int64_t>(j));
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      mask.push_back(j < before + count ? 1 : 0);
    }
  }
  const std::vector<ValueMessage>& declared = decoder_.model().inputs();
  Arrays inputs(declared.size());
  inputs[decoder_.tokens()] = matrix_of(declared[decoder_.tokens()].kind, batch, count, ids);
  if (decoder_.mask()) {
    inputs[*decoder_.mask()] = matrix_of(declared[*decoder_.mask()].kind, batch, columns, mask);
  }
  if (decoder_.positions()) {
    inputs[*decoder_.positions()] = matrix_of(declared[*decoder_.positions()].kind, batch, count, positions);
  }
  if (decoder_.rows()) {
    inputs[*decoder_.rows()] = Array::of(Kind::kInt64, {batch, 1, 1}, last);
  }
  std::vector<std::size_t> numbers(decoder_.model().outputs().size(), decoder_.cache().size());
  for (std::size_t i = 0; i < decoder_.cache().size(); ++i) {
    inputs[decoder_.cache()[i].input] = cache_.past(i);
    numbers[decoder_.cache()[i].output] = i;
  }
  Arrays others(numbers.size());  // the logits, and outputs that nothing uses
  decoder_.model().run(inputs, [&](std::size_t output, Kind kind, const Sizes& shape) -> void* {
    if (numbers[output] < decoder_.cache().size()) {
      return cache_.present(numbers[output], shape);
    }
    others[output] = Array::empty(kind, shape);
    return others[output].writable();
  });
  const Array& logits = others[decoder_.logits()];
  // Padding is possible only if the logits of any token can be had.
  const bool has_one = decoder_.rows() || (!decoder_.can_pad() && logits.rank() == 3 && logits.size(1) == 1);
  const std::int64_t rows = has_one ? 1 : count;
  if (logits.rank() != 3 || logits.size(0) != batch || logits.size(1) != rows) {
    fail("the logits have the shape {}; expected [{}, {}, tokens of the vocabulary]", listed(logits.shape()), batch,
         rows);
  }
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::size_t end = std::min(first + width, tokens[i].size());
    if (end <= first) {
      continue;
    }
    texts_[i].reserve(texts_[i].size() + end - first);
    // The text and the cache get the new tokens last. If the receiver fails, the next run has the same tokens.
    if (end == tokens[i].size()) {
      receive(i, logits.at(0, static_cast<std::int64_t>(i)).at(0, has_one ? 0 : last[i]));
    }
    texts_[i].insert(texts_[i].end(), tokens[i].begin() + static_cast<std::ptrdiff_t>(first),
                     tokens[i].begin() + static_cast<std::ptrdiff_t>(end));
  }
  cache_.keep();
}

void Lane::begin(std::size_t sequence, std::size_t kept) {
  texts_[sequence].resize(kept);
  is_ended_[sequence] = false;
}

}  // namespace anydml::onnx
