// SPDX-License-Identifier: MIT
#include "ops/product/cpu/windows.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"

namespace anydml {
namespace {

std::int64_t distance(std::int64_t move) { return move < 0 ? -move : move; }

// Copies every element once, or once for each tap if that copies fewer elements. This is the case if taps are far
// apart, or if strides skip elements that no tap touches.
WindowPlane::Axis plane_axis(const WindowClass& along, std::int64_t first, std::int64_t count) {
  const std::int64_t taps = std::max<std::int64_t>(1, along.taps.count);
  const std::int64_t span = (taps - 1) * distance(along.tap_move);
  const std::int64_t positions = (count - 1) * along.output_move + span + 1;
  const std::int64_t length = (positions + along.output_move - 1) / along.output_move;
  const std::int64_t start = along.first + first * along.output_move;
  if (along.output_move > positions || along.output_move * length > taps * count) {
    return {.parts = taps,
            .length = count,
            .start = start,
            .part_move = along.tap_move,
            .coordinate_step = along.output_move,
            .tap_first = 0,
            .tap_move = 1,
            .is_spread = true};
  }
  return {.parts = along.output_move,
          .length = length,
          .start = along.tap_move < 0 ? start - span : start,
          .part_move = 1,
          .coordinate_step = along.output_move,
          .tap_first = along.tap_move < 0 ? span : 0,
          .tap_move = along.tap_move,
          .is_spread = false};
}

// Rows are often short. Calling memcpy for each row would take longer than the copy itself.
template <class Word>
void copy_near(const std::byte* from, std::int64_t count, Word* to) {
  constexpr auto kWords = static_cast<std::int64_t>(16 / sizeof(Word));
  if (count > 16 * kWords) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(Word));
    return;
  }
  if (count < kWords) {
    // Two copies that may overlap.
    const auto bytes = static_cast<std::size_t>(count) * sizeof(Word);
    auto* const first = reinterpret_cast<std::byte*>(to);
    if (bytes >= 8) {
      std::memcpy(first, from, 8);
      std::memcpy(first + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
      std::memcpy(first, from, 4);
      std::memcpy(first + bytes - 4, from + bytes - 4, 4);
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i, from + i * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
      }
    }
    return;
  }
  for (std::int64_t i = 0; i < count; i += kWords) {
    const std::int64_t at = std::min(i, count - kWords);  // the last copy starts earlier
    std::memcpy(to + at, from + at * static_cast<std::int64_t>(sizeof(Word)), 16);
  }
}

// Copies every second element.
template <class Word>
void copy_second(const std::byte* from, std::int64_t count, Word* to) {
  ANYDML_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, from + i * 2 * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
    to[i] = word;
  }
}

template <>
void copy_second(const std::byte* from, std::int64_t count, std::uint8_t* to) {
  using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
  constexpr std::int64_t kBytes = sizeof(Bytes);
  std::int64_t i = 0;
  if (count > kBytes) {
    Bytes low;
    Bytes high;
    // A vector reads one byte behind its last element, except the last vector, which begins one byte earlier.
    for (; i + kBytes < count; i += kBytes) {
      std::memcpy(&low, from + 2 * i, kBytes);
      std::memcpy(&high, from + 2 * i + kBytes, kBytes);
      const Bytes even = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      std::memcpy(to + i, &even, kBytes);
    }
    i = count - kBytes;
    std::memcpy(&low, from + 2 * i - 1, kBytes);
    std::memcpy(&high, from + 2 * i - 1 + kBytes, kBytes);
    const Bytes odd = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    std::memcpy(to + i, &odd, kBytes);
    return;
  }
  for (; i < count; ++i) {
    std::memcpy(to + i, from + 2 * i, 1);
  }
}

template <class Word>
struct Copier {
  const Windows& windows;
  const WindowPlane& plane;
  Word padding;

  // A stretch of a row: its elements [first, end) are inside the image, and the first of them is `from` bytes after the
  // beginning of the image's row. The rest is padding.
  struct Inside {
    std::int64_t first;
    std::int64_t end;
    std::int64_t from;
  };
  static constexpr std::int64_t kKnown = 4;
  Inside known[kKnown] = {};  // of the first stretches, which are the same in all rows

  Copier(const Windows& all, const WindowPlane& copied, const void* outside) : windows(all), plane(copied) {
    std::memcpy(&padding, outside, sizeof(Word));
    for (std::int64_t part = 0; part < std::min(kKnown, plane.axes[2].parts); ++part) {
      known[part] = inside_of(part);
    }
  }

  [[nodiscard]] Inside inside_of(std::int64_t part) const {
    const WindowPlane::Axis& axis = plane.axes[2];
    const WindowAxis& image = windows.axes[2];
    const std::int64_t start = axis.start + part * axis.part_move;
    const std::int64_t move = axis.coordinate_step;
    const std::int64_t length = axis.length;
    const auto moves_to = [move](std::int64_t positions) {
      // A division would take longer than the copy of a short row.
      return move == 1 ? positions : move == 2 ? (positions + 1) >> 1 : (positions + move - 1) / move;
    };
    const std::int64_t first = start >= 0 ? 0 : std::min(length, moves_to(-start));
    const std::int64_t end = start >= image.input ? first : std::clamp(moves_to(image.input - start), first, length);
    return {.first = first, .end = end, .from = (start + first * move) * image.input_step};
  }

  // Usually there is one element of padding, and a call of memset would take longer.
  void pad(Word* from, Word* end) const {
    if (from != end) {
      *from = padding;
      if (++from != end) {
        std::fill(from, end, padding);
      }
    }
  }

  // Copies elements of the image row `from`, in steps of coordinate_step.
  void copy_stretch(const std::byte* from, const Inside& inside, Word* to) const {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Word));
    const auto [first, end, offset] = inside;
    pad(to, to + first);
    pad(to + end, to + plane.axes[2].length);
    const std::int64_t step = plane.axes[2].coordinate_step * windows.axes[2].input_step;
    const std::byte* at = from + offset;
    if (step == kBytes) {
      copy_near(at, end - first, to + first);
    } else if (step == 2 * kBytes) {
      copy_second(at, end - first, to + first);
    } else {
      for (std::int64_t i = first; i < end; ++i, at += step) {
        std::memcpy(to + i, at, sizeof(Word));
      }
    }
  }

  void copy_row(const std::byte* from, Word* to) const {
    const WindowPlane::Axis& axis = plane.axes[2];
    for (std::int64_t part = 0; part < axis.parts; ++part) {
      copy_stretch(from, part < kKnown ? known[part] : inside_of(part), to + part * axis.length);
    }
  }

  // Calls use(is_inside, position) for each element of a dimension. is_inside: whether the position is inside the
  // image.
  template <class Use>
  static void for_each_coordinate(const WindowPlane::Axis& axis, std::int64_t size, Use use) {
    for (std::int64_t part = 0; part < axis.parts; ++part) {
      std::int64_t coordinate = axis.start + part * axis.part_move;
      for (std::int64_t i = 0; i < axis.length; ++i, coordinate += axis.coordinate_step) {
        use(coordinate >= 0 && coordinate < size, coordinate);
      }
    }
  }

  void copy_plane(const std::byte* from, Word* to) const {
    const std::int64_t length = plane.axes[2].elements();
    for_each_coordinate(plane.axes[0], windows.axes[0].input, [&](bool has_slice, std::int64_t slice) {
      for_each_coordinate(plane.axes[1], windows.axes[1].input, [&](bool has_row, std::int64_t row) {
        if (has_slice && has_row) {
          copy_row(from + slice * windows.axes[0].input_step + row * windows.axes[1].input_step, to);
        } else {
          std::fill(to, to + length, padding);
        }
        to += length;
      });
    });
  }
};

template <class Word>
void copy_words(const Windows& windows, const WindowPlane& plane, const std::byte* from, std::int64_t channel_step,
                std::int64_t channels, const void* padding, std::byte* to) {
  const Copier<Word> copier(windows, plane, padding);
  auto* words = reinterpret_cast<Word*>(to);
  for (std::int64_t i = 0; i < channels; ++i, words += plane.elements()) {
    copier.copy_plane(from + i * channel_step, words);
  }
}

// A stretch of a panel: its offsets in the planes and in the panel, in bytes.
struct Stretch {
  std::int64_t from;
  std::int64_t to;
};
constexpr std::int64_t kMaxWidth = 128;

// Copies each stretch over the whole width of the panel. The next stretch overwrites the excess.
template <std::size_t kBytes>
void copy_stretches(const std::byte* planes, const std::int64_t* offsets, std::int64_t depth, std::int64_t bytes,
                    const Stretch* stretches, std::int64_t count, std::byte* to) {
  if (count == 1) {
    for (std::int64_t k = 0; k < depth; ++k, to += kBytes) {
      std::memcpy(to, planes + offsets[k] * bytes + stretches[0].from, kBytes);
    }
    return;
  }
  if (count == 2) {
    for (std::int64_t k = 0; k < depth; ++k, to += kBytes) {
      const std::byte* const from = planes + offsets[k] * bytes;
      std::memcpy(to, from + stretches[0].from, kBytes);
      std::memcpy(to + stretches[1].to, from + stretches[1].from, kBytes);
    }
    return;
  }
  for (std::int64_t k = 0; k < depth; ++k, to += kBytes) {
    const std::byte* const from = planes + offsets[k] * bytes;
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(to + stretches[i].to, from + stretches[i].from, kBytes);
    }
  }
}

}  // namespace

WindowPlane window_plane(const WindowClasses& classes, const WindowTile& tile) {
  WindowPlane plane{};
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    plane.axes[i] = plane_axis(classes.axes[i], tile.first[i], tile.count[i]);
  }
  plane.row_step = plane.axes[2].elements();
  plane.slice_step = plane.axes[1].elements() * plane.row_step;
  return plane;
}

namespace {

// Restricts the class to the taps [low, low + count) along a dimension.
void restrict_taps(WindowClass& along, std::int64_t low, std::int64_t count) {
  along.first += low * along.tap_move;
  along.taps.count = count;
}

// The largest number of positions along a dimension that consecutive taps can touch, if `each` taps share one position.
std::int64_t max_positions(std::int64_t positions, std::int64_t each, std::int64_t taps) {
  return std::min(positions, (std::max<std::int64_t>(taps, 2) - 2) / each + 2);
}

// Whether there is only one slice. The distance between slices then does not matter, so one part of a block may leave
// out rows of taps even if the block has a second part.
bool has_one_slice(const WindowClasses& classes, const WindowTile& tile) {
  return classes.axes[0].taps.count == 1 && tile.count[0] == 1;
}

// Describes the taps [first, first + depth) of a channel that has more taps than a block, as a part of the block.
void find_part(const WindowClasses& classes, const WindowTile& tile, std::int64_t first, std::int64_t depth,
               std::int64_t block, std::uint32_t number, WindowBlock& found) {
  const bool is_alone = found.count == 1;
  WindowClasses& some = found.some_classes[number];
  some = classes;
  std::int64_t before = 0;             // taps at the positions that are left out
  std::int64_t each = classes.taps();  // taps at one position along the previous dimension
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    const std::int64_t count = classes.axes[i].taps.count;
    each /= count;
    const std::int64_t low = first / each % count;
    const std::int64_t high = (first + depth - 1) / each % count;
    if ((i == 1 && !is_alone && !has_one_slice(classes, tile)) || (i == 2 && (!is_alone || count <= block))) {
      break;
    }
    restrict_taps(some.axes[i], low, high - low + 1);
    before += low * each;
    if (low != high) {
      break;
    }
  }
  found.some_planes[number] = window_plane(some, tile);
  found.parts[number] = {.channel = 0,
                         .channels = 1,
                         .classes = &some,
                         .plane = &found.some_planes[number],
                         .first = first - before,
                         .depth = depth};
}

}  // namespace

void find_block(const WindowClasses& classes, const WindowPlane& whole, const WindowTile& tile, std::int64_t first,
                std::int64_t depth, std::int64_t block, WindowBlock& found) noexcept {
  const std::int64_t taps = classes.taps();
  const std::int64_t channel = first / taps;
  const std::int64_t last = (first + depth - 1) / taps;
  if (taps <= block) {
    found.count = 1;
    found.parts[0] = {.channel = channel,
                      .channels = last + 1 - channel,
                      .classes = &classes,
                      .plane = &whole,
                      .first = first - channel * taps,
                      .depth = depth};
    return;
  }
  found.count = channel == last ? 1 : 2;
  const std::int64_t at = first - channel * taps;
  const std::int64_t of_first = std::min(depth, taps - at);
  find_part(classes, tile, at, of_first, block, 0, found);
  found.parts[0].channel = channel;
  if (found.count == 2) {
    find_part(classes, tile, 0, depth - of_first, block, 1, found);
    found.parts[1].channel = last;
  }
}

std::int64_t window_block_elements(const WindowClasses& classes, const WindowTile& tile, std::int64_t channels,
                                   std::int64_t block) {
  const std::int64_t taps = classes.taps();
  if (taps <= block) {
    return channels * window_plane(classes, tile).elements();
  }
  const auto count = [&](std::uint32_t i) { return classes.axes[i].taps.count; };
  const auto elements = [&](std::uint32_t axis, std::int64_t each) {
    WindowClasses some = classes;
    restrict_taps(some.axes[axis], 0, max_positions(count(axis), each, block));
    return window_plane(some, tile).elements();
  };
  const std::int64_t by_slices = elements(0, count(1) * count(2));
  const std::int64_t by_rows = elements(1, count(2));
  std::int64_t maximum = count(0) > 1 ? by_slices : count(1) > 1 ? by_rows : elements(2, 1);
  if (channels > 1) {
    maximum = std::max(maximum, 2 * (has_one_slice(classes, tile) ? by_rows : by_slices));
  }
  return maximum;
}

MetTaps::MetTaps(const Windows& windows, const WindowClasses& classes, const WindowTile& tile) {
  const auto rounded_down = [](std::int64_t value, std::int64_t by) {
    return value >= 0 ? value / by : -((-value + by - 1) / by);
  };
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    const WindowClass& along = classes.axes[i];
    const std::int64_t near = along.first + tile.first[i] * along.output_move;
    const std::int64_t far = near + (tile.count[i] - 1) * along.output_move;
    const std::int64_t end = windows.axes[i].input - 1;
    const std::int64_t move = distance(along.tap_move);
    if (move == 0) {  // a dilation of 0: all taps coincide
      of[i] = along.taps.count;
      low[i] = 0;
      count[i] = of[i];
      continue;
    }
    // The first tap whose last position is not before the image, and the last tap whose first position is not after it.
    const std::int64_t first = along.tap_move < 0 ? -rounded_down(end - near, move) : -rounded_down(far, move);
    const std::int64_t last = along.tap_move < 0 ? rounded_down(far, move) : rounded_down(end - near, move);
    of[i] = along.taps.count;
    low[i] = std::clamp<std::int64_t>(first, 0, of[i]);
    count[i] = std::max<std::int64_t>(0, std::min(last + 1, of[i]) - low[i]);
  }
}

WindowClasses MetTaps::restrict_classes(WindowClasses classes) const {
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    restrict_taps(classes.axes[i], low[i], count[i]);
  }
  return classes;
}

void copy_block(const Windows& windows, const WindowBlock& block, const std::byte* from, std::int64_t channel_step,
                std::size_t element_bytes, const void* padding, std::byte* to) noexcept {
  for (std::uint32_t i = 0; i < block.count; ++i) {
    const WindowBlock::Part& part = block.parts[i];
    copy_planes(windows, *part.plane, from + part.channel * channel_step, channel_step, part.channels, element_bytes,
                padding, to);
    to += part.elements() * static_cast<std::int64_t>(element_bytes);
  }
}

void tap_offsets(const WindowBlock& block, std::int64_t* to) noexcept {
  std::int64_t before = 0;
  for (std::uint32_t i = 0; i < block.count; ++i) {
    const WindowBlock::Part& part = block.parts[i];
    tap_offsets(*part.classes, *part.plane, part.first, part.depth, to);
    std::for_each(to, to + (before != 0 ? part.depth : 0), [before](std::int64_t& offset) { offset += before; });
    before += part.elements();
    to += part.depth;
  }
}

void copy_planes(const Windows& windows, const WindowPlane& plane, const std::byte* from, std::int64_t channel_step,
                 std::int64_t channels, std::size_t element_bytes, const void* padding, std::byte* to) noexcept {
  switch (element_bytes) {
    case 1:
      copy_words<std::uint8_t>(windows, plane, from, channel_step, channels, padding, to);
      break;
    case 2:
      copy_words<std::uint16_t>(windows, plane, from, channel_step, channels, padding, to);
      break;
    default:
      copy_words<std::uint32_t>(windows, plane, from, channel_step, channels, padding, to);
  }
}

void tap_offsets(const WindowClasses& classes, const WindowPlane& plane, std::int64_t first, std::int64_t depth,
                 std::int64_t* to) noexcept {
  const std::int64_t counts[] = {classes.axes[0].taps.count, classes.axes[1].taps.count, classes.axes[2].taps.count};
  std::int64_t tap = first % classes.taps();
  std::int64_t at[kWindowAxes] = {tap / (counts[1] * counts[2]), tap / counts[2] % counts[1], tap % counts[2]};
  std::int64_t outer = 0;
  std::int64_t base = 0;
  const auto set_outer = [&] {
    outer = base + plane.axes[0].offset_of_tap(at[0]) * plane.slice_step +
            plane.axes[1].offset_of_tap(at[1]) * plane.row_step;
  };
  set_outer();
  // The offsets for one channel. For each following channel, they are shifted by one plane.
  const std::int64_t taps = std::min(depth, classes.taps());
  for (std::int64_t k = 0; k < taps; ++k) {
    to[k] = outer + plane.axes[2].offset_of_tap(at[2]);
    if (++at[2] == counts[2]) {
      at[2] = 0;
      if (++at[1] == counts[1]) {
        at[1] = 0;
        if (++at[0] == counts[0]) {
          at[0] = 0;
          base += plane.elements();
        }
      }
      set_outer();
    }
  }
  const std::int64_t elements = plane.elements();
  for (std::int64_t k = taps; k < depth; ++k) {
    to[k] = to[k - taps] + elements;
  }
}

void pack_windows(const WindowPlane& plane, const WindowTile& tile, const std::byte* planes,
                  const std::int64_t* offsets, std::int64_t depth, std::int64_t output, std::int64_t width,
                  std::size_t element_bytes, std::byte* to) noexcept {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  Stretch stretches[kMaxWidth];
  std::int64_t count = 0;
  const std::int64_t end = std::min(width, tile.outputs() - output);
  for (std::int64_t i = 0; i < end;) {
    const std::int64_t at = output + i;
    const std::int64_t column = at % tile.count[2];
    const std::int64_t row = at / tile.count[2];
    stretches[count++] = {.from = (plane.offset_of_row(row / tile.count[1], row % tile.count[1]) + column) * bytes,
                          .to = i * bytes};
    i += tile.count[2] - column;
  }
  switch (width * bytes) {
    case 16:
      copy_stretches<16>(planes, offsets, depth, bytes, stretches, count, to);
      break;
    case 32:
      copy_stretches<32>(planes, offsets, depth, bytes, stretches, count, to);
      break;
    case 64:
      copy_stretches<64>(planes, offsets, depth, bytes, stretches, count, to);
      break;
    default:
      copy_stretches<128>(planes, offsets, depth, bytes, stretches, count, to);
  }
}

}  // namespace anydml
