// SPDX-License-Identifier: MIT
// Words and the functions that sort them in a thread block. A word consists of a key and an index. No two words of a
// row are equal, except for the padding at the end, so every sorting method yields the same result.
#pragma once

#include "ops/sort/cuda/launch.h"
#include "ops/sort/scalar/keys.h"

namespace anydml::cuda {

struct NarrowWord {
  u64 bits;  // the key with its highest bit flipped, and the index

  [[nodiscard]] __device__ static NarrowWord make(i32 key, u32 index) {
    return {u64{static_cast<u32>(key) ^ 0x80000000U} << 32 | index};
  }
  [[nodiscard]] __device__ static NarrowWord last() { return {~u64{0}}; }
  [[nodiscard]] __device__ u32 index() const { return static_cast<u32>(bits); }
  [[nodiscard]] __device__ bool is_before(const NarrowWord& other) const { return bits < other.bits; }
};

struct WideWord {
  u64 bits;
  u64 index_bits;

  [[nodiscard]] __device__ static WideWord make(i64 key, u32 index) {
    return {static_cast<u64>(key) ^ u64{1} << 63, index};
  }
  [[nodiscard]] __device__ static WideWord last() { return {~u64{0}, ~u64{0}}; }
  [[nodiscard]] __device__ u32 index() const { return static_cast<u32>(index_bits); }
  [[nodiscard]] __device__ bool is_before(const WideWord& other) const {
    return bits < other.bits || (bits == other.bits && index_bits < other.index_bits);
  }
};

static_assert(sizeof(NarrowWord) == kNarrowWord && sizeof(WideWord) == kWideWord);

template <class Key>
using word_t = std::conditional_t<sizeof(Key) == 8, WideWord, NarrowWord>;
template <class Word>
inline constexpr u32 kTileWords = tile_words(sizeof(Word));

// A step of a bitonic sort over `total` words in shared memory. The words at [first, ...) of rows of `padded` words are
// sorted in ascending or descending order, depending on their position in the row.
template <class Word>
__device__ void exchange(Word* words, u32 total, u64 first, u64 padded, u64 size, u32 stride) {
  for (u32 i = threadIdx.x; i < total / 2; i += blockDim.x) {
    const u32 a = 2 * (i & ~(stride - 1)) | (i & (stride - 1));
    const u32 b = a + stride;
    const bool is_upwards = ((first + a) & (padded - 1) & size) == 0;
    const Word left = words[a];
    const Word right = words[b];
    if (right.is_before(left) == is_upwards) {
      words[a] = right;
      words[b] = left;
    }
  }
  __syncthreads();
}

// Sorts rows of `padded` words each in ascending order. All threads of the block must call it, after a barrier.
template <class Word>
__device__ void sort_shared(Word* words, u32 total, u32 padded) {
  for (u32 size = 2; size <= padded; size *= 2) {
    for (u32 stride = size / 2; stride > 0; stride /= 2) {
      exchange(words, total, 0, padded, size, stride);
    }
  }
}

[[nodiscard]] inline u32 blocks_for(u64 units) {
  constexpr u64 kMax = u64{1} << 20;  // if there are more units, each block processes several
  return static_cast<u32>(units < kMax ? units : kMax);
}

// The number of threads for sorting `total` words.
[[nodiscard]] inline u32 threads_for(u32 total) {
  const u32 pairs = total / 2;
  return pairs < 32 ? 32 : pairs < kTileThreads ? pairs : kTileThreads;
}

}  // namespace anydml::cuda
