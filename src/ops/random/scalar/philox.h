// SPDX-License-Identifier: MIT
// Philox 4x32-10, a generator by Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011).
// It maps a 128-bit counter and a 64-bit key to four words. Word 0 of the counter and of the key is the least
// significant.
#pragma once

#include "base/element.h"

namespace anydml {

inline constexpr u32 kPhiloxRounds = 10;
inline constexpr u32 kPhiloxFactor0 = 0xd2511f53;
inline constexpr u32 kPhiloxFactor1 = 0xcd9e8d57;
inline constexpr u32 kPhiloxWeyl0 = 0x9e3779b9;  // added to the key after each round
inline constexpr u32 kPhiloxWeyl1 = 0xbb67ae85;
inline constexpr u32 kPhiloxWords = 4;

// The layout of the state tensor: four words of the counter, then two of the key.
inline constexpr u32 kPhiloxStateWords = 6;
struct PhiloxState {
  u64 low;  // lower half of the counter
  u64 high;
  u32 key[2];

  [[nodiscard]] ANYDML_HOST_DEVICE static constexpr PhiloxState of(const u32 (&words)[kPhiloxStateWords]) {
    return {u64{words[1]} << 32 | words[0], u64{words[3]} << 32 | words[2], {words[4], words[5]}};
  }
  // The state after `blocks` more counters. The counter wraps.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr PhiloxState after(u64 blocks) const {
    const u64 sum = low + blocks;
    return {sum, high + (sum < low ? 1 : 0), {key[0], key[1]}};
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 word(u32 i) const {
    return i < 4 ? static_cast<u32>((i < 2 ? low : high) >> (i % 2 * 32)) : key[i % 2];
  }
};

struct PhiloxBlock {
  u32 words[kPhiloxWords];
};

[[nodiscard]] ANYDML_HOST_DEVICE constexpr PhiloxBlock philox(const PhiloxState& state) {
  u32 x0 = state.word(0);
  u32 x1 = state.word(1);
  u32 x2 = state.word(2);
  u32 x3 = state.word(3);
  u32 key0 = state.key[0];
  u32 key1 = state.key[1];
  for (u32 round = 0; round < kPhiloxRounds; ++round) {
    const u64 first = u64{x0} * kPhiloxFactor0;
    const u64 second = u64{x2} * kPhiloxFactor1;
    x0 = static_cast<u32>(second >> 32) ^ x1 ^ key0;
    x1 = static_cast<u32>(second);
    x2 = static_cast<u32>(first >> 32) ^ x3 ^ key1;
    x3 = static_cast<u32>(first);
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return {{x0, x1, x2, x3}};
}

// Returns element `index` of the output. Each counter yields four elements.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 philox_element(const PhiloxState& state, u64 index) {
  return philox(state.after(index / kPhiloxWords)).words[index % kPhiloxWords];
}

}  // namespace anydml
