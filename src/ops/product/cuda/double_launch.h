// SPDX-License-Identifier: MIT
// The parameters of the kernels for FLOAT64 products and convolutions. Strides are in bytes.
#pragma once

#include "base/element.h"
#include "ops/product/cuda/launch.h"

namespace anydml::cuda {

inline constexpr u32 kDoubleTile = 64;      // rows and columns per thread block
inline constexpr u32 kDoubleThreads = 256;  // each with 4 x 4 outputs
inline constexpr u32 kDoubleStep = 16;      // values of k in shared memory; a divisor of kProductBlock

struct DoubleMatrixLaunch {
  std::byte* at;  // null if absent
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
  i64 across;  // tiles per row of tiles
  i64 tiles;   // per matrix
  i64 batch_sizes[kProductBatchRank];
  u32 batch_rank;
  ProductScaleOf<f64> scale;
};

// A convolution. The fields resemble those of ConvolutionStep.
struct DoubleAxisLaunch {
  i64 input;
  i64 output;
  i64 taps;
  i64 stride;
  i64 dilation;
  i64 padding;
  i64 input_step;
  i64 output_step;
  i64 filter_step;
};

struct DoubleWindowLaunch {
  const std::byte* input;
  const std::byte* filter;
  const std::byte* bias;  // null if absent
  std::byte* output;
  DoubleAxisLaunch axes[3];
  i64 groups;
  i64 rows;
  i64 channels;
  i64 outputs;  // in all images and channels
  i64 input_image;
  i64 input_channel;
  i64 filter_group;
  i64 filter_row;
  i64 filter_channel;
  i64 bias_channel;
  i64 output_image;
  i64 output_channel;
  bool is_backward;
  bool is_flipped;
  bool is_aligned;  // whether all operands are aligned to the element size
};

}  // namespace anydml::cuda
