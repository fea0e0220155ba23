// SPDX-License-Identifier: MIT
// A word consists of a key and an index. No two words of a row are equal, so every sorting method yields the same
// result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/element.h"

namespace anydml {

inline constexpr int kIndexDigits = 4;

// A 32-bit key and its index form one number. The key's highest bit is flipped, so that words are ordered as unsigned
// numbers.
struct NarrowWord {
  using Key = i32;
  static constexpr int kDigits = 8;  // 8-bit digits; the digits of the index come first
  u64 bits;

  NarrowWord() = default;
  NarrowWord(Key key, u32 index) : bits(u64{static_cast<u32>(key) ^ kTop} << 32 | index) {}
  [[nodiscard]] Key key() const { return static_cast<Key>(static_cast<u32>(bits >> 32) ^ kTop); }
  [[nodiscard]] u32 index() const { return static_cast<u32>(bits); }
  [[nodiscard]] u32 digit(int number) const { return static_cast<u32>(bits >> (8 * number)) & 255; }
  friend bool operator<(const NarrowWord& a, const NarrowWord& b) { return a.bits < b.bits; }

 private:
  static constexpr u32 kTop = u32{1} << 31;
};

struct WideWord {
  using Key = i64;
  static constexpr int kDigits = 12;
  u64 bits;  // the key with its highest bit flipped
  u64 index_bits;

  WideWord() = default;
  WideWord(Key key, u32 index) : bits(static_cast<u64>(key) ^ kTop), index_bits(index) {}
  [[nodiscard]] Key key() const { return static_cast<Key>(bits ^ kTop); }
  [[nodiscard]] u32 index() const { return static_cast<u32>(index_bits); }
  [[nodiscard]] u32 digit(int number) const {
    return static_cast<u32>(number < kIndexDigits ? index_bits >> (8 * number)
                                                  : bits >> (8 * (number - kIndexDigits))) &
           255;
  }
  friend bool operator<(const WideWord& a, const WideWord& b) {
    return a.bits < b.bits || (a.bits == b.bits && a.index_bits < b.index_bits);
  }

 private:
  static constexpr u64 kTop = u64{1} << 63;
};

// Radix sort, from the lowest digit to the highest. in_order: the indices are already in ascending order, so their
// digits are skipped. Returns the sorted words, which are in one of the two buffers.
template <class Word>
Word* sort_words(Word* words, Word* spare, std::int64_t count, bool in_order) noexcept {
  constexpr std::int64_t kFew = 512;
  if (count <= kFew) {
    std::sort(words, words + count);
    return words;
  }
  u32 counts[Word::kDigits][256] = {};
  const int first_digit = in_order ? kIndexDigits : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (int digit = first_digit; digit < Word::kDigits; ++digit) {
      ++counts[digit][words[i].digit(digit)];
    }
  }
  for (int digit = first_digit; digit < Word::kDigits; ++digit) {
    if (counts[digit][words[0].digit(digit)] == static_cast<u32>(count)) {
      continue;  // all words have the same digit
    }
    u32 first = 0;
    for (u32& bucket : counts[digit]) {
      const u32 size = bucket;
      bucket = first;
      first += size;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      spare[counts[digit][words[i].digit(digit)]++] = words[i];
    }
    std::swap(words, spare);
  }
  return words;
}

}  // namespace anydml
