// SPDX-License-Identifier: MIT
// The windows of an image, brought beside each other. It knows geometry and sizes of elements, and no type.
//
// The elements that a tile of outputs needs are copied first, with the padding around them, so that nothing after that
// asks where the image ends. In this copy the elements that one tap meets for the outputs of a row follow one another,
// for every stride: element t of the row is `offset of the tap + t` from the beginning.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/product/window.h"

namespace anydml {

// A box of the outputs of a class: [first, first + count) along each dimension.
struct WindowTile {
  std::int64_t first[kWindowAxes];
  std::int64_t count[kWindowAxes];

  [[nodiscard]] std::int64_t outputs() const { return count[0] * count[1] * count[2]; }
};

// How the elements that a tile needs of one channel lie in the copy. Offsets in elements.
struct WindowPlane {
  // Along a dimension, `parts` stretches of `length` elements. Stretch p has the input's positions start + p *
  // part_move, and so on in steps of place_move.
  struct Axis {
    std::int64_t parts;
    std::int64_t length;
    std::int64_t start;
    std::int64_t part_move;
    std::int64_t place_move;
    std::int64_t tap_first;  // stretches, if is_spread; otherwise places after start
    std::int64_t tap_move;
    bool is_spread;  // a stretch for each tap; otherwise one for each remainder of the places

    [[nodiscard]] std::int64_t elements() const { return parts * length; }
    // Where the element that tap n meets at the tile's first output is.
    [[nodiscard]] std::int64_t offset_of_tap(std::int64_t n) const {
      const std::int64_t at = tap_first + n * tap_move;
      return is_spread ? at * length : at % place_move * length + at / place_move;
    }
  };
  Axis axes[kWindowAxes];
  std::int64_t row_step;    // from an output row to the next, in the copy
  std::int64_t slice_step;  // the same along the first dimension

  [[nodiscard]] std::int64_t elements() const { return axes[0].elements() * axes[1].elements() * axes[2].elements(); }
  // The offset of output (i, j, 0) of the tile.
  [[nodiscard]] std::int64_t offset_of_row(std::int64_t i, std::int64_t j) const {
    return i * slice_step + j * row_step;
  }
};

[[nodiscard]] WindowPlane window_plane(const WindowClasses& classes, const WindowTile& tile);

// Copies `channels` planes, one after another, from the channel at `from`. padding: the element outside the image.
// Elements have 1, 2 or 4 bytes.
void copy_planes(const Windows& windows, const WindowPlane& plane, const std::byte* from, std::int64_t channel_step,
                 std::int64_t channels, std::size_t element_bytes, const void* padding, std::byte* to) noexcept;

// The offsets of the taps k in [first, first + depth), where k counts the taps of one channel after another and the
// first plane is that of the channel of tap `first`.
void tap_offsets(const WindowClasses& classes, const WindowPlane& plane, std::int64_t first, std::int64_t depth,
                 std::int64_t* to) noexcept;

// For each tap the elements of `width` outputs of the tile from `output` on, `width` elements apart. Elements for
// outputs after the tile's last have no meaning. Reads and writes `width` elements more than the planes and the panel
// have. width * element_bytes: 16, 32, 64 or 128.
void pack_windows(const WindowPlane& plane, const WindowTile& tile, const std::byte* planes,
                  const std::int64_t* offsets, std::int64_t depth, std::int64_t output, std::int64_t width,
                  std::size_t element_bytes, std::byte* to) noexcept;

}  // namespace anydml
