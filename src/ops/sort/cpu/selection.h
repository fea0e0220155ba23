// SPDX-License-Identifier: MIT
// Selects the first K words of a row that arrives in chunks. Most elements that cannot be among the first K never
// become words, because groups of elements are skipped if their minimum key is too large.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/sort/cpu/kernels.h"
#include "ops/sort/cpu/words.h"
#include "ops/sort/scalar/keys.h"

namespace anydml {

// The number of words beyond K that a selection may contain before it drops some.
[[nodiscard]] constexpr std::int64_t selection_slack(std::int64_t k) { return std::max<std::int64_t>(16, k / 4); }
[[nodiscard]] constexpr std::int64_t selection_room(std::int64_t k) { return k + selection_slack(k) + kSortChunk + 1; }
// The number of keys in a selection's working memory.
inline constexpr std::int64_t kSelectionKeys = 3 * kSortChunk / kSortGroup;

// Contiguous elements in memory, or their keys.
struct SortedElements {
  const std::byte* first;
  std::int64_t size;  // in bytes
  bool largest;
};

template <class Word>
class Selection {
 public:
  using Key = typename Word::Key;

  // words: space for selection_room(k). keys: space for kSelectionKeys.
  Selection(std::int64_t k, Word* words, Key* keys) : k_(k), words_(words), minima_(keys) {}

  // Adds the elements at [first, first + count) of the row, which follow the previous elements; at most one chunk.
  void take(const SortedElements& elements, std::int64_t first, std::int64_t count,
            const SortKernels& kernels) noexcept {
    if (is_closed_) {
      return;
    }
    const std::int64_t stretch = kernels.lanes * kSortGroup;
    const std::int64_t stretches = count / stretch;
    const std::int64_t groups = stretches * kernels.lanes;
    kernels.minima(elements.first, stretches, elements.largest, minima_);
    // The minimum key of every four groups.
    const std::int64_t quarter = groups / 4;
    Key* const coarse = minima_ + groups;
    for (std::int64_t i = 0; i < quarter; ++i) {
      coarse[i] = std::min(std::min(minima_[i], minima_[i + quarter]),
                           std::min(minima_[i + 2 * quarter], minima_[i + 3 * quarter]));
    }
    if (size_ < k_) {
      const bool by_quads = quarter > 2 * k_;
      bound(by_quads ? coarse : minima_, by_quads ? quarter : groups, coarse + quarter, elements.largest, kernels);
    }
    const auto check = [&](std::int64_t group) {
      if (minima_[group] <= limit_) {
        const std::int64_t position = group / kernels.lanes * stretch + group % kernels.lanes;
        add(elements, position, kernels.lanes, kSortGroup, first, kernels);
      }
    };
    for (std::int64_t i = 0; i < quarter; ++i) {
      for (std::int64_t group = i; coarse[i] <= limit_ && group < 4 * quarter; group += quarter) {
        check(group);
      }
    }
    for (std::int64_t group = 4 * quarter; group < groups; ++group) {
      check(group);
    }
    for (std::int64_t position = stretches * stretch; position < count; position += kSortGroup) {
      add(elements, position, 1, std::min(kSortGroup, count - position), first, kernels);
    }
    if (size_ >= k_ && (!is_bounded_ || size_ >= k_ + selection_slack(k_))) {
      drop();
    }
  }

  // Returns the number of words, which are the first K in any order.
  [[nodiscard]] std::int64_t finish() noexcept {
    if (size_ > k_) {
      drop();
    }
    return size_;
  }

 private:
  // Each group has a minimum key. At least K keys do not exceed the K-th of these minima.
  void bound(const Key* minima, std::int64_t count, Key* ranked, bool largest, const SortKernels& kernels) noexcept {
    if (count <= k_) {
      return;
    }
    Key found = 0;
    const std::int64_t half = count / 2;
    if (half > 2 * k_ && half <= kFewSorted) {  // pairs of groups give an equally good bound, with fewer to rank
      std::transform(minima, minima + half, minima + half, ranked, [](Key a, Key b) { return std::min(a, b); });
      found = static_cast<Key>(kernels.kth(ranked, half, k_));
    } else if (count <= kFewSorted) {
      found = static_cast<Key>(kernels.kth(minima, count, k_));
    } else {
      std::copy_n(minima, count, ranked);
      std::nth_element(ranked, ranked + k_ - 1, ranked + count);
      found = ranked[k_ - 1];
    }
    if (found == static_cast<Key>(kernels.vague[largest ? 1 : 0])) {
      found = std::max(found, static_cast<Key>(kernels.loose[largest ? 1 : 0]));
    }
    limit_ = std::min(limit_, found);
  }

  // Adds the elements at position, position + step, ... of the chunk.
  void add(const SortedElements& elements, std::int64_t position, std::int64_t step, std::int64_t count,
           std::int64_t first, const SortKernels& kernels) noexcept {
    Key keys[kSortGroup];
    kernels.keys(elements.first + position * elements.size, step * elements.size, count, elements.largest, keys);
    Word* to = words_ + size_;
    for (std::int64_t i = 0; i < count; ++i) {  // without an unpredictable branch
      *to = Word(keys[i], static_cast<u32>(first + position + i * step));
      to += keys[i] <= limit_ ? 1 : 0;
    }
    size_ = to - words_;
  }

  // Keeps the first K words. Later elements whose keys equal the maximum key of these words come after them.
  void drop() noexcept {
    std::nth_element(words_, words_ + k_ - 1, words_ + size_);
    size_ = k_;
    is_bounded_ = true;
    const Key maximum = words_[k_ - 1].key();
    is_closed_ = maximum == ~kMaxKey<Key>;
    limit_ = is_closed_ ? maximum : static_cast<Key>(maximum - 1);
  }

  std::int64_t k_;
  Word* words_;
  Key* minima_;
  std::int64_t size_ = 0;
  Key limit_ = kMaxKey<Key>;  // greater keys are not among the first K
  bool is_bounded_ = false;
  bool is_closed_ = false;
};

}  // namespace anydml
