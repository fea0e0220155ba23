// SPDX-License-Identifier: MIT
// The copy kernels. Bytes are moved in the largest words of 1 to 16 bytes that the addresses and strides allow; indices
// and strides are 32-bit.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/move/step.h"

namespace anydml::cuda {

inline constexpr u32 kMoveThreads = 256;

// The number of words that one thread moves; their loads do not wait for each other.
template <class Word>
inline constexpr u32 kMoveEach = sizeof(Word) >= 8 ? 4 : 8;

// A copy, measured in words.
template <u32 kRank>
struct MoveEntry {
  const std::byte* from;  // null for the constant
  std::byte* to;
  u64 constant;
  u32 first_block;
  u32 count;  // words
  u16 rank;
  u16 has_run;               // 1 if the last loop is over the words of a run; 0 if a run is one word
  u32 lanes;                 // per row, a power of two; used only by move_rows
  FastDivisor sizes[kRank];  // loop sizes, outermost first
  i32 from_strides[kRank];   // in bytes
  i32 to_strides[kRank];
};

// The copies of one launch. A launch with few copies uses the smaller parameter size.
template <u32 kRank, u32 kBytes>
struct MoveEntries {
  static constexpr u32 kMax = (kBytes - 8) / sizeof(MoveEntry<kRank>);
  u32 count;
  MoveEntry<kRank> entries[kMax];
};
inline constexpr u32 kShortParameter = 4000;
inline constexpr u32 kLongParameter = 32'000;

// move_rows copies one row of the last loop at a time: a group of lanes locates a row once and then moves its words,
// while move_words needs divisions for each word. Long rows are left to move_words, which keeps all words of a thread
// in flight at the same time.
inline constexpr u32 kMinOfRow = 16;  // words
inline constexpr u32 kMaxOfRow = 512;
inline constexpr u32 kRowsOfGroup = 4;  // moved one after another
inline constexpr u32 kWordsOfLane = 4;  // loads that do not wait for each other
[[nodiscard]] inline u32 lanes_of_row(u32 words) { return words > 64 ? 32 : words > 32 ? 16 : 8; }

// One copy whose source is contiguous along the rows and whose destination is contiguous along the columns.
struct TransposedCopy {
  const std::byte* from;
  std::byte* to;
  u32 columns;
  u32 rows;
  i64 from_column;
  i64 to_row;
  FastDivisor column_tiles;
  FastDivisor row_tiles;
  u32 rank;  // number of other loops
  FastDivisor sizes[kMaxMoveRank];
  i32 from_strides[kMaxMoveRank];
  i32 to_strides[kMaxMoveRank];
};
template <class Word>
inline constexpr u32 kMoveTile = sizeof(Word) >= 4 ? 32 : 64;

#if defined(__CUDACC__)

// Returns the word of the constant that is `behind` words after the start of a run. An element may consist of several
// words.
template <class Word>
[[nodiscard]] __device__ inline Word constant_word(u64 constant, u32 behind) {
  if constexpr (sizeof(Word) == 16) {
    const auto low = static_cast<u32>(constant);
    const auto high = static_cast<u32>(constant >> 32);
    return Word{low, high, low, high};
  } else {
    return static_cast<Word>(constant >> (behind * sizeof(Word) % sizeof(constant) * 8));
  }
}

// The offsets of word n of a copy from the first word, in the source and in the destination.
struct MoveOffsets {
  i64 from;
  i64 to;
  u32 innermost;  // its index in the last loop
};
template <u32 kRank>
[[nodiscard]] __device__ inline MoveOffsets offsets_of(u32 n, u32 rank, const FastDivisor* sizes,
                                                       const i32* from_strides, const i32* to_strides) {
  if constexpr (kRank == 1) {
    const auto index = static_cast<i32>(n);
    return {i64{index} * from_strides[0], i64{index} * to_strides[0], n};
  } else {
    MoveOffsets offsets{0, 0, 0};
    for (u32 loop = rank; loop-- > 0;) {
      const Quotient parts = divide(n, sizes[loop]);
      const auto index = static_cast<i32>(parts.remainder);
      offsets.innermost = loop + 1 == rank ? parts.remainder : offsets.innermost;
      offsets.from += i64{index} * from_strides[loop];
      offsets.to += i64{index} * to_strides[loop];
      n = parts.quotient;
    }
    return offsets;
  }
}

template <class Word, u32 kRank, u32 kBytes>
__global__ void __launch_bounds__(kMoveThreads) move_words(const __grid_constant__ MoveEntries<kRank, kBytes> table) {
  constexpr u32 kEach = kMoveEach<Word>;
  u32 low = 0;
  for (u32 high = table.count; high - low > 1;) {
    const u32 middle = (low + high) / 2;
    (table.entries[middle].first_block <= blockIdx.x ? low : high) = middle;
  }
  const MoveEntry<kRank>& entry = table.entries[low];
  const u32 first = (blockIdx.x - entry.first_block) * (kMoveThreads * kEach) + threadIdx.x;
  Word words[kEach];
  i64 element_offsets[kEach];
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    const u32 n = first + i * kMoveThreads;
    if (n < entry.count) {
      const MoveOffsets at = offsets_of<kRank>(n, entry.rank, entry.sizes, entry.from_strides, entry.to_strides);
      element_offsets[i] = at.to;
      words[i] = entry.from == nullptr ? constant_word<Word>(entry.constant, entry.has_run != 0 ? at.innermost : 0)
                                       : *reinterpret_cast<const Word*>(entry.from + at.from);
    }
  }
#pragma unroll
  for (u32 i = 0; i < kEach; ++i) {
    if (first + i * kMoveThreads < entry.count) {
      *reinterpret_cast<Word*>(entry.to + element_offsets[i]) = words[i];
    }
  }
}

// Each row is one iteration of all loops but the last. count: the number of rows.
template <class Word, u32 kRank, u32 kBytes>
__global__ void __launch_bounds__(kMoveThreads) move_rows(const __grid_constant__ MoveEntries<kRank, kBytes> table) {
  u32 low = 0;
  for (u32 high = table.count; high - low > 1;) {
    const u32 middle = (low + high) / 2;
    (table.entries[middle].first_block <= blockIdx.x ? low : high) = middle;
  }
  const MoveEntry<kRank>& entry = table.entries[low];
  const u32 last = entry.rank - 1U;
  const u32 words = entry.sizes[last].divisor;
  const i64 from_step = entry.from_strides[last];
  const i64 to_step = entry.to_strides[last];
  const u32 lane = threadIdx.x & (entry.lanes - 1);
  const u32 groups = kMoveThreads / entry.lanes;
  u32 row = (blockIdx.x - entry.first_block) * groups * kRowsOfGroup + threadIdx.x / entry.lanes;
  for (u32 k = 0; k < kRowsOfGroup && row < entry.count; ++k, row += groups) {
    const MoveOffsets at = offsets_of<kRank>(row, last, entry.sizes, entry.from_strides, entry.to_strides);
    std::byte* const to = entry.to + at.to;
    for (u32 first = lane; first < words; first += entry.lanes * kWordsOfLane) {
      Word some[kWordsOfLane];
#pragma unroll
      for (u32 i = 0; i < kWordsOfLane; ++i) {
        const u32 n = first + i * entry.lanes;
        if (n < words) {
          some[i] = entry.from == nullptr
                        ? constant_word<Word>(entry.constant, entry.has_run != 0 ? n : 0)
                        : *reinterpret_cast<const Word*>(entry.from + at.from + i64{static_cast<i32>(n)} * from_step);
        }
      }
#pragma unroll
      for (u32 i = 0; i < kWordsOfLane; ++i) {
        const u32 n = first + i * entry.lanes;
        if (n < words) {
          *reinterpret_cast<Word*>(to + i64{static_cast<i32>(n)} * to_step) = some[i];
        }
      }
    }
  }
}

// Each tile passes through shared memory, so that both sides are accessed along their contiguous dimension.
template <class Word>
__global__ void __launch_bounds__(kMoveThreads) move_transposed(const __grid_constant__ TransposedCopy copy) {
  constexpr u32 kTile = kMoveTile<Word>;
  constexpr u32 kHigh = kMoveThreads / kTile;  // lines of a tile processed at a time
  __shared__ Word tile[kTile][kTile + 1];
  const Quotient by_columns = divide(blockIdx.x, copy.column_tiles);
  const Quotient by_rows = divide(by_columns.quotient, copy.row_tiles);
  const MoveOffsets outer =
      offsets_of<kMaxMoveRank>(by_rows.quotient, copy.rank, copy.sizes, copy.from_strides, copy.to_strides);
  const u32 column = by_columns.remainder * kTile;
  const u32 row = by_rows.remainder * kTile;
  const u32 along = threadIdx.x % kTile;
  const u32 line = threadIdx.x / kTile;
  const auto* from = reinterpret_cast<const Word*>(copy.from + outer.from);
#pragma unroll
  for (u32 i = 0; i < kTile; i += kHigh) {
    const u32 c = column + line + i;
    if (c < copy.columns && row + along < copy.rows) {
      const auto* at =
          reinterpret_cast<const std::byte*>(from + row + along) + i64{static_cast<i32>(c)} * copy.from_column;
      tile[line + i][along] = *reinterpret_cast<const Word*>(at);
    }
  }
  __syncthreads();
  auto* to = reinterpret_cast<Word*>(copy.to + outer.to);
#pragma unroll
  for (u32 i = 0; i < kTile; i += kHigh) {
    const u32 r = row + line + i;
    if (r < copy.rows && column + along < copy.columns) {
      auto* at = reinterpret_cast<std::byte*>(to + column + along) + i64{static_cast<i32>(r)} * copy.to_row;
      *reinterpret_cast<Word*>(at) = tile[along][line + i];
    }
  }
}

#endif

}  // namespace anydml::cuda
