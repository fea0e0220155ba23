// SPDX-License-Identifier: MIT
// The K first words of a row whose keys come by chunks. A key that cannot be among them is never made a word: blocks of
// keys are passed over by their least key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "ops/sort/cpu/kernels.h"
#include "ops/sort/cpu/words.h"

namespace anydml {

inline constexpr std::int64_t kSortChunk = 4096;  // keys, in the first-level cache

// Words that a selection may hold beyond its K before it drops some.
[[nodiscard]] constexpr std::int64_t selection_slack(std::int64_t k) { return std::max<std::int64_t>(16, k / 4); }
[[nodiscard]] constexpr std::int64_t selection_room(std::int64_t k) { return k + selection_slack(k) + kSortChunk + 1; }

template <class Word>
class Selection {
 public:
  using Key = typename Word::Key;

  // words: room for selection_room(k). minima: room for twice the blocks of a chunk.
  Selection(std::int64_t k, Word* words, Key* minima) : k_(k), words_(words), minima_(minima) {}

  // The keys at [first, first + count) of the row, which follow on those before.
  void take(const Key* keys, std::int64_t first, std::int64_t count, const SortKernels& kernels) noexcept {
    if (is_closed_) {
      return;
    }
    const std::int64_t blocks = count / kSortBlock;
    kernels.minima(keys, blocks, minima_);
    if (size_ < k_ && blocks > k_) {
      // K keys are no greater than the K-th of the blocks' least keys.
      Key* const ranked = minima_ + blocks;
      std::copy_n(minima_, blocks, ranked);
      std::nth_element(ranked, ranked + k_ - 1, ranked + blocks);
      limit_ = std::min(limit_, ranked[k_ - 1]);
    }
    for (std::int64_t i = 0; i < blocks; ++i) {
      if (minima_[i] <= limit_) {
        add(keys + i * kSortBlock, first + i * kSortBlock, kSortBlock);
      }
    }
    add(keys + blocks * kSortBlock, first + blocks * kSortBlock, count - blocks * kSortBlock);
    if (size_ >= k_ && (!is_bounded_ || size_ >= k_ + selection_slack(k_))) {
      drop();
    }
  }

  // The words, K of them and perhaps more, in any order where there are more.
  [[nodiscard]] std::int64_t finish() noexcept {
    if (size_ > k_) {
      drop();
    }
    return size_;
  }

 private:
  void add(const Key* keys, std::int64_t first, std::int64_t count) noexcept {
    Word* to = words_ + size_;
    for (std::int64_t i = 0; i < count; ++i) {  // without a jump that nobody can foresee
      *to = Word(keys[i], static_cast<u32>(first + i));
      to += keys[i] <= limit_ ? 1 : 0;
    }
    size_ = to - words_;
  }

  // Keeps the first K. A later key that equals the greatest of them comes after it.
  void drop() noexcept {
    std::nth_element(words_, words_ + k_ - 1, words_ + size_);
    size_ = k_;
    is_bounded_ = true;
    const Key greatest = words_[k_ - 1].key();
    is_closed_ = greatest == std::numeric_limits<Key>::min();
    limit_ = is_closed_ ? greatest : static_cast<Key>(greatest - 1);
  }

  std::int64_t k_;
  Word* words_;
  Key* minima_;
  std::int64_t size_ = 0;
  Key limit_ = std::numeric_limits<Key>::max();  // keys that are greater are not among the first
  bool is_bounded_ = false;
  bool is_closed_ = false;
};

}  // namespace anydml
