// SPDX-License-Identifier: MIT
// The geometry of convolutions by quads: the packed filter, the copy of the image, and the lines of columns that
// kernels compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/product/cpu/boxes.h"
#include "ops/product/cpu/integer_quads.h"
#include "ops/product/cpu/tiles.h"
#include "ops/product/cpu/windows.h"
#include "ops/product/integer_step.h"

namespace anydml {

[[nodiscard]] inline std::int64_t quads_of(const ConvolutionStep& step) { return ceil_div(step.channels, kQuad); }
[[nodiscard]] inline std::int64_t quad_depth(const ConvolutionStep& step) {
  return quads_of(step) * kQuad * step.taps();
}
[[nodiscard]] inline std::int64_t quad_group_bytes(const ConvolutionStep& step) {
  return integer_filter_bytes(step.rows, step.channels, step.taps());
}
[[nodiscard]] inline std::int64_t strip_of(const ConvolutionStep& step, const QuadKernels& kernels) {
  return ceil_div(step.rows, ceil_div(step.rows, kernels.max_rows));
}
[[nodiscard]] inline std::int64_t offset_of_sums(const ConvolutionStep& step) {
  return padded_filter_rows(step.rows) * padded_depth(quad_depth(step));
}

// The layout of the copy of four channels. Offsets are in quads. It has the elements of a WindowPlane, but the
// stretches of a row are in separate planes, so that the rows of outputs are close together.
struct QuadPlane {
  std::int64_t length = 0;  // of a stretch
  std::int64_t rows = 0;
  std::int64_t slices = 0;
  std::int64_t parts = 0;

  explicit QuadPlane(const WindowPlane& plane)
      : length(plane.axes[2].length),
        rows(plane.axes[1].elements()),
        slices(plane.axes[0].elements()),
        parts(plane.axes[2].parts) {}

  [[nodiscard]] std::int64_t elements() const { return parts * slices * rows * length; }
  [[nodiscard]] std::int64_t offset_of(const WindowPlane& plane, std::int64_t slice, std::int64_t row,
                                       std::int64_t column) const {
    const std::int64_t along = plane.axes[2].offset_of_tap(column);
    return ((along / length * slices + plane.axes[0].offset_of_tap(slice)) * rows + plane.axes[1].offset_of_tap(row)) *
               length +
           along % length;
  }
};

// The lines of a box of outputs. Joined lines contain all rows of a slice.
struct QuadLines {
  std::int64_t count;   // per slice
  std::int64_t length;  // rounded up to whole vectors
  std::int64_t step;    // distance between rows of pixels in the results

  QuadLines(const QuadPlane& plane, const std::int64_t* box, bool is_joined)
      : count(is_joined ? 1 : box[1]),
        length(whole(is_joined ? (box[1] - 1) * plane.length + box[2] : box[2])),
        step(is_joined ? plane.length : box[2]) {}

  static std::int64_t whole(std::int64_t columns) { return ceil_div(columns, kQuadColumns) * kQuadColumns; }
  // Whether joined lines need no more vectors.
  static bool should_join(const QuadPlane& plane, const std::int64_t* box) {
    return whole((box[1] - 1) * plane.length + box[2]) <= box[1] * whole(box[2]);
  }
  // The end of the last line in the results.
  [[nodiscard]] std::int64_t end(const std::int64_t* box) const {
    return ((box[0] - 1) * box[1] + count - 1) * step + length;
  }
};

// The geometry that all tiles share, and the scratch memory of a thread, in bytes.
struct QuadLayout {
  ConvolutionTiles tiles;
  std::int64_t box[kWindowAxes];
  std::int64_t strip;
  WindowPlane window;
  QuadPlane plane;
  bool is_joined;
  std::int64_t block;        // groups of four channels that are copied together
  std::int64_t totals_step;  // between rows of totals or outputs, in elements
  std::int64_t result;       // bytes of a result
  std::size_t copied = 0;
  std::size_t totals = 0;
  std::size_t results = 0;
  std::size_t plane_sums = 0;
  std::size_t column_sums = 0;
  std::size_t row_zeros = 0;
  std::size_t row_plus = 0;
  std::size_t factors = 0;
  std::size_t scratch = 0;
  std::vector<std::int64_t> offsets;  // of the terms of a block in the copy, in bytes

  QuadLayout(const IntegerConvolutionStep& step, const QuadKernels& kernels, const ConvolutionTiles& given);
};

}  // namespace anydml
