// SPDX-License-Identifier: MIT
// A product's step as kernels see it: a kernel's parameter. It has nothing of the host, so that kernels can be compiled
// while a program runs.
#pragma once

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/product/scalar/product.h"

namespace anydml::cuda {

inline constexpr u32 kTileStep = 16;   // values of k that are one stage in shared memory; a divisor of kProductBlock
inline constexpr u32 kTileStages = 3;  // the stage that is multiplied, and the two that are being copied
// The tiles of a block of threads, by their names: 32 x 128, 64 x 64, 128 x 64 and 128 x 256 outputs.
inline constexpr u32 kFlatTile = 32;
inline constexpr u32 kSmallTile = 64;
inline constexpr u32 kLargeTile = 128;
inline constexpr u32 kWideTile = 256;
inline constexpr u32 kProductBatchRank = 6;
inline constexpr u32 kSumThreads = 256;  // of the kernels that add the sums of blocks of k
inline constexpr u32 kThinThreads = 128;
inline constexpr u32 kMostThin = 4;  // rows or columns of an output that has so few

[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_rows(u32 tile) { return tile == kWideTile ? 128 : tile; }
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_columns(u32 tile) {
  return tile == kWideTile ? 256 : tile == kFlatTile ? 128 : 64;
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_threads(u32 tile) { return tile == kWideTile ? 256 : 128; }
// Columns and rows of a thread's outputs.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 thread_columns(u32 tile) { return tile == kWideTile ? 16 : 8; }
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 thread_rows(u32 tile) {
  return tile_rows(tile) * tile_columns(tile) / (tile_threads(tile) * thread_columns(tile));
}
// The distance of two values of k in shared memory, for so many elements of each. With the padding, threads that go
// along k write to different banks; it is a multiple of 16 bytes.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_row(u32 side) { return side + 4; }
// The dynamic shared memory of a block of threads: the stages of both factors, and the totals.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tile_bytes(u32 tile) {
  const u32 stage = kTileStep * (tile_row(tile_rows(tile)) + tile_row(tile_columns(tile)));
  return (kTileStages * stage + tile_rows(tile) * tile_columns(tile)) * static_cast<u32>(sizeof(f32));
}
// Blocks of threads that a multiprocessor should have at a time.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 tiles_at_a_time(u32 tile) {
  return tile == kWideTile ? 1 : tile == kLargeTile ? 3 : 4;
}

// How the elements of a factor lie for a kernel that knows it when it is compiled.
inline constexpr u32 kAnyFactor = 0;     // the launch says it
inline constexpr u32 kNearFactor = 1;    // k_is_near and is_aligned
inline constexpr u32 kVectorFactor = 2;  // has_vectors

// The matrices of one factor. The side is the dimension that is not k: the rows of A, the columns of B.
struct FactorLaunch {
  const std::byte* from;
  std::int64_t side_stride;  // in bytes
  std::int64_t k_stride;
  std::int64_t batch[kProductBatchRank];
  u32 side;
  bool is_aligned;     // to elements
  bool k_is_near;      // neighbours in k are nearer to each other than neighbours in the side
  bool has_vectors;    // four of the side at a multiple of 4 are 16 bytes at a multiple of 16
  bool has_k_vectors;  // four of k at a multiple of 4 are
};

// C, or the output.
struct MatrixLaunch {
  std::byte* at;  // null: there is no C
  std::int64_t row_stride;
  std::int64_t column_stride;
  std::int64_t batch[kProductBatchRank];
  bool is_aligned;
  bool has_vectors;  // four columns at a multiple of 4 are 16 bytes at a multiple of 16
};

// Where few outputs have a long k, blocks of threads share the blocks of k of a tile. Each sum goes to memory, and a
// second kernel adds the sums in order. A sum is at [block of k][output], and outputs are packed.
struct SplitLaunch {
  f32* sums;            // null: k is not split
  u32 blocks_of_split;  // blocks of k for each block of threads
  u32 blocks;           // of k
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
  FastDivisor tiles;    // of a matrix
  FastDivisor across;   // tiles of a row of tiles; of a thin product, blocks of threads of a matrix
  FastDivisor rows;     // of a matrix
  FastDivisor columns;  // of a matrix
  FastDivisor batch_sizes[kProductBatchRank];
};

}  // namespace anydml::cuda
