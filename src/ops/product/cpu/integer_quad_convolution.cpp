// SPDX-License-Identifier: MIT
// Byte convolutions by quads (integer_quads.h). A piece consists of several tiles. A tile covers some output channels
// of a group and a box of pixels in an image. The part of the image that a tile needs is copied in quads, block by
// block of channels if it is large. A line of outputs is one row, or several rows that are close in the copy; the few
// elements between those rows are then computed too, and dropped. Zero points are applied to the totals as in
// integer_convolution.cpp.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/product/cpu/boxes.h"
#include "ops/product/cpu/integer_convolution.h"
#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/cpu/integer_quad_layout.h"
#include "ops/product/cpu/load.h"
#include "ops/product/scalar/integer.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinWork = 2'000'000;    // minimum number of multiply-adds in a piece
constexpr std::int64_t kManyWeights = 1 << 18;  // bytes that do not stay in a second-level cache between two panels
constexpr std::int64_t kFewQuads = 6 * 1024;    // a copy of this size stays in a first-level cache
constexpr std::int64_t kMaxQuadTaps = 256;

// Copies a short row without calling memcpy.
void copy_row(const std::byte* from, std::int64_t bytes, std::byte* to) {
  const auto ends = [=](auto word) {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(word));
    std::memcpy(&word, from + bytes - kSize, sizeof(word));
    const auto last = word;
    std::memcpy(&word, from, sizeof(word));
    std::memcpy(to, &word, sizeof(word));
    std::memcpy(to + bytes - kSize, &last, sizeof(word));
  };
  if (bytes > 64) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  } else if (bytes >= 16) {
    for (std::int64_t i = 0; i < bytes; i += 16) {
      std::memcpy(to + std::min(i, bytes - 16), from + std::min(i, bytes - 16), 16);
    }
  } else if (bytes >= 8) {
    ends(u64{});
  } else if (bytes >= 4) {
    ends(u32{});
  } else {
    std::copy_n(from, bytes, to);
  }
}

// Whether the pixels of a channel are contiguous in the output.
bool has_packed_outputs(const ConvolutionStep& step, std::int64_t bytes) {
  std::int64_t near = bytes;
  for (std::uint32_t i = kWindowAxes; i-- > 0; near *= step.windows.axes[i].output) {
    if (step.windows.axes[i].output != 1 && step.windows.axes[i].output_step != near) {
      return false;
    }
  }
  return true;
}

class QuadRun final : public cpu::PreparedStep {
 public:
  QuadRun(const IntegerConvolutionStep& step, const QuadKernels& kernels, QuadLayout layout, std::int64_t of_piece,
          const cpu::StepContext& context, cpu::Neighbor after)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(all_tiles(step.convolution, layout.tiles, 1), of_piece)), 1,
                     layout.scratch),
        step_(step),
        convolution_(step_.convolution),
        classes_(window_classes_of(step.convolution.windows, 0)),
        kernels_(kernels),
        rows_(integer_rows(context.target)),
        layout_(std::move(layout)),
        after_(std::move(after)),
        tiles_of_piece_(of_piece),
        has_packed_pixels_(step.has_windows == 0 && after_.step == nullptr &&
                           has_packed_outputs(step.convolution, layout_.result)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * tiles_of_piece_;
    const std::int64_t end = std::min(first + tiles_of_piece_, all_tiles(convolution_, layout_.tiles, 1));
    for (std::int64_t number = first; number < end; ++number) {
      run_tile(number, piece.scratch, operands);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "integer convolution, tiles of %lld x %lld, by quads, %s kernel",
                  static_cast<long long>(layout_.tiles.rows), static_cast<long long>(layout_.tiles.columns()),
                  kernels_.name);
  }

 private:
  struct Tile {
    std::byte* const* operands;
    std::byte* scratch;
    std::int64_t image;
    std::int64_t group;
    std::int64_t row;
    std::int64_t rows;
    WindowTile box;
    const std::int64_t* count;  // of the box, or of its pixels as one row
    u8 padding;                 // the zero point of the input, unchanged
    bool has_zeros;             // whether the filter has zero points other than 0
    bool is_finite;             // whether all factors are finite
    i32 zero;                   // of the output
  };
  template <class T>
  [[nodiscard]] static T* at(const Tile& tile, std::size_t offset) {
    return reinterpret_cast<T*>(tile.scratch + offset);
  }
  [[nodiscard]] static std::byte* operand(const Tile& tile, IntegerOperand which) {
    return tile.operands[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::int64_t first_channel(const Tile& tile) const {  // of the tile's outputs
    return tile.group * convolution_.rows + tile.row;
  }
  [[nodiscard]] const u8* filter_of_group(const Tile& tile) const {
    return reinterpret_cast<const u8*>(operand(tile, IntegerOperand::a)) + tile.group * quad_group_bytes(convolution_);
  }

  void run_tile(std::int64_t number, std::byte* scratch, std::byte* const* operands) const {
    const ConvolutionTiles& tiles = layout_.tiles;
    Tile tile{};
    tile.operands = operands;
    tile.scratch = scratch;
    tile.box = box_of(tiles, classes_, number % tiles.boxes());
    number /= tiles.boxes();
    tile.row = number % tiles.down * tiles.rows;
    tile.rows = std::min(tiles.rows, convolution_.rows - tile.row);
    number /= tiles.down;
    tile.group = number % convolution_.groups;
    tile.image = number / convolution_.groups;
    const std::int64_t pixels[] = {1, 1, tile.box.outputs()};
    tile.count = step_.has_windows == 0 ? pixels : tile.box.count;
    const std::byte* const zero = operand(tile, IntegerOperand::b_zero);
    tile.padding = zero == nullptr ? u8{0} : static_cast<u8>(*zero);
    set_rows(tile);
    const QuadLines lines(layout_.plane, tile.count, layout_.is_joined);
    const std::int64_t quads = quads_of(convolution_);
    for (std::int64_t first = 0; first < quads; first += layout_.block) {
      const std::int64_t block = std::min(layout_.block, quads - first);
      copy_block(tile, first, block);
      if (tile.has_zeros) {
        add_plane_sums(tile, first, block);
      }
      if (first + block == quads && tile.has_zeros) {
        add_column_sums(tile, lines);
      }
      multiply(tile, lines, first, block);
    }
    finish(tile, lines);
  }

  // Computes the zero points of the tile's rows for signed bytes, their constant terms and their factors.
  void set_rows(Tile& tile) const {
    const bool is_signed = step_.signed_filter != 0;
    const auto* const padding = reinterpret_cast<const std::byte*>(&tile.padding);
    const auto input_zero =
        static_cast<u32>(byte_at(padding, step_.signed_input != 0) + byte_shift(step_.signed_input != 0, false));
    const auto depth = static_cast<u32>(convolution_.channels * convolution_.taps());
    const u8* const sums = filter_of_group(tile) + offset_of_sums(convolution_) + tile.row * kWord;
    const std::byte* const zeros = operand(tile, IntegerOperand::a_zero);
    const std::byte* const bias = operand(tile, IntegerOperand::bias);
    const std::byte* const output_zero = operand(tile, IntegerOperand::output_zero);
    const bool is_quantized = step_.finish == IntegerFinish::quantized;
    tile.is_finite = true;
    tile.zero = is_quantized && output_zero != nullptr ? byte_at(output_zero, step_.signed_output != 0) : 0;
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      const std::int64_t channel = first_channel(tile) + i;
      const i32 given = zeros == nullptr ? 0 : byte_at(zeros + channel * step_.filter_zero, is_signed);
      const auto zero = static_cast<u32>(given + byte_shift(is_signed, true));
      u32 sum;
      std::memcpy(&sum, sums + i * kWord, sizeof(sum));
      at<u32>(tile, layout_.row_zeros)[i] = zero;
      at<u32>(tile, layout_.row_plus)[i] =
          (bias == nullptr ? 0 : load<u32>(bias + channel * convolution_.bias_channel)) -
          input_zero * (sum - depth * zero);
      tile.has_zeros = tile.has_zeros || zero != 0;
      if (is_quantized) {
        const f32 factor =
            quantized_factor(load<f32>(operand(tile, IntegerOperand::b_scale)),
                             load<f32>(operand(tile, IntegerOperand::a_scale) + channel * step_.filter_scale),
                             load<f32>(operand(tile, IntegerOperand::output_scale)));
        at<f32>(tile, layout_.factors)[i] = factor;
        tile.is_finite = tile.is_finite && std::isfinite(factor);
      }
    }
  }

  // Copies the part of the image that the tile needs, from this group of four channels on.
  void copy_block(const Tile& tile, std::int64_t first, std::int64_t count) const {
    u32* to = at<u32>(tile, layout_.copied);
    const bool has_windows = step_.has_windows != 0;
    const WindowAxis* const axes = convolution_.windows.axes;
    WindowPlane window = layout_.window;
    if (has_windows) {
      for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
        window.axes[i].start += tile.box.first[i] * classes_.axes[i].output_move;
      }
    }
    QuadStretch stretch{.channels = {},
                        .position_bytes = has_windows ? axes[2].input_step : step_.pixel_step,
                        .first = 0,
                        .step = window.axes[2].coordinate_step,
                        .length = layout_.plane.length,
                        .size = has_windows ? axes[2].input : tile.box.outputs(),
                        .padding = tile.padding,
                        .flip = byte_flip(step_.signed_input != 0, false),
                        .to = nullptr};
    const u32 outside = u32{0x01010101} * static_cast<u8>(stretch.padding ^ stretch.flip);
    for (std::int64_t quad = first; quad < first + count; ++quad) {
      const std::byte* channels[kQuad];
      for (std::int64_t i = 0; i < kQuad; ++i) {
        // The weights of missing channels are 0.
        const std::int64_t channel = std::min(quad * kQuad + i, convolution_.channels - 1);
        channels[i] = operand(tile, IntegerOperand::b) + tile.image * convolution_.input_image +
                      (tile.group * convolution_.channels + channel) * convolution_.input_channel +
                      (has_windows ? 0 : pixel_of(tile) * step_.pixel_step);
      }
      for (std::int64_t part = 0; part < layout_.plane.parts; ++part) {
        stretch.first = window.axes[2].start + part * window.axes[2].part_move;
        for_each_position(window.axes[0], [&](std::int64_t slice) {
          for_each_position(window.axes[1], [&](std::int64_t row) {
            const bool is_inside =
                !has_windows || (slice >= 0 && slice < axes[0].input && row >= 0 && row < axes[1].input);
            if (is_inside) {
              const std::int64_t offset = has_windows ? slice * axes[0].input_step + row * axes[1].input_step : 0;
              for (std::int64_t i = 0; i < kQuad; ++i) {
                stretch.channels[i] = channels[i] + offset;
              }
              stretch.to = to;
              kernels_.copy(stretch);
            } else {
              std::fill_n(to, stretch.length, outside);
            }
            to += stretch.length;
          });
        });
      }
    }
  }
  template <class Use>
  static void for_each_position(const WindowPlane::Axis& axis, Use use) {
    for (std::int64_t part = 0; part < axis.parts; ++part) {
      for (std::int64_t i = 0; i < axis.length; ++i) {
        use(axis.start + part * axis.part_move + i * axis.coordinate_step);
      }
    }
  }

  // Adds the bytes of the block's channels, for each element of the plane.
  void add_plane_sums(const Tile& tile, std::int64_t first, std::int64_t count) const {
    constexpr std::int64_t kTogether = 64;
    const std::int64_t columns = QuadLines::whole(layout_.plane.elements());
    u8 ones[kTogether * kQuad];
    std::int64_t offsets[kTogether];
    for (std::int64_t done = 0; done < count; done += kTogether) {
      const std::int64_t terms = std::min(kTogether, count - done);
      for (std::int64_t i = 0; i < terms; ++i) {
        offsets[i] = (done + i) * layout_.plane.elements() * kQuad;
        for (std::int64_t channel = 0; channel < kQuad; ++channel) {
          ones[i * kQuad + channel] = (first + done + i) * kQuad + channel < convolution_.channels ? 1 : 0;
        }
      }
      QuadBlock block{};
      block.weights = ones;
      block.from = at<u8>(tile, layout_.copied);
      block.offsets = offsets;
      block.terms = terms;
      block.columns = columns;
      block.is_first = first + done == 0;
      block.totals = at<u32>(tile, layout_.plane_sums);
      kernels_.block[static_cast<std::size_t>(QuadFinish::totals)][0](block);
    }
  }

  // Adds the sums of the elements that the taps read, for each column.
  void add_column_sums(const Tile& tile, const QuadLines& lines) const {
    const u32* const sums = at<u32>(tile, layout_.plane_sums);
    const std::int64_t taps = convolution_.taps();
    for_each_line(tile, lines, [&](std::int64_t from, std::int64_t to) {
      u32* const column_sums = at<u32>(tile, layout_.column_sums) + to;
      std::fill_n(column_sums, lines.length, 0U);
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const u32* const elements = sums + from + layout_.offsets[static_cast<std::size_t>(tap)] / kQuad;
        for (std::int64_t i = 0; i < lines.length; ++i) {
          column_sums[i] += elements[i];
        }
      }
    });
  }

  // Calls use(from, to) for each line: the offsets of its first column in the plane and in the results.
  template <class Use>
  void for_each_line(const Tile& tile, const QuadLines& lines, Use use) const {
    for (std::int64_t i = 0; i < tile.count[0]; ++i) {
      for (std::int64_t j = 0; j < lines.count; ++j) {
        use((i * layout_.plane.rows + j) * layout_.plane.length, (i * tile.count[1] + j) * lines.step);
      }
    }
  }

  void multiply(const Tile& tile, const QuadLines& lines, std::int64_t first, std::int64_t count) const {
    const std::int64_t depth = quad_depth(convolution_);
    const std::int64_t taps = convolution_.taps();
    const bool is_last = first + count == quads_of(convolution_);
    const bool is_quantized = step_.finish == IntegerFinish::quantized && tile.is_finite;
    const QuadFinish finish = !is_last ? QuadFinish::totals : is_quantized ? QuadFinish::bytes : QuadFinish::int32;
    const auto zero = static_cast<f32>(tile.zero);
    const std::int64_t bytes = is_quantized ? 1 : kWord;
    std::byte* results = is_quantized ? at<std::byte>(tile, layout_.results) : at<std::byte>(tile, layout_.totals);
    QuadBlock block{};
    block.offsets = layout_.offsets.data();
    block.terms = count * taps;
    block.is_first = first == 0;
    block.totals_step = layout_.totals_step;
    block.lowest = (step_.signed_output != 0 ? -128.0F : 0.0F) - zero;
    block.highest = (step_.signed_output != 0 ? 127.0F : 255.0F) - zero;
    block.zero = tile.zero;
    block.to_step = layout_.totals_step * bytes;
    if (is_last && is_direct(tile)) {
      results = output_of(tile, 0) + pixel_of(tile) * bytes;
      block.to_step = convolution_.output_channel;
    }
    const u8* const weights = filter_of_group(tile) + tile.row * depth;
    const auto multiply_part = [&](std::int64_t row, std::int64_t from, std::int64_t to, std::int64_t columns,
                                   std::int64_t stored) {
      const std::int64_t rows = std::min(layout_.strip, tile.rows - row);
      block.weights = weights + row * depth + first * taps * rows * kQuad;
      block.from = at<u8>(tile, layout_.copied) + from * kQuad;
      block.columns = columns;
      block.stored = stored;
      block.totals = at<u32>(tile, layout_.totals) + row * layout_.totals_step + to;
      block.plus = at<u32>(tile, layout_.row_plus) + row;
      block.zeros = at<u32>(tile, layout_.row_zeros) + row;
      block.column_sums = tile.has_zeros ? at<u32>(tile, layout_.column_sums) + to : nullptr;
      block.factors = at<f32>(tile, layout_.factors) + row;
      block.to = results + row * block.to_step + to * bytes;
      kernels_.block[static_cast<std::size_t>(finish)][rows - 1](block);
    };
    // Without windows, the columns after the last pixel are not stored, because the results may be the output itself.
    const std::int64_t stored = step_.has_windows != 0 ? lines.length : tile.count[2];
    if (tile.rows * depth > kManyWeights || count * layout_.plane.elements() <= kFewQuads) {
      for (std::int64_t row = 0; row < tile.rows; row += layout_.strip) {
        for_each_line(tile, lines,
                      [&](std::int64_t from, std::int64_t to) { multiply_part(row, from, to, lines.length, stored); });
      }
      return;
    }
    for_each_line(tile, lines, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t column = 0; column < lines.length; column += kernels_.panel) {
        for (std::int64_t row = 0; row < tile.rows; row += layout_.strip) {
          multiply_part(row, from + column, to + column, std::min(kernels_.panel, lines.length - column),
                        stored - column);
        }
      }
    });
  }

  [[nodiscard]] std::int64_t pixel_of(const Tile& tile) const {  // the number of the box's first pixel
    const WindowAxis* const axes = convolution_.windows.axes;
    return (tile.box.first[0] * axes[1].output + tile.box.first[1]) * axes[2].output + tile.box.first[2];
  }
  [[nodiscard]] std::byte* output_of(const Tile& tile, std::int64_t row) const {
    return operand(tile, IntegerOperand::output) + tile.image * convolution_.output_image +
           (first_channel(tile) + row) * convolution_.output_channel;
  }
  // Whether the kernels store the outputs of this tile.
  [[nodiscard]] bool is_direct(const Tile& tile) const { return has_packed_pixels_ && tile.is_finite; }

  // The results of a row: computed by the kernels, or from INT32 totals if a factor is not finite.
  [[nodiscard]] std::byte* results_of(const Tile& tile, std::int64_t row) const {
    u32* const totals = at<u32>(tile, layout_.totals) + row * layout_.totals_step;
    if (step_.finish != IntegerFinish::quantized) {
      return reinterpret_cast<std::byte*>(totals);
    }
    std::byte* const to = at<std::byte>(tile, layout_.results) + row * layout_.totals_step;
    if (!tile.is_finite) {
      const f32 factor = at<f32>(tile, layout_.factors)[row];
      for (std::int64_t i = 0; i < layout_.totals_step; ++i) {
        const IntegerRow one{.totals = totals + i,
                             .column_sums = nullptr,
                             .column_zeros = nullptr,
                             .zero = 0,
                             .rest = 0,
                             .plus = 0,
                             .factors = &factor,
                             .zeros = &tile.zero,
                             .count = 1};
        (step_.signed_output != 0 ? rows_.to_int8 : rows_.to_uint8)(one, to + i);
      }
    }
    return to;
  }

  void finish(const Tile& tile, const QuadLines& lines) const {
    if (is_direct(tile)) {
      return;
    }
    const std::int64_t bytes = layout_.result;
    const std::int64_t length = tile.count[2];
    const std::int64_t lines_of_box = tile.count[0] * tile.count[1];
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      std::byte* const results = results_of(tile, i);
      if (after_.step != nullptr) {
        for (std::int64_t line = 1; lines.step != length && line < lines_of_box; ++line) {
          std::memmove(results + line * length * bytes, results + line * lines.step * bytes,
                       static_cast<std::size_t>(length * bytes));
        }
        continue;
      }
      store(tile, results, step_.has_windows != 0 ? lines.step : tile.box.count[2], output_of(tile, i));
    }
    if (after_.step != nullptr) {
      after_.run({.first = (tile.image * convolution_.groups * convolution_.rows + first_channel(tile)) *
                               convolution_.pixels() +
                           pixel_of(tile),
                  .rows = tile.rows,
                  .columns = tile.box.outputs(),
                  .row_step = convolution_.pixels(),
                  .buffer_row_step = layout_.totals_step * kWord},
                 at<std::byte>(tile, layout_.totals), tile.operands);
    }
  }

  // Copies the results of a row of the product, whose rows of pixels are `step` elements apart.
  void store(const Tile& tile, const std::byte* results, std::int64_t step, std::byte* to) const {
    const std::int64_t bytes = layout_.result;
    const WindowAxis* const axes = convolution_.windows.axes;
    const WindowTile& box = tile.box;
    const std::int64_t apart = box.count[2] == 1 ? bytes : axes[2].output_step;
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      to += box.first[i] * axes[i].output_step;
    }
    for (std::int64_t i = 0; i < box.count[0]; ++i) {
      for (std::int64_t j = 0; j < box.count[1]; ++j, results += step * bytes) {
        std::byte* const row = to + i * axes[0].output_step + j * axes[1].output_step;
        if (apart == bytes) {
          copy_row(results, box.count[2] * bytes, row);
          continue;
        }
        for (std::int64_t k = 0; k < box.count[2]; ++k) {
          std::memcpy(row + k * apart, results + k * bytes, static_cast<std::size_t>(bytes));
        }
      }
    }
  }

  IntegerConvolutionStep step_;
  const ConvolutionStep& convolution_;
  WindowClasses classes_;  // these convolutions have only one class of outputs
  const QuadKernels& kernels_;
  const IntegerRows& rows_;
  QuadLayout layout_;
  cpu::Neighbor after_;
  std::int64_t tiles_of_piece_;
  bool has_packed_pixels_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_quad_convolution(const IntegerConvolutionStep& step,
                                                            const IntegerKernels& kernels,
                                                            const cpu::StepContext& context, cpu::Neighbor& after) {
  const ConvolutionStep& convolution = step.convolution;
  if (kernels.quads == nullptr || convolution.rows <= kMaxLines || convolution.channels < kMinQuadChannels ||
      convolution.taps() > kMaxQuadTaps ||
      kernels.fills_tiles(convolution.rows, convolution.channels * convolution.taps())) {
    return nullptr;
  }
  const QuadKernels& quads = *kernels.quads;
  if (convolution.kind == ProductKind::integer_filter) {
    return prepare_quad_filter(step, quads);
  }
  const ConvolutionTiles tiles = cut(convolution,
                                     {.strip = strip_of(convolution, quads),
                                      .panel = quads.panel,
                                      .block = step.has_windows != 0 ? convolution.channels * convolution.taps() : 0,
                                      .by_lines = false,
                                      .skips = false,
                                      .min_work = kMinWork},
                                     1, context.threads);
  QuadLayout layout(step, quads, tiles);
  const std::int64_t of_piece = tiles_of_piece(convolution, tiles, 1, kMinWork, context.threads);
  return std::make_unique<QuadRun>(step, quads, std::move(layout), of_piece, context, std::move(after));
}

}  // namespace anydml
