// SPDX-License-Identifier: MIT
// Gathers the windows of an image. This code depends only on geometry and element sizes, not on types.
//
// The elements that a tile of outputs needs are first copied together with the padding around them, so that later code
// needs no bounds checks. For any stride, the elements that one tap reads for the outputs of a row are contiguous in
// the copy: element t of the row is at `offset of the tap + t`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/product/window.h"

namespace anydml {

// A box of outputs of one class: [first, first + count) along each dimension.
struct WindowTile {
  std::int64_t first[kWindowAxes];
  std::int64_t count[kWindowAxes];

  [[nodiscard]] std::int64_t outputs() const { return count[0] * count[1] * count[2]; }
};

// The layout, in the copy, of the elements that a tile needs from one channel. Offsets are in elements.
struct WindowPlane {
  // Along a dimension, the copy consists of `parts` stretches of `length` elements. Stretch p starts at the input
  // position start + p * part_move and continues in steps of coordinate_step.
  struct Axis {
    std::int64_t parts;
    std::int64_t length;
    std::int64_t start;
    std::int64_t part_move;
    std::int64_t coordinate_step;
    std::int64_t tap_first;  // in stretches, if is_spread; otherwise in positions after start
    std::int64_t tap_move;
    bool is_spread;  // one stretch for each tap; otherwise one stretch for each remainder of the positions

    [[nodiscard]] std::int64_t elements() const { return parts * length; }
    // The offset of the element that tap n reads for the tile's first output.
    [[nodiscard]] std::int64_t offset_of_tap(std::int64_t n) const {
      const std::int64_t at = tap_first + n * tap_move;
      return is_spread ? at * length : at % coordinate_step * length + at / coordinate_step;
    }
  };
  Axis axes[kWindowAxes];
  std::int64_t row_step;    // distance between output rows in the copy
  std::int64_t slice_step;  // distance between output slices in the copy

  [[nodiscard]] std::int64_t elements() const { return axes[0].elements() * axes[1].elements() * axes[2].elements(); }
  // The offset of output (i, j, 0) of the tile.
  [[nodiscard]] std::int64_t offset_of_row(std::int64_t i, std::int64_t j) const {
    return i * slice_step + j * row_step;
  }
};

[[nodiscard]] WindowPlane window_plane(const WindowClasses& classes, const WindowTile& tile);

// The part of the image that a tile needs for some consecutive k. It consists of one part, or of two parts if a channel
// with more taps than a block ends among these k. The planes of both parts have the same distances between rows and
// between slices.
struct WindowBlock {
  struct Part {
    std::int64_t channel;  // the first channel
    std::int64_t channels;
    const WindowClasses* classes;  // with the required taps
    const WindowPlane* plane;
    std::int64_t first;  // the index of the first k, counted from the first tap of `classes`
    std::int64_t depth;

    [[nodiscard]] std::int64_t elements() const { return channels * plane->elements(); }
  };
  Part parts[2];
  std::uint32_t count;
  WindowClasses some_classes[2];  // for parts that do not contain all taps
  WindowPlane some_planes[2];

  [[nodiscard]] const WindowPlane& plane() const { return *parts[0].plane; }
};

// Finds a block. The block refers to `classes` and to `whole`, the plane with all taps. block: the upper limit for
// `depth`. If a block has all taps of a channel, its plane is whole. Otherwise its plane has the taps from the first to
// the last required tap, in whole rows of taps unless a row has more taps than a block. The distance between rows is
// thus the same in all blocks if rows are short enough to be joined.
void find_block(const WindowClasses& classes, const WindowPlane& whole, const WindowTile& tile, std::int64_t first,
                std::int64_t depth, std::int64_t block, WindowBlock& found) noexcept;
// The largest number of elements in any block that find_block finds, if blocks touch at most `channels` channels.
[[nodiscard]] std::int64_t window_block_elements(const WindowClasses& classes, const WindowTile& tile,
                                                 std::int64_t channels, std::int64_t block);

// The taps, among all taps of a tile's class, that touch the image for at least one of the tile's outputs: a range
// along each dimension. k counts all taps of one channel after another, and `kept` counts only the taps in these
// ranges, in the same order.
struct MetTaps {
  std::int64_t low[kWindowAxes];
  std::int64_t count[kWindowAxes];
  std::int64_t of[kWindowAxes];

  MetTaps() = default;
  MetTaps(const Windows& windows, const WindowClasses& classes, const WindowTile& tile);

  [[nodiscard]] std::int64_t taps() const { return count[0] * count[1] * count[2]; }
  [[nodiscard]] std::int64_t all() const { return of[0] * of[1] * of[2]; }
  [[nodiscard]] std::int64_t k_of(std::int64_t kept) const {
    const std::int64_t tap = kept % taps();
    const std::int64_t row = tap / count[2];
    return ((kept / taps() * of[0] + low[0] + row / count[1]) * of[1] + low[1] + row % count[1]) * of[2] + low[2] +
           tap % count[2];
  }
  // The number of kept taps before k.
  [[nodiscard]] std::int64_t before(std::int64_t k) const {
    const std::int64_t at[] = {k / (of[1] * of[2]) % of[0], k / of[2] % of[1], k % of[2]};
    std::int64_t sum = k / all() * taps();
    std::int64_t unit = taps();
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      unit /= count[i];
      const std::int64_t here = at[i] - low[i];
      sum += std::clamp<std::int64_t>(here, 0, count[i]) * unit;
      if (here < 0 || here >= count[i]) {
        break;
      }
    }
    return sum;
  }
  // The classes restricted to these taps.
  [[nodiscard]] WindowClasses restrict_classes(WindowClasses classes) const;
};

// Copies `channels` planes, one after another, from the channel at `from`. padding: the element outside the image.
// Elements are 1, 2 or 4 bytes wide.
void copy_planes(const Windows& windows, const WindowPlane& plane, const std::byte* from, std::int64_t channel_step,
                 std::int64_t channels, std::size_t element_bytes, const void* padding, std::byte* to) noexcept;

// Copies the parts of a block one after another. from: the image's first channel.
void copy_block(const Windows& windows, const WindowBlock& block, const std::byte* from, std::int64_t channel_step,
                std::size_t element_bytes, const void* padding, std::byte* to) noexcept;
// The offsets in this copy for all k of a block.
void tap_offsets(const WindowBlock& block, std::int64_t* to) noexcept;

// The offsets of the taps k in [first, first + depth), where k counts the taps of one channel after another, and the
// first plane belongs to the channel of tap `first`.
void tap_offsets(const WindowClasses& classes, const WindowPlane& plane, std::int64_t first, std::int64_t depth,
                 std::int64_t* to) noexcept;

// For each tap, packs the elements of `width` outputs of the tile, starting with `output`, `width` elements apart.
// Elements for outputs after the tile's last output have no meaning. Reads and writes `width` elements past the end of
// the planes and the panel. width * element_bytes: 16, 32, 64 or 128.
void pack_windows(const WindowPlane& plane, const WindowTile& tile, const std::byte* planes,
                  const std::int64_t* offsets, std::int64_t depth, std::int64_t output, std::int64_t width,
                  std::size_t element_bytes, std::byte* to) noexcept;

}  // namespace anydml
