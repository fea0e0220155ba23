// SPDX-License-Identifier: MIT
#include "ops/product/cpu/integer_quad_layout.h"

#include <algorithm>

#include "ops/product/cpu/integer_pack.h"

namespace anydml {
namespace {

constexpr std::int64_t kMaxQuads = 1 << 15;  // in the copy, unless one block of channels has more
constexpr std::size_t kAlignment = 64;

// Without windows, the pixels of a box are one row. Otherwise, `box` is set to the box.
WindowPlane window_of(const IntegerConvolutionStep& step, const ConvolutionTiles& tiles, std::int64_t* box) {
  WindowClasses classes = window_classes_of(step.convolution.windows, 0);
  if (step.has_windows != 0) {
    std::copy_n(tiles.count, kWindowAxes, box);
  } else {
    classes = {};
    for (WindowClass& along : classes.axes) {
      along.taps.count = 1;
      along.output_move = 1;
      along.tap_move = 1;
    }
  }
  return window_plane(classes, {.first = {}, .count = {box[0], box[1], box[2]}});
}

}  // namespace

QuadLayout::QuadLayout(const IntegerConvolutionStep& step, const QuadKernels& kernels, const ConvolutionTiles& given)
    : tiles(given),
      box{1, 1, given.columns()},
      strip(strip_of(step.convolution, kernels)),
      window(window_of(step, given, box)),
      plane(window),
      is_joined(QuadLines::should_join(plane, box)),
      block(std::clamp<std::int64_t>(kMaxQuads / std::max<std::int64_t>(1, plane.elements()), 1,
                                     quads_of(step.convolution))),
      totals_step(QuadLines(plane, box, is_joined).end(box) + kQuadColumns),
      result(step.finish == IntegerFinish::quantized ? 1 : kWord) {
  const auto take = [this](std::int64_t bytes) {
    const std::size_t at = scratch;
    scratch += (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  // Lines read past the end of the copy, up to a vector.
  copied = take((block * plane.elements() + 2 * kQuadColumns) * kQuad);
  totals = take(tiles.rows * totals_step * kWord);
  results = take(tiles.rows * totals_step * result);
  plane_sums = take((QuadLines::whole(plane.elements()) + kQuadColumns) * kWord);
  column_sums = take(totals_step * kWord);
  row_zeros = take(tiles.rows * kWord);
  row_plus = take(tiles.rows * kWord);
  factors = take(tiles.rows * kWord);
  const ConvolutionStep& convolution = step.convolution;
  const WindowAxis* const axes = convolution.windows.axes;
  for (std::int64_t quad = 0; quad < block; ++quad) {
    for (std::int64_t tap = 0; tap < convolution.taps(); ++tap) {
      const std::int64_t at = step.has_windows == 0
                                  ? 0
                                  : plane.offset_of(window, tap / (axes[1].taps * axes[2].taps),
                                                    tap / axes[2].taps % axes[1].taps, tap % axes[2].taps);
      offsets.push_back((quad * plane.elements() + at) * kQuad);
    }
  }
}

}  // namespace anydml
