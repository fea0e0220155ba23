// SPDX-License-Identifier: MIT
// Convolutions on the CPU. A piece is some tiles: output channels of a group by a box of the pixels of an image. Block
// by block, the part of the image that a tile needs is copied with its padding, and its windows are packed panel by
// panel for the strips of the filter. Where few channels share them, the kernels read the copy itself.
#include "ops/product/cpu/convolution.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ops/product/cpu/boxes.h"
#include "ops/product/cpu/pack.h"
#include "ops/product/cpu/tile.h"
#include "ops/product/cpu/windows.h"
#include "ops/product/step.h"

namespace anydml {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
constexpr std::size_t kInput = 0;
constexpr std::size_t kFilter = 1;
constexpr std::size_t kBias = 2;
constexpr std::size_t kOutput = 3;

f32 load(const std::byte* from) {
  f32 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Whether the kernels read the copied part of the image itself.
bool by_lines(const ConvolutionStep& step) { return step.rows <= kLineRows; }

// The memory that a thread needs beside the operands, in bytes from its beginning.
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
    row_step = totals_row(tiles, by_lines(step), width);
    totals = 0;
    offsets = aligned(tiles.rows * row_step);
    copied = offsets;
    panel = offsets;
    all = offsets;
    if (kernels != nullptr) {
      copied += kProductBlock * static_cast<std::int64_t>(sizeof(std::int64_t));
      panel = copied + aligned(copied_elements(step, tiles, kProductBlock) + 2 * width);
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
    const BoxLines lines(place.plane, place.box);
    const auto* const copied = reinterpret_cast<const f32*>(b.copied);
    for (std::int64_t first = 0; first < place.depth; first += kProductBlock) {
      const std::int64_t depth = std::min(kProductBlock, place.depth - first);
      b.begin(first, depth);
      for (std::int64_t i = 0; i < count[0]; ++i) {
        for (std::int64_t j = 0; j < lines.count; ++j) {
          lines_[tile.rows - 1](a.strip(0, tile.rows, first, depth), copied + place.plane.offset_of_row(i, j),
                                b.offsets, depth, tile.first + lines.place(place.box, i, j), tile.row_step,
                                lines.length, first == 0);
        }
      }
    }
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      lines.close_up(place.box, tile.first + row * tile.row_step);
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
    for_each_run(step_, place.classes, place.box, kBytes,
                 [&](std::int64_t pixel, std::int64_t count, std::int64_t offset, std::int64_t step) {
                   f32* const totals = made + pixel;
                   if (step == kBytes) {
                     scale_row(totals, bias, count, to + offset);
                     return;
                   }
                   scale_row(totals, bias, count, reinterpret_cast<std::byte*>(totals));
                   for (std::int64_t i = 0; i < count; ++i) {
                     std::memcpy(to + offset + i * step, totals + i, sizeof(f32));
                   }
                 });
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
    bool has_all = true;
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      has_all = has_all && taps[i].count == axes[i].taps;
    }
    if (has_all && is_contiguous_filter(step_, kBytes)) {
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
  const ConvolutionTiles tiles = cut(step,
                                     {.strip = kernels != nullptr ? kernels->strip : 1,
                                      .panel = kernels != nullptr ? kernels->panel : 1,
                                      .block = kernels != nullptr ? kProductBlock : 0,
                                      .by_lines = by_lines(step),
                                      .least_work = kLeastWork},
                                     machine.threads);
  return std::make_unique<ConvolutionRun>(step, kernels, flat.operands[kBias].slot != kAbsentSlot, tiles,
                                          tiles_of_piece(step, tiles, kLeastWork, machine.threads), machine,
                                          std::move(after));
}

}  // namespace anydml
