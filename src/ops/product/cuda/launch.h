// SPDX-License-Identifier: MIT
// The kernel parameter of a product step. This header includes no host code, so that kernels can be compiled at run
// time.
#pragma once

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/product/scalar/product.h"

namespace anydml::cuda {

inline constexpr u32 kTileStep = 16;   // values of k in one stage in shared memory; a divisor of kProductBlock
inline constexpr u32 kTileStages = 3;  // one stage being multiplied, and two being copied
// The tiles of a thread block: 32 x 128, 64 x 64, 128 x 64 and 128 x 256 outputs.
inline constexpr u32 kFlatTile = 32;
inline constexpr u32 kSmallTile = 64;
inline constexpr u32 kLargeTile = 128;
inline constexpr u32 kWideTile = 256;
inline constexpr u32 kProductBatchRank = 6;
inline constexpr u32 kSumThreads = 256;  // threads per block in the kernels that add up the blocks of k
inline constexpr u32 kThinThreads = 128;
inline constexpr u32 kMaxThin = 4;  // maximum number of rows or columns of a thin output

[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_rows(u32 tile) { return tile == kWideTile ? 128 : tile; }
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_columns(u32 tile) {
  return tile == kWideTile ? 256 : tile == kFlatTile ? 128 : 64;
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_threads(u32 tile) { return tile == kWideTile ? 256 : 128; }
// The number of columns and of rows of a thread's outputs.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 thread_columns(u32 tile) { return tile == kWideTile ? 16 : 8; }
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 thread_rows(u32 tile) {
  return tile_rows(tile) * tile_columns(tile) / (tile_threads(tile) * thread_columns(tile));
}
// The distance between values of k in shared memory, for this many elements per value of k. With the padding, threads
// that advance along k write to different banks; the distance is a multiple of 16 bytes.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_row(u32 side) { return side + 4; }
// The dynamic shared memory of a thread block: the stages of both factors, and the totals.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_bytes(u32 tile) {
  const u32 stage = kTileStep * (tile_row(tile_rows(tile)) + tile_row(tile_columns(tile)));
  return (kTileStages * stage + tile_rows(tile) * tile_columns(tile)) * static_cast<u32>(sizeof(f32));
}
// The number of thread blocks that should be resident on a multiprocessor.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tiles_at_a_time(u32 tile) {
  return tile == kWideTile ? 1 : tile == kLargeTile ? 3 : 4;
}

// The layout of a factor's elements, for kernels that are specialized for one layout at compile time.
inline constexpr u32 kAnyFactor = 0;     // described by the launch
inline constexpr u32 kNearFactor = 1;    // k_is_near and is_aligned
inline constexpr u32 kVectorFactor = 2;  // has_vectors

// The matrices of one factor. The side is the dimension other than k: the rows of A, the columns of B.
struct FactorLaunch {
  const std::byte* from;
  std::int64_t side_stride;  // in bytes
  std::int64_t k_stride;
  std::int64_t batch[kProductBatchRank];
  u32 side;
  bool is_aligned;     // to the element size
  bool k_is_near;      // the stride of k is smaller than the stride of the side
  bool has_vectors;    // four elements along the side, starting at a multiple of 4, are 16 aligned contiguous bytes
  bool has_k_vectors;  // like has_vectors, for four elements along k
};

// C, or the output.
struct MatrixLaunch {
  std::byte* at;  // null if there is no C
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t batch[kProductBatchRank];
  bool is_aligned;
  bool has_vectors;  // four columns, starting at a multiple of 4, are 16 aligned contiguous bytes
};

// If there are few outputs and many values of k, the blocks of k of a tile are divided among several thread blocks. The
// sum of each block of k is written to memory, and a second kernel adds the sums in order. Sums are ordered by block of
// k, then by output, without gaps.
struct SplitLaunch {
  f32* sums;            // null if k is not split
  u32 blocks_of_split;  // blocks of k for each thread block
  u32 blocks;           // number of blocks of k
  u32 outputs;
};

struct ProductLaunch {
  FactorLaunch a;
  FactorLaunch b;
  MatrixLaunch c;
  MatrixLaunch output;
  SplitLaunch split;
  ProductScale scale;
  u32 depth;
  u32 batch_rank;
  FastDivisor tiles;    // per matrix
  FastDivisor across;   // tiles per row of tiles; for a thin product, thread blocks per matrix
  FastDivisor rows;     // per matrix
  FastDivisor columns;  // per matrix
  FastDivisor batch_sizes[kProductBatchRank];
};

}  // namespace anydml::cuda
