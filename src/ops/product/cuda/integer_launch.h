// SPDX-License-Identifier: MIT
// The kernel parameters for byte products and convolutions.
#pragma once

#include "ops/product/cuda/launch.h"
#include "ops/product/cuda/window_launch.h"

namespace anydml::cuda {

// Byte tiles are square, with side kLargeTile or kSmallTile.
inline constexpr u32 kThreadSide = 8;  // rows and columns per thread

[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 byte_threads(u32 tile) {
  return tile * tile / (kThreadSide * kThreadSide);
}

inline constexpr u32 kWordStep = 8;  // words of four values of k in shared memory at a time

// How the kernel reads the bytes of a factor: four adjacent bytes at a time, at a multiple of 4, or byte by byte.
enum class ByteOrder : u32 { words_along_k, words_along_side, bytes };

// The matrices of one factor, and the zero points of its rows or columns.
struct ByteFactorLaunch {
  const std::byte* from;
  const std::byte* zeros;    // null if all zero points are 0
  std::int64_t side_stride;  // in bytes
  std::int64_t k_stride;
  std::int64_t zero_stride;  // along the side
  std::int64_t batch[kProductBatchRank];
  u32 side;
  ByteOrder order;
  bool is_signed;
};

// A number for each output; a stride is 0 if all rows, or all columns, share one number.
struct NumberLaunch {
  const std::byte* at;  // null if the number is 0
  std::int64_t row_stride;
  std::int64_t column_stride;
  bool is_aligned;
};

// The values of IntegerFinish, whose header this file must not include.
inline constexpr u32 kFinishInt32 = 0;
inline constexpr u32 kFinishQuantized = 1;
inline constexpr u32 kFinishFloat32 = 2;

// How totals are converted to outputs. For a convolution, rows are output channels, and nothing varies along the
// columns.
struct IntegerFinishLaunch {
  NumberLaunch a_scale;
  NumberLaunch b_scale;
  NumberLaunch output_scale;
  NumberLaunch output_zero;
  u32 finish;
  bool output_is_signed;
};

struct IntegerLaunch : IntegerFinishLaunch {
  ByteFactorLaunch a;
  ByteFactorLaunch b;
  MatrixLaunch c;  // the bias
  MatrixLaunch output;
  u32 depth;
  u32 batch_rank;
  FastDivisor tiles;   // per matrix
  FastDivisor across;  // tiles per row of tiles
  FastDivisor batch_sizes[kProductBatchRank];
};

// A byte convolution: A is the filter, and B is the input. There is only one class of outputs, and the bias is INT32. A
// word of k is up to four adjacent channels at one tap. If k is split, thread blocks compute parts of it, and a second
// kernel adds their totals.
struct IntegerWindowLaunch : ConvolutionLaunch, IntegerFinishLaunch {
  NumberLaunch filter_zero;
  NumberLaunch input_zero;
  u32* totals;  // [part][output], like the sums of ConvolutionLaunch::split; null if k is not split
  u32 words;
  u32 words_of_part;  // a multiple of kWordStep, unless there is only one part
  u32 parts;
  bool filter_is_signed;
  bool input_is_signed;
  bool filter_has_words;  // every word is four contiguous bytes at a multiple of 4
  bool input_has_words;
};

}  // namespace anydml::cuda
