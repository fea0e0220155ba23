// SPDX-License-Identifier: MIT
// The kernel parameter of a convolution step. The output channels of a group are the rows of a product, and the pixels
// of one class (ops/product/window.h) in all images are its columns. One launch has up to kLaunchClasses classes along
// each dimension.
#pragma once

#include "ops/product/cuda/launch.h"

namespace anydml::cuda {

inline constexpr u32 kLaunchAxes = 3;
inline constexpr u32 kLaunchClasses = 16;
inline constexpr u32 kDirectPixels = 4;  // per thread, if a group has few output channels
inline constexpr u32 kPlaneThreads = 128;
inline constexpr u32 kPlaneRows = 4;  // rows of the rectangle of outputs that a thread of the plane kernels computes
// The columns of that rectangle, depending on the stride of the windows.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr u32 plane_columns(u32 stride) { return stride == 1 ? 4 : 1; }

// A class of outputs along a dimension. Output t of the class is output first_output + t * output_stride of the tensor,
// and tap n of the class is tap first_tap + n * tap_step of the filter. That tap reads input position first + t *
// output_move + n * tap_move.
struct ClassLaunch {
  FastDivisor outputs;
  FastDivisor taps;  // at least 1
  u32 tap_count;
  u32 first_output;
  u32 output_stride;
  u32 first_tap;
  u32 tap_step;
  i32 first;
  i32 output_move;
  i32 tap_move;
};

// A dimension along which the filter moves. Strides are in bytes.
struct AxisLaunch {
  std::int64_t input_step;
  std::int64_t filter_step;
  std::int64_t output_step;
  u32 input;  // elements
  u32 output;
  FastDivisor classes;  // in this launch
  ClassLaunch of_class[kLaunchClasses];
};

struct ConvolutionLaunch {
  const std::byte* input;
  const std::byte* filter;
  const std::byte* bias;  // null if absent
  std::byte* output;      // null if outputs are passed on
  std::int64_t input_image;
  std::int64_t input_channel;
  std::int64_t filter_group;
  std::int64_t filter_row;
  std::int64_t filter_channel;
  std::int64_t bias_channel;
  std::int64_t output_image;
  std::int64_t output_channel;
  SplitLaunch split;  // its outputs are [group][row][column]
  u32 images;
  u32 channels;  // per group
  u32 pixels;    // per output image, in all classes
  FastDivisor groups;
  FastDivisor rows;     // per group
  FastDivisor columns;  // in all images, if there is only one class
  FastDivisor down;     // tiles per column of tiles; in the direct kernel, rows
  FastDivisor across;   // tiles per row of tiles, in the class with the most columns
  bool input_is_aligned;
  bool filter_is_aligned;
  bool bias_is_aligned;
  bool output_is_aligned;
  bool has_input_vectors;  // the middle taps of four outputs read 16 aligned contiguous bytes
  bool has_vectors;        // four columns, starting at a multiple of 4, are 16 aligned contiguous bytes of the output
  AxisLaunch axes[kLaunchAxes];
};

}  // namespace anydml::cuda
