// SPDX-License-Identifier: MIT
// Sequences that run together, as the rows of a batch, and their cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "onnx/generate/cache.h"
#include "onnx/generate/decoder.h"

namespace anydml::onnx {

using Tokens = std::vector<std::int64_t>;

class Lane {
 public:
  struct Form {
    std::int64_t rows = 0;   // of the cache; 0: it grows with each token
    std::int64_t chunk = 1;  // the most tokens of a run, of all sequences together; a power of two
  };
  // Sequences of different lengths can be in one lane only if the decoder can pad.
  Lane(Decoder& decoder, std::size_t batch, const Form& form);

  // Receives the logits that follow the last new token of a sequence. They are valid until the function returns.
  using Receive = std::function<void(std::size_t sequence, const Array& logits)>;
  // Appends tokens to each sequence, and calls the function for each sequence that has new tokens. If it, or the
  // function, raises an error, the sequences whose logits were not received end before the run that failed. The rows of
  // the cache must suffice.
  void append(std::span<const Tokens> tokens, const Receive& receive);
  // Begins another sequence, which keeps this many tokens of the old one: 0 unless the decoder can pad.
  void begin(std::size_t sequence, std::size_t kept);
  // The sequence gets no more tokens, and its rows may be overwritten.
  void end(std::size_t sequence) { is_ended_[sequence] = true; }
  void enlarge(std::int64_t rows) { cache_.enlarge(rows); }

  [[nodiscard]] const Tokens& text(std::size_t sequence) const { return texts_[sequence]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] std::int64_t rows() const { return cache_.rows(); }

 private:
  // One run: for each sequence, the tokens from a position on, up to `count` of them.
  void run(std::span<const Tokens> tokens, std::size_t first, std::int64_t count, const Receive& receive);
  [[nodiscard]] std::int64_t run_length(std::int64_t remaining) const;
  // The number of rows before the new ones. The rows of an ended sequence may be overwritten to make room.
  [[nodiscard]] std::int64_t rows_before(std::size_t sequence, std::int64_t count) const;

  Decoder& decoder_;
  Form form_;
  KeyValueCache cache_;
  std::vector<Tokens> texts_;  // whose keys and values are in the cache
  std::vector<bool> is_ended_;
};

}  // namespace anydml::onnx
