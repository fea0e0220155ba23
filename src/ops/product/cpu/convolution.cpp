// SPDX-License-Identifier: MIT
// Convolutions on the CPU. A piece is some tiles: output channels of a group by a box of the pixels of an image. Block
// by block, the part of the image that a tile needs is copied with its padding, and its windows are packed panel by
// panel for the strips of the filter. Where few channels share them, the kernels read the copy itself.
#include "ops/product/cpu/convolution.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <utility>

#include "ops/product/cpu/pack.h"
#include "ops/product/cpu/tile.h"
#include "ops/product/cpu/windows.h"
#include "ops/product/step.h"

namespace anydml {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
// Of a tile: what is computed, the copied part of the image and the strips of a block share a second-level cache.
constexpr std::int64_t kMostRows = 256;
constexpr std::int64_t kMostColumns = 512;
constexpr std::int64_t kMostTotals = 1 << 16;
constexpr std::int64_t kMostCopied = 1 << 16;

constexpr std::size_t kInput = 0;
constexpr std::size_t kFilter = 1;
constexpr std::size_t kBias = 2;
constexpr std::size_t kOutput = 3;

f32 load(const std::byte* from) {
  f32 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// How the outputs of one group and class are cut. Other classes have at most as many outputs as the first.
struct ConvolutionTiles {
  std::int64_t rows;
  std::int64_t count[kWindowAxes];  // pixels along each dimension
  std::int64_t down;                // tiles
  std::int64_t across[kWindowAxes];

  [[nodiscard]] std::int64_t columns() const { return count[0] * count[1] * count[2]; }
  [[nodiscard]] std::int64_t boxes() const { return across[0] * across[1] * across[2]; }
};

// Whole rows of pixels if they are short enough, and whole slices of rows.
ConvolutionTiles cut_evenly(const ConvolutionStep& step, const WindowClasses& classes, std::int64_t strip,
                            std::int64_t most_rows, std::int64_t most_columns) {
  ConvolutionTiles tiles{};
  tiles.rows = even_part(step.rows, most_rows, strip);
  tiles.down = parts_of(step.rows, tiles.rows);
  std::int64_t most = most_columns;
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const std::int64_t outputs = classes.axes[i].outputs;
    tiles.count[i] = even_part(outputs, std::max<std::int64_t>(1, most), 1);
    tiles.across[i] = parts_of(outputs, tiles.count[i]);
    most = tiles.across[i] == 1 ? most / outputs : 1;
  }
  return tiles;
}

WindowTile box_of(const ConvolutionTiles& tiles, const WindowClasses& classes, std::int64_t number) {
  WindowTile box{};
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    box.first[i] = number % tiles.across[i] * tiles.count[i];
    box.count[i] = std::max<std::int64_t>(0, std::min(tiles.count[i], classes.axes[i].outputs - box.first[i]));
    number /= tiles.across[i];
  }
  return box;
}

// The channels of a block of so many factors, at most.
std::int64_t channels_of_block(const ConvolutionStep& step, std::int64_t taps) {
  return taps == 0 ? 0 : std::min(step.channels, (kProductBlock + taps - 2) / taps + 1);
}

// A class with the most outputs that any has. Along dimension i it has the most taps, or the fewest if bit i is set.
WindowClasses extreme_classes(const Windows& windows, std::uint32_t bits) {
  WindowClasses classes{};
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    const WindowAxis& axis = windows.axes[i];
    const bool is_backward = windows.is_backward != 0;
    WindowClass& made = classes.axes[i];
    made = window_class(windows, i, 0);
    made.taps = taps_of_group(windows, i, (bits >> i & 1) != 0 ? tap_groups(windows, i) - 1 : 0);
    made.tap_move = is_backward ? axis.dilation / std::gcd(axis.dilation, axis.stride) : axis.dilation;
  }
  return classes;
}

// Elements of the image that a tile needs for a block, at most.
std::int64_t copied_elements(const ConvolutionStep& step, const ConvolutionTiles& tiles) {
  std::int64_t most = 0;
  for (std::uint32_t bits = 0; bits < 1U << kWindowAxes; ++bits) {
    const WindowClasses classes = extreme_classes(step.windows, bits);
    const WindowTile box{.first = {}, .count = {tiles.count[0], tiles.count[1], tiles.count[2]}};
    most = std::max(most, channels_of_block(step, classes.taps()) * window_plane(classes, box).elements());
  }
  return most;
}

// Whether the kernels read the copied part of the image itself.
bool by_lines(const ConvolutionStep& step) { return step.rows <= kLineRows; }

ConvolutionTiles cut(const ConvolutionStep& step, const ProductKernels* kernels, unsigned threads) {
  const WindowClasses classes = extreme_classes(step.windows, 0);
  const std::int64_t strip = kernels != nullptr ? kernels->strip : 1;
  const std::int64_t panel = kernels != nullptr ? kernels->panel : 1;
  std::int64_t most_rows = kMostRows;
  std::int64_t most_columns = std::clamp(kMostTotals / std::min(step.rows, kMostRows), kMostColumns / 2,
                                         by_lines(step) ? 8 * kMostColumns : kMostColumns);
  const std::int64_t matrices = step.images * step.groups * all_window_classes(step.windows);
  while (true) {
    const ConvolutionTiles tiles = cut_evenly(step, classes, strip, most_rows, most_columns);
    const std::int64_t copied = kernels != nullptr ? copied_elements(step, tiles) : 0;
    if (copied > kMostCopied && most_columns > 2 * panel) {
      most_columns /= 2;
      continue;
    }
    const std::int64_t pieces = tiles.down * tiles.boxes() * matrices;
    const std::int64_t work = tiles.rows * tiles.columns() * std::max<std::int64_t>(step.channels * classes.taps(), 1);
    if (threads == 1 || work < 2 * kLeastWork || pieces >= 4 * std::int64_t{threads}) {
      return tiles;
    }
    if (tiles.columns() > 4 * panel) {
      most_columns = std::min(most_columns, tiles.columns()) / 2;
    } else if (tiles.rows > 4 * strip && pieces < 2 * std::int64_t{threads}) {
      most_rows = tiles.rows / 2;
    } else {
      return tiles;
    }
  }
}

// Whether rows of pixels are computed as one row, with the elements that lie between them in the copy: if they are
// short and few elements lie there.
constexpr std::int64_t kShortRow = 32;
std::int64_t most_between(std::int64_t length) { return length <= kShortRow ? length / 3 : 0; }
bool joins_rows(const WindowPlane& plane, std::int64_t length) {
  return plane.row_step <= length + most_between(length);
}

// What a thread needs beside the operands, in bytes from the beginning of its memory.
struct ConvolutionBuffers {
  std::int64_t row_step;  // of the totals, in elements
  std::int64_t totals;
  std::int64_t offsets;
  std::int64_t copied;
  std::int64_t panel;
  std::int64_t all;

  ConvolutionBuffers(const ConvolutionStep& step, const ProductKernels* kernels, const ConvolutionTiles& tiles) {
    constexpr std::int64_t kAlignment = 64;
    const std::int64_t width = kernels != nullptr ? kernels->panel : 1;
    const auto aligned = [](std::int64_t elements) { return parts_of(elements * kBytes, kAlignment) * kAlignment; };
    const std::int64_t between = by_lines(step) ? most_between(kShortRow) : 0;
    row_step = parts_of(tiles.count[0] * tiles.count[1] * (tiles.count[2] + between), width) * width;
    totals = 0;
    offsets = aligned(tiles.rows * row_step);
    copied = offsets;
    panel = offsets;
    all = offsets;
    if (kernels != nullptr) {
      copied += kProductBlock * static_cast<std::int64_t>(sizeof(std::int64_t));
      panel = copied + aligned(copied_elements(step, tiles) + 2 * width);
      all = panel + aligned(kProductBlock * width + width);
    }
  }
};

class ConvolutionRun final : public cpu::Prepared {
 public:
  ConvolutionRun(const ConvolutionStep& step, const ProductKernels* kernels, bool has_bias,
                 const ConvolutionTiles& tiles, std::int64_t tiles_of_piece, const cpu::Machine& machine,
                 cpu::Neighbour after)
      : Prepared(static_cast<std::uint64_t>(parts_of(all_tiles(step, tiles), tiles_of_piece)), 1,
                 static_cast<std::size_t>(ConvolutionBuffers(step, kernels, tiles).all)),
        step_(step),
        kernels_(kernels),
        lines_(product_lines(machine.target)),
        tiles_(tiles),
        buffers_(step, kernels, tiles),
        after_(std::move(after)),
        classes_(all_window_classes(step.windows)),
        tiles_of_piece_(tiles_of_piece),
        target_(machine.target),
        has_bias_(has_bias) {}

  static std::int64_t all_tiles(const ConvolutionStep& step, const ConvolutionTiles& tiles) {
    return step.images * step.groups * all_window_classes(step.windows) * tiles.down * tiles.boxes();
  }
  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * tiles_of_piece_;
    const std::int64_t end = std::min(first + tiles_of_piece_, all_tiles(step_, tiles_));
    Place place{};
    for (std::int64_t number = first; number < end; ++number) {
      move_to(number, number == first, place);
      if (place.box.outputs() == 0) {
        continue;  // other classes have more outputs
      }
      auto* const totals = reinterpret_cast<f32*>(piece.scratch);
      if (kernels_ == nullptr || place.depth == 0) {
        compute_by_definition(place, operands, totals);
      } else {
        compute(place, operands, piece.scratch);
      }
      finish(place, operands, totals);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "convolution, tiles of %lld x %lld, %s, %s kernel",
                  static_cast<long long>(tiles_.rows), static_cast<long long>(tiles_.columns()),
                  by_lines(step_) ? "by lines" : "by panels",
                  cpu::target_name(kernels_ != nullptr ? target_ : cpu::Target::generic));
  }

 private:
  struct Place {
    std::int64_t image;
    std::int64_t group;
    WindowClasses classes;
    WindowTile box;
    std::int64_t row;
    std::int64_t rows;
    std::int64_t depth;
    std::int64_t pixels;  // the number of the box and of its class
    WindowPlane plane;
    bool is_like_last;  // the windows are those of the tile before this one
  };
  // The classes of some pixels follow one another, since they share the lines of the output.
  void move_to(std::int64_t number, bool is_first, Place& place) const {
    const std::int64_t pixels = number % (tiles_.boxes() * classes_);
    number /= tiles_.boxes() * classes_;
    place.row = number % tiles_.down * tiles_.rows;
    number /= tiles_.down;
    place.group = number % step_.groups;
    place.image = number / step_.groups;
    place.rows = std::min(tiles_.rows, step_.rows - place.row);
    place.is_like_last = !is_first && pixels == place.pixels;
    if (place.is_like_last) {
      return;
    }
    place.pixels = pixels;
    place.classes = window_classes_of(step_.windows, pixels % classes_);
    place.box = box_of(tiles_, place.classes, pixels / classes_);
    place.depth = step_.channels * place.classes.taps();
    if (kernels_ != nullptr && place.depth != 0 && place.box.outputs() != 0) {
      place.plane = window_plane(place.classes, place.box);
    }
  }

  [[nodiscard]] const std::byte* channel(const Place& place, std::byte* const* operands, std::int64_t number) const {
    return operands[kInput] + place.image * step_.input_image +
           (place.group * step_.channels + number) * step_.input_channel;
  }

  // The packed filter of the place's group and class.
  [[nodiscard]] const f32* filter_of(const Place& place, std::byte* const* operands) const {
    const WindowClass* const axes = place.classes.axes;
    const std::int64_t before =
        place.group * step_.taps() + taps_before(step_.windows, axes[0].taps, axes[1].taps, axes[2].taps);
    return reinterpret_cast<const f32*>(operands[kFilter]) + before * step_.rows * step_.channels;
  }

  void compute_by_definition(const Place& place, std::byte* const* operands, f32* totals) const {
    const WindowClass* const axes = place.classes.axes;
    const std::int64_t taps = place.classes.taps();
    const auto tap_along = [&](std::int64_t tap, std::uint32_t axis) {
      return axis == 0   ? tap / (axes[1].taps.count * axes[2].taps.count)
             : axis == 1 ? tap / axes[2].taps.count % axes[1].taps.count
                         : tap % axes[2].taps.count;
    };
    for (std::int64_t row = 0; row < place.rows; ++row) {
      const std::byte* const filter =
          operands[kFilter] + place.group * step_.filter_group + (place.row + row) * step_.filter_row;
      const auto weight = [&](std::int64_t k) {
        if (step_.strip != 0) {
          return packed_factor(filter_of(place, operands), step_.rows, step_.strip, place.depth, place.row + row, k);
        }
        const std::byte* at = filter + k / taps * step_.filter_channel;
        for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
          const WindowTaps& along = axes[i].taps;
          at += (along.first + tap_along(k % taps, i) * along.step) * step_.windows.axes[i].filter_step;
        }
        return load(at);
      };
      for (std::int64_t pixel = 0; pixel < place.box.outputs(); ++pixel) {
        const std::int64_t outputs[] = {place.box.first[0] + pixel / (place.box.count[1] * place.box.count[2]),
                                        place.box.first[1] + pixel / place.box.count[2] % place.box.count[1],
                                        place.box.first[2] + pixel % place.box.count[2]};
        const auto element = [&](std::int64_t k) {
          const std::byte* at = channel(place, operands, k / taps);
          for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
            const std::int64_t there =
                axes[i].first + outputs[i] * axes[i].output_move + tap_along(k % taps, i) * axes[i].tap_move;
            if (there < 0 || there >= step_.windows.axes[i].input) {
              return 0.0F;
            }
            at += there * step_.windows.axes[i].input_step;
          }
          return load(at);
        };
        totals[row * buffers_.row_step + pixel] = sum_of_products(place.depth, element, weight);
      }
    }
  }

  // The windows of a tile, for one block after another.
  struct WindowColumns {
    const ConvolutionRun& run;
    const Place& place;
    std::byte* const* operands;
    std::int64_t* offsets;
    std::byte* copied;
    f32* packed;

    void begin(std::int64_t first, std::int64_t depth) const {
      const std::int64_t taps = place.classes.taps();
      const std::int64_t channel = first / taps;
      const std::int64_t channels = (first + depth - 1) / taps + 1 - channel;
      constexpr f32 kPadding = 0;
      copy_planes(run.step_.windows, place.plane, run.channel(place, operands, channel), run.step_.input_channel,
                  channels, sizeof(f32), &kPadding, copied);
      if (depth != place.depth || !place.is_like_last) {
        tap_offsets(place.classes, place.plane, first, depth, offsets);
      }
    }
    [[nodiscard]] Panel panel(std::int64_t column, std::int64_t, std::int64_t depth) const {
      const std::int64_t width = run.kernels_->panel;
      pack_windows(place.plane, place.box, copied, offsets, depth, column, width, sizeof(f32),
                   reinterpret_cast<std::byte*>(packed));
      return {.first = packed, .step = width};
    }
  };

  void compute(const Place& place, std::byte* const* operands, std::byte* scratch) const {
    PackedStrips a{.first = filter_of(place, operands) + place.row * place.depth, .depth = place.depth};
    WindowColumns b{.run = *this,
                    .place = place,
                    .operands = operands,
                    .offsets = reinterpret_cast<std::int64_t*>(scratch + buffers_.offsets),
                    .copied = scratch + buffers_.copied,
                    .packed = reinterpret_cast<f32*>(scratch + buffers_.panel)};
    const TileTotals tile{.first = reinterpret_cast<f32*>(scratch + buffers_.totals),
                          .row_step = buffers_.row_step,
                          .rows = place.rows,
                          .columns = place.box.outputs()};
    if (by_lines(step_)) {
      add_lines(place, a, b, tile);
    } else {
      add_products(*kernels_, place.depth, a, b, tile);
    }
  }

  // One strip of few rows.
  void add_lines(const Place& place, const PackedStrips& a, const WindowColumns& b, const TileTotals& tile) const {
    const std::int64_t* const count = place.box.count;
    const bool is_joined = joins_rows(place.plane, count[2]);
    const std::int64_t lines = is_joined ? 1 : count[1];
    const std::int64_t length = is_joined ? (count[1] - 1) * place.plane.row_step + count[2] : count[2];
    const std::int64_t step = is_joined ? place.plane.row_step : count[2];  // from a row to the next in the totals
    const auto* const copied = reinterpret_cast<const f32*>(b.copied);
    for (std::int64_t first = 0; first < place.depth; first += kProductBlock) {
      const std::int64_t depth = std::min(kProductBlock, place.depth - first);
      b.begin(first, depth);
      for (std::int64_t i = 0; i < count[0]; ++i) {
        for (std::int64_t j = 0; j < lines; ++j) {
          lines_[tile.rows - 1](a.strip(0, tile.rows, first, depth), copied + place.plane.offset_of_row(i, j),
                                b.offsets, depth, tile.first + (i * count[1] + j) * step, tile.row_step, length,
                                first == 0);
        }
      }
    }
    for (std::int64_t row = 0; is_joined && row < tile.rows; ++row) {
      f32* const totals = tile.first + row * tile.row_step;
      for (std::int64_t i = 1; i < count[0] * count[1]; ++i) {
        std::copy_n(totals + i * step, count[2], totals + i * count[2]);  // never to a higher address
      }
    }
  }

  void scale_row(const f32* totals, const std::byte* bias, std::int64_t count, std::byte* to) const {
    constexpr ProductScale kScale{.alpha = 1, .beta = 1};
    if (kernels_ != nullptr) {
      kernels_->scale_row(kScale, totals, bias, 0, count, to);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const f32 value = bias == nullptr ? kScale(totals[i]) : kScale(totals[i], load(bias));
      std::memcpy(to + i * kBytes, &value, sizeof(value));
    }
  }

  void finish(const Place& place, std::byte* const* operands, f32* totals) const {
    const bool is_handed_on = after_.stream != nullptr;
    const std::int64_t columns = place.box.outputs();
    for (std::int64_t row = 0; row < place.rows; ++row) {
      f32* const made = totals + row * buffers_.row_step;
      const std::int64_t channel = place.group * step_.rows + place.row + row;
      const std::byte* const bias = has_bias_ ? operands[kBias] + channel * step_.bias_channel : nullptr;
      if (is_handed_on) {
        scale_row(made, bias, columns, reinterpret_cast<std::byte*>(made));
      } else {
        write_row(place, made, bias,
                  operands[kOutput] + place.image * step_.output_image + channel * step_.output_channel);
      }
    }
    if (is_handed_on) {
      const WindowAxis* const axes = step_.windows.axes;
      const std::int64_t pixel =
          (place.box.first[0] * axes[1].output + place.box.first[1]) * axes[2].output + place.box.first[2];
      after_.run(
          {.first = ((place.image * step_.groups + place.group) * step_.rows + place.row) * step_.pixels() + pixel,
           .rows = place.rows,
           .columns = columns,
           .row_step = step_.pixels(),
           .buffer_row_step = buffers_.row_step * kBytes},
          reinterpret_cast<std::byte*>(totals), operands);
    }
  }

  // The pixels of one channel; `to` is the channel's first.
  void write_row(const Place& place, f32* made, const std::byte* bias, std::byte* to) const {
    const auto step_along = [&](std::uint32_t i) {
      return place.classes.axes[i].output_stride * step_.windows.axes[i].output_step;
    };
    const auto first_along = [&](std::uint32_t i) {
      return place.classes.axes[i].first_output * step_.windows.axes[i].output_step +
             place.box.first[i] * step_along(i);
    };
    const std::int64_t* const count = place.box.count;
    const std::int64_t length = count[2];
    const std::int64_t step = step_along(2);
    to += first_along(0) + first_along(1) + first_along(2);
    const bool is_contiguous = step == kBytes || length == 1;
    if (is_contiguous && (count[1] == 1 || step_along(1) == length * kBytes) &&
        (count[0] == 1 || step_along(0) == count[1] * length * kBytes)) {
      scale_row(made, bias, place.box.outputs(), to);
      return;
    }
    for (std::int64_t i = 0; i < count[0]; ++i) {
      for (std::int64_t j = 0; j < count[1]; ++j, made += length) {
        std::byte* const row = to + i * step_along(0) + j * step_along(1);
        if (is_contiguous) {
          scale_row(made, bias, length, row);
          continue;
        }
        scale_row(made, bias, length, reinterpret_cast<std::byte*>(made));
        for (std::int64_t pixel = 0; pixel < length; ++pixel) {
          std::memcpy(row + pixel * step, made + pixel, sizeof(f32));
        }
      }
    }
  }

  ConvolutionStep step_;
  const ProductKernels* kernels_;
  const ProductLine* lines_;
  ConvolutionTiles tiles_;
  ConvolutionBuffers buffers_;
  cpu::Neighbour after_;
  std::int64_t classes_;
  std::int64_t tiles_of_piece_;
  cpu::Target target_;
  bool has_bias_;
};

// Packs the filter. A piece is some strips of a group.
class FilterRun final : public cpu::Prepared {
 public:
  FilterRun(const ConvolutionStep& step, const ProductKernels* kernels, std::int64_t strips)
      : Prepared(static_cast<std::uint64_t>(parts_of(step.groups * strips_of(step), strips))),
        step_(step),
        kernels_(kernels),
        strips_(strips) {}

  static std::int64_t strips_of(const ConvolutionStep& step) { return parts_of(step.rows, step.strip); }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * strips_;
    const std::int64_t end = std::min(first + strips_, step_.groups * strips_of(step_));
    const Windows& windows = step_.windows;
    for (std::int64_t number = first; number < end; ++number) {
      const std::int64_t group = number / strips_of(step_);
      const std::int64_t row = number % strips_of(step_) * step_.strip;
      const std::int64_t rows = std::min<std::int64_t>(step_.strip, step_.rows - row);
      const std::byte* const from = operands[0] + group * step_.filter_group + row * step_.filter_row;
      auto* const to = reinterpret_cast<f32*>(operands[1]) + group * step_.rows * step_.channels * step_.taps();
      for (std::int64_t i = 0; i < tap_groups(windows, 0); ++i) {
        for (std::int64_t j = 0; j < tap_groups(windows, 1); ++j) {
          for (std::int64_t k = 0; k < tap_groups(windows, 2); ++k) {
            const WindowTaps taps[] = {taps_of_group(windows, 0, i), taps_of_group(windows, 1, j),
                                       taps_of_group(windows, 2, k)};
            const std::int64_t depth = step_.channels * taps[0].count * taps[1].count * taps[2].count;
            pack(from, taps, depth, rows,
                 to + taps_before(windows, taps[0], taps[1], taps[2]) * step_.rows * step_.channels + row * depth);
          }
        }
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "strips of %u rows", step_.strip);
  }

 private:
  void pack(const std::byte* from, const WindowTaps* taps, std::int64_t depth, std::int64_t rows, f32* to) const {
    const WindowAxis* const axes = step_.windows.axes;
    // Whether the factors of a row follow one another in the filter, whatever dimensions have one tap.
    std::int64_t near = kBytes;
    bool is_contiguous = true;
    for (std::uint32_t i = kWindowAxes; i-- > 0; near *= axes[i].taps) {
      is_contiguous =
          is_contiguous && taps[i].count == axes[i].taps && (axes[i].taps == 1 || axes[i].filter_step == near);
    }
    if (is_contiguous && (step_.channels == 1 || step_.filter_channel == near)) {
      pack_panel(kernels_, from, kBytes, step_.filter_row, depth, rows, rows, to);
      return;
    }
    for (std::int64_t channel = 0; channel < step_.channels; ++channel) {
      for (std::int64_t i = 0; i < taps[0].count; ++i) {
        for (std::int64_t j = 0; j < taps[1].count; ++j) {
          for (std::int64_t k = 0; k < taps[2].count; ++k, to += rows) {
            const std::byte* const at = from + channel * step_.filter_channel +
                                        (taps[0].first + i * taps[0].step) * axes[0].filter_step +
                                        (taps[1].first + j * taps[1].step) * axes[1].filter_step +
                                        (taps[2].first + k * taps[2].step) * axes[2].filter_step;
            for (std::int64_t row = 0; row < rows; ++row) {
              std::memcpy(to + row, at + row * step_.filter_row, sizeof(f32));
            }
          }
        }
      }
    }
  }

  ConvolutionStep step_;
  const ProductKernels* kernels_;
  std::int64_t strips_;  // of a piece
};

}  // namespace

std::unique_ptr<cpu::Prepared> prepare_convolution(const Step& flat, const ProductKernels* kernels,
                                                   const cpu::Machine& machine, cpu::Neighbour after) {
  ConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (step.kind == ProductKind::filter) {
    constexpr std::int64_t kElementsOfPiece = 1 << 16;
    const std::int64_t of_strip = step.strip * step.channels * step.taps();
    return std::make_unique<FilterRun>(step, kernels, std::max<std::int64_t>(1, kElementsOfPiece / of_strip));
  }
  if (step.strip == 0) {
    kernels = nullptr;  // they want it packed
  } else if (kernels != nullptr && kernels->strip != step.strip) {
    return nullptr;
  }
  const ConvolutionTiles tiles = cut(step, kernels, machine.threads);
  const std::int64_t work = std::max<std::int64_t>(
      1, tiles.rows * tiles.columns() * step.channels * step.taps() / all_window_classes(step.windows));
  const std::int64_t all = ConvolutionRun::all_tiles(step, tiles);
  const std::int64_t tiles_of_piece =
      std::clamp<std::int64_t>(kLeastWork / work, 1, parts_of(all, 4 * std::int64_t{machine.threads}));
  return std::make_unique<ConvolutionRun>(step, kernels, flat.operands[kBias].slot != kAbsentSlot, tiles,
                                          tiles_of_piece, machine, std::move(after));
}

}  // namespace anydml
