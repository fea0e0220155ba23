// SPDX-License-Identifier: MIT
// Cuts the outputs of a convolution into tiles. Each tile covers some output channels of a group and a box of pixels in
// an image.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/product/cpu/tiles.h"
#include "ops/product/cpu/windows.h"
#include "ops/product/step.h"

namespace anydml {

// For each dimension, the classes of outputs that have taps, ordered by their first outputs. With a large stride, most
// classes have no taps.
struct TapClasses {
  std::vector<WindowClass> axes[kWindowAxes];

  explicit TapClasses(const Windows& windows);

  [[nodiscard]] std::int64_t count() const {
    return static_cast<std::int64_t>(axes[0].size() * axes[1].size() * axes[2].size());
  }
  [[nodiscard]] WindowClasses of(std::int64_t number) const;
};

// The division of one group and class of outputs into tiles. No class has more outputs than the first class.
struct ConvolutionTiles {
  std::int64_t rows;
  std::int64_t count[kWindowAxes];   // pixels along each dimension
  std::int64_t down;                 // number of tiles along the rows
  std::int64_t across[kWindowAxes];  // number of tiles along each dimension

  [[nodiscard]] std::int64_t columns() const { return count[0] * count[1] * count[2]; }
  [[nodiscard]] std::int64_t boxes() const { return across[0] * across[1] * across[2]; }
};

struct ConvolutionLimits {
  std::int64_t strip;  // granularity of rows
  std::int64_t panel;
  std::int64_t block;     // values of k for which the image is copied at a time; 0 if no part is copied
  bool by_lines;          // whether kernels read the copied part of the image directly
  bool skips;             // whether tiles leave out taps that touch only padding
  std::int64_t min_work;  // smallest number of multiply-adds in a piece
};

// classes: the number of classes that have taps.
[[nodiscard]] ConvolutionTiles cut(const ConvolutionStep& step, const ConvolutionLimits& limits, std::int64_t classes,
                                   unsigned threads);

[[nodiscard]] WindowTile box_of(const ConvolutionTiles& tiles, const WindowClasses& classes, std::int64_t number);

// The largest number of channels that a block of this many values of k can touch.
[[nodiscard]] std::int64_t channels_of_block(const ConvolutionStep& step, std::int64_t taps, std::int64_t block);

// The largest number of image elements that a tile needs for a block.
[[nodiscard]] std::int64_t copied_elements(const ConvolutionStep& step, const ConvolutionTiles& tiles,
                                           std::int64_t block);

// Whether tiles can be cut so that most taps touch only padding, for instance because the filter is larger than the
// image.
[[nodiscard]] bool has_many_in_padding(const ConvolutionStep& step);

inline constexpr std::int64_t kMaxCopied = 1 << 16;  // elements; few enough to stay in a second-level cache

// The number of tiles in one piece of work, which is lower for large tiles.
[[nodiscard]] std::int64_t tiles_of_piece(const ConvolutionStep& step, const ConvolutionTiles& tiles,
                                          std::int64_t classes, std::int64_t min_work, unsigned threads);

[[nodiscard]] inline std::int64_t all_tiles(const ConvolutionStep& step, const ConvolutionTiles& tiles,
                                            std::int64_t classes) {
  return step.images * step.groups * classes * tiles.down * tiles.boxes();
}

// The lines that kernels read from the copied part of the image. If the copy has only a few elements between short rows
// of pixels, the rows and these elements are computed as one long row.
struct BoxLines {
  bool is_joined;
  std::int64_t count;   // lines per slice
  std::int64_t length;  // of a line
  std::int64_t step;    // distance between rows of pixels in the totals

  static constexpr std::int64_t kShortRow = 32;
  static constexpr std::int64_t max_between(std::int64_t length) { return length <= kShortRow ? length / 3 : 0; }

  BoxLines(const WindowPlane& plane, const WindowTile& box)
      : is_joined(plane.row_step <= box.count[2] + max_between(box.count[2])),
        count(is_joined ? 1 : box.count[1]),
        length(is_joined ? (box.count[1] - 1) * plane.row_step + box.count[2] : box.count[2]),
        step(is_joined ? plane.row_step : box.count[2]) {}

  // The index of a line's first total.
  [[nodiscard]] std::int64_t offset_of(const WindowTile& box, std::int64_t i, std::int64_t j) const {
    return (i * box.count[1] + j) * step;
  }
  // Removes the elements between rows from the totals.
  template <class T>
  void close_up(const WindowTile& box, T* totals) const {
    for (std::int64_t i = 1; is_joined && i < box.count[0] * box.count[1]; ++i) {
      std::copy_n(totals + i * step, box.count[2], totals + i * box.count[2]);  // never copies to a higher address
    }
  }
};

// The number of totals in a row of a tile, rounded up to a multiple of `unit`.
[[nodiscard]] inline std::int64_t totals_row(const ConvolutionTiles& tiles, bool by_lines, std::int64_t unit) {
  const std::int64_t between = by_lines ? BoxLines::max_between(BoxLines::kShortRow) : 0;
  return ceil_div(tiles.count[0] * tiles.count[1] * (tiles.count[2] + between), unit) * unit;
}

// Calls use(pixel, count, offset, step) for each run of pixels in a box. A run has `count` pixels and starts at index
// `pixel` of the box. Its first pixel is `offset` bytes after the channel's first output, and the pixels are
// `step` bytes apart. bytes: the size of an element.
template <class Use>
void for_each_run(const ConvolutionStep& step, const WindowClasses& classes, const WindowTile& box, std::int64_t bytes,
                  Use use) {
  const auto step_along = [&](std::uint32_t i) {
    return classes.axes[i].output_stride * step.windows.axes[i].output_step;
  };
  std::int64_t first = 0;
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    first += classes.axes[i].first_output * step.windows.axes[i].output_step + box.first[i] * step_along(i);
  }
  const std::int64_t* const count = box.count;
  const std::int64_t length = count[2];
  const std::int64_t apart = length == 1 ? bytes : step_along(2);
  if (apart == bytes && (count[1] == 1 || step_along(1) == length * bytes) &&
      (count[0] == 1 || step_along(0) == count[1] * length * bytes)) {
    use(std::int64_t{0}, box.outputs(), first, bytes);
    return;
  }
  for (std::int64_t i = 0; i < count[0]; ++i) {
    for (std::int64_t j = 0; j < count[1]; ++j) {
      use((i * count[1] + j) * length, length, first + i * step_along(0) + j * step_along(1), apart);
    }
  }
}

// Whether the taps of the filter are contiguous in each channel; dimensions with one tap do not matter.
[[nodiscard]] inline bool has_contiguous_taps(const ConvolutionStep& step, std::int64_t bytes) {
  std::int64_t near = bytes;
  for (std::uint32_t i = kWindowAxes; i-- > 0; near *= step.windows.axes[i].taps) {
    if (step.windows.axes[i].taps != 1 && step.windows.axes[i].filter_step != near) {
      return false;
    }
  }
  return true;
}
// Like has_contiguous_taps, but also requires contiguous channels.
[[nodiscard]] inline bool is_contiguous_filter(const ConvolutionStep& step, std::int64_t bytes) {
  return has_contiguous_taps(step, bytes) && (step.channels == 1 || step.filter_channel == bytes * step.taps());
}

}  // namespace anydml
