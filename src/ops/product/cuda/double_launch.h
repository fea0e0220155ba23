// SPDX-License-Identifier: MIT
// The parameter of the kernel for products of FLOAT64. Strides are in bytes.
#pragma once

#include "base/element.h"
#include "ops/product/cuda/launch.h"

namespace anydml::cuda {

inline constexpr u32 kDoubleTile = 64;      // rows and columns of a block of threads
inline constexpr u32 kDoubleThreads = 256;  // each of which has 4 x 4 outputs
inline constexpr u32 kDoubleStep = 16;      // values of k in shared memory; a divisor of kProductBlock

struct DoubleMatrixLaunch {
  std::byte* at;  // null: absent
  i64 row_stride;
  i64 column_stride;
  i64 batch[kProductBatchRank];
  bool is_aligned;  // to elements
};

struct DoubleLaunch {
  DoubleMatrixLaunch a;
  DoubleMatrixLaunch b;
  DoubleMatrixLaunch c;
  DoubleMatrixLaunch output;
  i64 rows;
  i64 columns;
  i64 depth;
  i64 across;  // tiles of a row of tiles
  i64 tiles;   // of a matrix
  i64 batch_sizes[kProductBatchRank];
  u32 batch_rank;
  ProductScaleOf<f64> scale;
};

}  // namespace anydml::cuda
