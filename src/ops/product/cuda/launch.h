// SPDX-License-Identifier: MIT
// A product's step as kernels see it: a kernel's parameter. Nothing of the host's, so that kernels can be compiled
// while a program runs.
#pragma once

#include "backend/cuda/fast_divisor.h"
#include "base/element.h"
#include "ops/product/scalar/product.h"

namespace anydml::cuda {

inline constexpr u32 kTileStep = 8;     // values of k that are in shared memory at a time; a divisor of kProductBlock
inline constexpr u32 kThreadSide = 8;   // rows and columns of a thread's outputs
inline constexpr u32 kLargeTile = 128;  // rows and columns of a block of threads
inline constexpr u32 kSmallTile = 64;
inline constexpr u32 kProductBatchRank = 6;

[[nodiscard]] constexpr u32 product_threads(u32 tile) { return tile * tile / (kThreadSide * kThreadSide); }

// One factor's matrices. The side is the dimension that is not k: rows of A, columns of B.
struct FactorLaunch {
  const std::byte* from;
  std::int64_t side_stride;  // in bytes
  std::int64_t k_stride;
  std::int64_t batch[kProductBatchRank];
  u32 side;
  bool is_aligned;  // to elements
  bool k_is_near;   // neighbours in k are nearer to each other than neighbours in the side
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

struct ProductLaunch {
  FactorLaunch a;
  FactorLaunch b;
  MatrixLaunch c;
  MatrixLaunch output;
  ProductScale scale;
  u32 depth;
  u32 batch_rank;
  FastDivisor tiles;   // of a matrix
  FastDivisor across;  // tiles of a row of tiles
  FastDivisor batch_sizes[kProductBatchRank];
};

}  // namespace anydml::cuda
