// SPDX-License-Identifier: MIT
// Convolutions on the CPU. A piece consists of several tiles. A tile covers some output channels of a group and a box
// of pixels in an image. For each block, the part of the image that a tile needs is copied with its padding, and its
// windows are packed panel by panel for the strips of the filter. If few channels share the windows, the kernels read
// the copy directly.
//
// Two kinds of work are avoided. Outputs of classes without taps are filled in an earlier phase. If many taps of a tile
// touch only padding and the filter is finite, these taps are not multiplied, since adding a zero product changes a sum
// only if the sum is -0. An output that turns out to be -0 is therefore recomputed directly from the definition. This
// is rare, because a sum that starts from +0 becomes -0 only through underflow.
#include "ops/product/cpu/convolution.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/float_bits.h"
#include "ops/product/cpu/boxes.h"
#include "ops/product/cpu/load.h"
#include "ops/product/cpu/pack.h"
#include "ops/product/cpu/tile.h"
#include "ops/product/cpu/windows.h"
#include "ops/product/operands.h"
#include "ops/product/step.h"

namespace anydml {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
using namespace convolution_operands;

// Whether the kernels read the copied part of the image directly.
bool by_lines(const ConvolutionStep& step) { return step.rows <= kLineRows; }

// Whether tiles may leave out taps. Tiles that leave out taps are cut differently, so they cannot be passed to a
// following step, which needs tiles with consecutive pixels.
bool skips_taps(const ConvolutionStep& step, const ProductKernels* kernels, bool is_forwarded) {
  return kernels != nullptr && !is_forwarded && step.taps() >= kManyTaps && has_many_in_padding(step);
}

// The scratch memory of a thread. Offsets are in bytes.
struct ConvolutionBuffers {
  std::int64_t row_step;  // between rows of the totals, in elements
  std::int64_t totals;
  std::int64_t offsets;
  std::int64_t copied;
  std::int64_t copied_elements;
  std::int64_t panel;
  std::int64_t strips;  // the factors of a block's kept taps, if some taps are left out
  std::int64_t all;

  ConvolutionBuffers(const ConvolutionStep& step, const ProductKernels* kernels, const ConvolutionTiles& tiles,
                     bool skips) {
    constexpr std::int64_t kAlignment = 64;
    const std::int64_t width = kernels != nullptr ? kernels->panel : 1;
    const auto aligned = [](std::int64_t elements) { return ceil_div(elements * kBytes, kAlignment) * kAlignment; };
    row_step = totals_row(tiles, by_lines(step), width);
    totals = 0;
    offsets = aligned(tiles.rows * row_step);
    copied = offsets;
    copied_elements = 0;
    panel = offsets;
    strips = offsets;
    all = offsets;
    if (kernels != nullptr) {
      copied += kProductBlock * static_cast<std::int64_t>(sizeof(std::int64_t));
      copied_elements = std::max(anydml::copied_elements(step, tiles, kProductBlock), skips ? kMaxCopied : 0);
      panel = copied + aligned(copied_elements + 2 * width);
      strips = panel + aligned(kProductBlock * width + width);
      all = strips + (skips ? aligned(tiles.rows * kProductBlock) : 0);
    }
  }
};

// The strips of a tile, reduced to the factors of the kept taps, one block at a time.
struct KeptStrips {
  static constexpr bool kAreFar = false;

  const PackedStrips& all;
  const MetTaps& taps;
  std::int64_t rows;  // of the tile
  std::int64_t of_strip;
  f32* packed;

  void begin(std::int64_t first, std::int64_t depth) const {
    for (std::int64_t row = 0; row < rows; row += of_strip) {
      const std::int64_t width = std::min(of_strip, rows - row);
      f32* to = packed + row * depth;
      for (std::int64_t kept = first; kept < first + depth;) {
        const std::int64_t count = std::min(first + depth - kept, taps.count[2] - kept % taps.count[2]);
        std::memcpy(to, all.strip(row, width, taps.k_of(kept), 0), static_cast<std::size_t>(count * width * kBytes));
        to += count * width;
        kept += count;
      }
    }
  }
  [[nodiscard]] const f32* strip(std::int64_t row, std::int64_t, std::int64_t, std::int64_t depth) const {
    return packed + row * depth;
  }
};

class ConvolutionRun final : public cpu::PreparedStep {
 public:
  ConvolutionRun(const ConvolutionStep& step, TapClasses classes, const ProductKernels* kernels, bool has_bias,
                 const ConvolutionTiles& tiles, std::int64_t tiles_of_piece, const cpu::StepContext& context,
                 cpu::Neighbor after, bool skips)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(all_tiles(step, tiles, classes.count()), tiles_of_piece)),
                     classes.count() == all_window_classes(step.windows) ? 1 : 2,
                     static_cast<std::size_t>(ConvolutionBuffers(step, kernels, tiles, skips).all)),
        step_(step),
        kernels_(kernels),
        lines_(product_lines(context.target)),
        tiles_(tiles),
        buffers_(step, kernels, tiles, skips),
        after_(std::move(after)),
        classes_(std::move(classes)),
        class_count_(classes_.count()),
        tiles_of_piece_(tiles_of_piece),
        target_(context.target),
        has_bias_(has_bias),
        skips_(skips) {}

  [[nodiscard]] std::uint64_t pieces_in(std::uint32_t phase) const noexcept override {
    return phases() == 2 && phase == 0 ? static_cast<std::uint64_t>(ceil_div(all_lines(), lines_of_piece())) : pieces();
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    if (phases() == 2 && piece.phase == 0) {
      fill(static_cast<std::int64_t>(piece.number), operands);
      return;
    }
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * tiles_of_piece_;
    const std::int64_t end = std::min(first + tiles_of_piece_, all_tiles(step_, tiles_, class_count_));
    TileState state;  // most of its fields are used only for some tiles
    for (std::int64_t number = first; number < end; ++number) {
      move_to(number, number == first, operands, state);
      if (state.box.outputs() == 0) {
        continue;  // this class has no outputs here, although other classes do
      }
      auto* const totals = reinterpret_cast<f32*>(piece.scratch);
      if (kernels_ == nullptr || state.depth == 0) {
        compute_by_definition(state, operands, totals);
      } else {
        compute(state, operands, piece.scratch);
      }
      finish(state, operands, totals);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "convolution, tiles of %lld x %lld, %s, %s kernel",
                  static_cast<long long>(tiles_.rows), static_cast<long long>(tiles_.columns()),
                  by_lines(step_) ? "by lines" : "by panels",
                  cpu::target_name(kernels_ != nullptr ? target_ : cpu::Target::generic));
  }

 private:
  struct TileState {
    std::int64_t image;
    std::int64_t group;
    WindowClasses classes;
    WindowTile box;
    std::int64_t row;
    std::int64_t rows;
    std::int64_t depth;
    std::int64_t pixels;    // index of the box and its class
    MetTaps met;            // if skips_
    bool is_skipping;       // taps that touch only padding are left out
    WindowClasses kept;     // the classes with the remaining taps
    WindowPlane plane;      // of the remaining taps
    WindowBlock block;      // the copied block
    bool has_same_windows;  // same windows as the previous tile: its elements are already copied and packed
    bool is_like_last;      // same pixels as the previous tile
  };
  // The classes of a box of pixels are consecutive, since they share the lines of the output.
  void move_to(std::int64_t number, bool is_first, std::byte* const* operands, TileState& state) const {
    const std::int64_t pixels = number % (tiles_.boxes() * class_count_);
    number /= tiles_.boxes() * class_count_;
    state.row = number % tiles_.down * tiles_.rows;
    number /= tiles_.down;
    const bool has_same_matrix =
        !is_first && state.image == number / step_.groups && state.group == number % step_.groups;
    state.group = number % step_.groups;
    state.image = number / step_.groups;
    state.rows = std::min(tiles_.rows, step_.rows - state.row);
    state.is_like_last = !is_first && !skips_ && pixels == state.pixels;
    state.has_same_windows = false;
    if (state.is_like_last) {
      return;
    }
    const bool has_same_box = has_same_matrix && pixels / class_count_ == state.pixels / class_count_;
    const WindowClasses classes = classes_.of(pixels % class_count_);
    const bool has_same_geometry = has_same_box && meet_the_same(state.classes, classes);
    state.pixels = pixels;
    state.classes = classes;
    if (has_same_geometry && !skips_ && state.depth <= kProductBlock) {
      state.has_same_windows = state.box.outputs() <= panel_columns() || by_lines(step_);
      return;  // the box, the depth and the plane do not change
    }
    state.box = box_of(tiles_, state.classes, pixels / class_count_);
    state.depth = step_.channels * state.classes.taps();
    if (kernels_ != nullptr && state.depth != 0 && state.box.outputs() != 0) {
      state.kept = state.classes;
      state.is_skipping = skips_ && leaves_out_taps(state, operands);
      state.plane = window_plane(state.kept, state.box);
    }
  }

  // Whether the outputs of two classes use the same input elements. This is often the case for consecutive classes if
  // the stride is large.
  [[nodiscard]] static bool meet_the_same(const WindowClasses& one, const WindowClasses& other) {
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      const WindowClass& a = one.axes[i];
      const WindowClass& b = other.axes[i];
      if (a.outputs != b.outputs || a.first != b.first || a.taps.count != b.taps.count || a.tap_move != b.tap_move) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] std::int64_t panel_columns() const { return kernels_ != nullptr ? kernels_->panel : 0; }

  // Finds the taps that the tile needs. Returns false if it needs all of them, or too many for skipping to be
  // worthwhile.
  bool leaves_out_taps(TileState& state, std::byte* const* operands) const {
    state.met = MetTaps(step_.windows, state.classes, state.box);
    if (2 * state.met.taps() > state.met.all() || !has_finite_rows(state, operands)) {
      return false;
    }
    const WindowClasses kept = state.met.restrict_classes(state.classes);
    const std::int64_t channels = channels_of_block(step_, state.met.all(), kProductBlock);
    if (state.met.taps() != 0 &&
        window_block_elements(kept, state.box, channels, kProductBlock) > buffers_.copied_elements) {
      return false;
    }
    state.kept = kept;
    return true;
  }

  // ---- Outputs without taps ----

  [[nodiscard]] std::int64_t all_lines() const {
    return step_.images * step_.groups * step_.rows * step_.windows.axes[0].output * step_.windows.axes[1].output;
  }
  [[nodiscard]] std::int64_t lines_of_piece() const {
    constexpr std::int64_t kOutputsOfPiece = 1 << 16;
    return std::max<std::int64_t>(1, kOutputsOfPiece / std::max<std::int64_t>(1, step_.windows.axes[2].output));
  }

  // Fills some lines of the output. Outputs that have taps are overwritten in the next phase.
  void fill(std::int64_t piece, std::byte* const* operands) const {
    const WindowAxis* const axes = step_.windows.axes;
    const std::int64_t end = std::min(all_lines(), (piece + 1) * lines_of_piece());
    for (std::int64_t line = piece * lines_of_piece(); line < end; ++line) {
      const std::int64_t row = line % axes[1].output;
      const std::int64_t slice = line / axes[1].output % axes[0].output;
      const std::int64_t plane = line / axes[1].output / axes[0].output;
      const std::int64_t channel = plane % (step_.groups * step_.rows);
      constexpr std::int64_t kTogether = 256;
      constexpr ProductScale kScale{.alpha = 1, .beta = 1};
      const f32 value =
          has_bias_ ? kScale(0.0F, load<f32>(operands[kBias] + channel * step_.bias_channel)) : kScale(0.0F);
      std::byte* to = operands[kOutput] + plane / (step_.groups * step_.rows) * step_.output_image +
                      channel * step_.output_channel + slice * axes[0].output_step + row * axes[1].output_step;
      if (axes[2].output_step == kBytes) {
        f32 some[kTogether];
        std::fill_n(some, kTogether, value);
        for (std::int64_t i = 0; i < axes[2].output; i += kTogether) {
          std::memcpy(to + i * kBytes, some,
                      static_cast<std::size_t>(std::min(kTogether, axes[2].output - i) * kBytes));
        }
        continue;
      }
      for (std::int64_t i = 0; i < axes[2].output; ++i, to += axes[2].output_step) {
        std::memcpy(to, &value, sizeof(value));
      }
    }
  }

  // ---- Outputs with taps ----

  [[nodiscard]] const std::byte* channel(const TileState& state, std::byte* const* operands,
                                         std::int64_t number) const {
    return operands[kInput] + state.image * step_.input_image +
           (state.group * step_.channels + number) * step_.input_channel;
  }

  // The packed filter for the group and class of the tile.
  [[nodiscard]] const f32* filter_of(const TileState& state, std::byte* const* operands) const {
    const WindowClass* const axes = state.classes.axes;
    const std::int64_t before =
        state.group * step_.taps() + taps_before(step_.windows, axes[0].taps, axes[1].taps, axes[2].taps);
    return reinterpret_cast<const f32*>(operands[kFilter]) + before * step_.rows * step_.channels;
  }

  // Whether all factors of the tile's rows are finite.
  [[nodiscard]] bool has_finite_rows(const TileState& state, std::byte* const* operands) const {
    const std::int64_t strips = ceil_div(step_.rows, step_.strip);
    const f32* const flags = reinterpret_cast<const f32*>(operands[kFilter]) +
                             step_.groups * step_.rows * step_.channels * step_.taps() + state.group * strips;
    return std::all_of(flags + state.row / step_.strip, flags + ceil_div(state.row + state.rows, step_.strip),
                       [](f32 flag) { return flag == 0; });
  }

  void compute_by_definition(const TileState& state, std::byte* const* operands, f32* totals) const {
    for (std::int64_t row = 0; row < state.rows; ++row) {
      for (std::int64_t pixel = 0; pixel < state.box.outputs(); ++pixel) {
        totals[row * buffers_.row_step + pixel] = output_by_definition(state, operands, row, pixel);
      }
    }
  }

  [[nodiscard]] f32 output_by_definition(const TileState& state, std::byte* const* operands, std::int64_t row,
                                         std::int64_t pixel) const {
    const WindowClass* const axes = state.classes.axes;
    const std::int64_t taps = state.classes.taps();
    const auto tap_along = [&](std::int64_t tap, std::uint32_t axis) {
      return axis == 0   ? tap / (axes[1].taps.count * axes[2].taps.count)
             : axis == 1 ? tap / axes[2].taps.count % axes[1].taps.count
                         : tap % axes[2].taps.count;
    };
    const std::byte* const filter =
        operands[kFilter] + state.group * step_.filter_group + (state.row + row) * step_.filter_row;
    const auto weight = [&](std::int64_t k) {
      if (step_.strip != 0) {
        return packed_factor(filter_of(state, operands), step_.rows, step_.strip, state.depth, state.row + row, k);
      }
      const std::byte* at = filter + k / taps * step_.filter_channel;
      for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
        const WindowTaps& along = axes[i].taps;
        at += (along.first + tap_along(k % taps, i) * along.step) * step_.windows.axes[i].filter_step;
      }
      return load<f32>(at);
    };
    const std::int64_t outputs[] = {state.box.first[0] + pixel / (state.box.count[1] * state.box.count[2]),
                                    state.box.first[1] + pixel / state.box.count[2] % state.box.count[1],
                                    state.box.first[2] + pixel % state.box.count[2]};
    const auto element = [&](std::int64_t k) {
      const std::byte* at = channel(state, operands, k / taps);
      for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
        const std::int64_t there =
            axes[i].first + outputs[i] * axes[i].output_move + tap_along(k % taps, i) * axes[i].tap_move;
        if (there < 0 || there >= step_.windows.axes[i].input) {
          return 0.0F;
        }
        at += there * step_.windows.axes[i].input_step;
      }
      return load<f32>(at);
    };
    return sum_of_products(state.depth, element, weight);
  }

  // The windows of a tile, one block after another.
  struct WindowColumns {
    const ConvolutionRun& run;
    TileState& state;
    std::byte* const* operands;
    std::int64_t* offsets;
    std::byte* copied;
    f32* packed;

    // Indices count only the kept taps.
    void begin(std::int64_t first, std::int64_t depth) const {
      if (state.has_same_windows) {
        return;
      }
      constexpr f32 kPadding = 0;
      WindowBlock& block = state.block;
      find_block(state.kept, state.plane, state.box, first, depth, kProductBlock, block);
      copy_block(run.step_.windows, block, run.channel(state, operands, 0), run.step_.input_channel, sizeof(f32),
                 &kPadding, copied);
      if (depth != state.depth || !state.is_like_last) {
        tap_offsets(block, offsets);
      }
    }
    [[nodiscard]] Panel panel(std::int64_t column, std::int64_t, std::int64_t depth) const {
      const std::int64_t width = run.kernels_->panel;
      if (!state.has_same_windows) {
        pack_windows(state.block.plane(), state.box, copied, offsets, depth, column, width, sizeof(f32),
                     reinterpret_cast<std::byte*>(packed));
      }
      return {.first = packed, .step = width};
    }
  };

  void compute(TileState& state, std::byte* const* operands, std::byte* scratch) const {
    PackedStrips a{.first = filter_of(state, operands) + state.row * state.depth, .depth = state.depth};
    const WindowColumns b{.run = *this,
                          .state = state,
                          .operands = operands,
                          .offsets = reinterpret_cast<std::int64_t*>(scratch + buffers_.offsets),
                          .copied = scratch + buffers_.copied,
                          .packed = reinterpret_cast<f32*>(scratch + buffers_.panel)};
    const TileTotals tile{.first = reinterpret_cast<f32*>(scratch + buffers_.totals),
                          .row_step = buffers_.row_step,
                          .rows = state.rows,
                          .columns = state.box.outputs()};
    if (!state.is_skipping) {
      add_blocks(state, a, b, tile);
      return;
    }
    KeptStrips kept{.all = a,
                    .taps = state.met,
                    .rows = state.rows,
                    .of_strip = kernels_->strip,
                    .packed = reinterpret_cast<f32*>(scratch + buffers_.strips)};
    add_blocks(state, kept, b, tile);
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      f32* const totals = tile.first + row * tile.row_step;
      for (std::int64_t pixel = 0; pixel < tile.columns; ++pixel) {
        if (to_bits(totals[pixel]) == to_bits(-0.0F)) {
          totals[pixel] = output_by_definition(state, operands, row, pixel);
        }
      }
    }
  }

  // The end of the block that begins with this factor. Factors that are left out count toward the length of a block.
  [[nodiscard]] static std::int64_t end_of_block(const TileState& state, std::int64_t first) {
    if (!state.is_skipping) {
      return std::min(first + kProductBlock, state.depth);
    }
    const std::int64_t next = (state.met.k_of(first) / kProductBlock + 1) * kProductBlock;
    return state.met.before(std::min(next, state.depth));
  }

  // Adds block by block, in the order that numerics.md defines. Blocks whose factors are all left out are skipped,
  // since they would add only +0.
  template <class Rows>
  void add_blocks(const TileState& state, Rows& a, const WindowColumns& b, const TileTotals& tile) const {
    const std::int64_t all = step_.channels * state.kept.taps();
    for (std::int64_t row = 0; row < tile.rows && all == 0; ++row) {
      std::fill_n(tile.first + row * tile.row_step, tile.columns, 0.0F);
    }
    for (std::int64_t first = 0; first < all;) {
      const std::int64_t end = end_of_block(state, first);
      a.begin(first, end - first);
      b.begin(first, end - first);
      if (by_lines(step_)) {
        add_lines(state, a.strip(0, tile.rows, first, end - first), b, tile, first, end - first);
      } else {
        for (std::int64_t column = 0; column < tile.columns; column += kernels_->panel) {
          const Panel panel = b.panel(column, first, end - first);
          add_panel(*kernels_, a, panel, tile.columns - column, column == 0, first, end - first, tile.rows,
                    tile.first + column, tile.row_step);
        }
      }
      first = end;
    }
    if (by_lines(step_) && all != 0) {
      const BoxLines lines(state.plane, state.box);
      for (std::int64_t row = 0; row < tile.rows; ++row) {
        lines.close_up(state.box, tile.first + row * tile.row_step);
      }
    }
  }

  // Adds the products of one strip that has few rows.
  void add_lines(const TileState& state, const f32* strip, const WindowColumns& b, const TileTotals& tile,
                 std::int64_t first, std::int64_t depth) const {
    const BoxLines lines(state.plane, state.box);
    const auto* const copied = reinterpret_cast<const f32*>(b.copied);
    for (std::int64_t i = 0; i < state.box.count[0]; ++i) {
      for (std::int64_t j = 0; j < lines.count; ++j) {
        lines_[tile.rows - 1](strip, copied + state.block.plane().offset_of_row(i, j), b.offsets, depth,
                              tile.first + lines.offset_of(state.box, i, j), tile.row_step, lines.length, first == 0);
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
      const f32 value = bias == nullptr ? kScale(totals[i]) : kScale(totals[i], load<f32>(bias));
      std::memcpy(to + i * kBytes, &value, sizeof(value));
    }
  }

  void finish(const TileState& state, std::byte* const* operands, f32* totals) const {
    const bool is_forwarded = after_.step != nullptr;
    const std::int64_t columns = state.box.outputs();
    if (columns == 1 && !is_forwarded) {
      finish_one(state, operands, totals);
      return;
    }
    for (std::int64_t row = 0; row < state.rows; ++row) {
      f32* const row_totals = totals + row * buffers_.row_step;
      const std::int64_t channel = state.group * step_.rows + state.row + row;
      const std::byte* const bias = has_bias_ ? operands[kBias] + channel * step_.bias_channel : nullptr;
      if (is_forwarded) {
        scale_row(row_totals, bias, columns, reinterpret_cast<std::byte*>(row_totals));
      } else {
        write_row(state, row_totals, bias,
                  operands[kOutput] + state.image * step_.output_image + channel * step_.output_channel);
      }
    }
    if (is_forwarded) {
      const WindowAxis* const axes = step_.windows.axes;
      const std::int64_t pixel =
          (state.box.first[0] * axes[1].output + state.box.first[1]) * axes[2].output + state.box.first[2];
      after_.run(
          {.first = ((state.image * step_.groups + state.group) * step_.rows + state.row) * step_.pixels() + pixel,
           .rows = state.rows,
           .columns = columns,
           .row_step = step_.pixels(),
           .buffer_row_step = buffers_.row_step * kBytes},
          reinterpret_cast<std::byte*>(totals), operands);
    }
  }

  // Writes the outputs of a box with a single pixel. There are many such boxes if the stride is large.
  void finish_one(const TileState& state, std::byte* const* operands, const f32* totals) const {
    constexpr ProductScale kScale{.alpha = 1, .beta = 1};
    const std::int64_t channel = state.group * step_.rows + state.row;
    std::byte* to = operands[kOutput] + state.image * step_.output_image + channel * step_.output_channel;
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      const WindowClass& along = state.classes.axes[i];
      to += (along.first_output + state.box.first[i] * along.output_stride) * step_.windows.axes[i].output_step;
    }
    const std::byte* bias = has_bias_ ? operands[kBias] + channel * step_.bias_channel : nullptr;
    for (std::int64_t row = 0; row < state.rows; ++row, to += step_.output_channel) {
      const f32 total = totals[row * buffers_.row_step];
      const f32 value = bias == nullptr ? kScale(total) : kScale(total, load<f32>(bias + row * step_.bias_channel));
      std::memcpy(to, &value, sizeof(value));
    }
  }

  // Writes the pixels of one channel; `to` is the address of the first pixel.
  void write_row(const TileState& state, f32* row_totals, const std::byte* bias, std::byte* to) const {
    for_each_run(step_, state.classes, state.box, kBytes,
                 [&](std::int64_t pixel, std::int64_t count, std::int64_t offset, std::int64_t step) {
                   f32* const totals = row_totals + pixel;
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
  cpu::Neighbor after_;
  TapClasses classes_;
  std::int64_t class_count_;
  std::int64_t tiles_of_piece_;
  cpu::Target target_;
  bool has_bias_;
  bool skips_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_convolution(const Step& flat, const ProductKernels* kernels,
                                                       const cpu::StepContext& context, cpu::Neighbor after) {
  ConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (after.step != nullptr && all_window_classes(step.windows) != 1) {
    return nullptr;  // tiles contain pixels of one class, but must be passed on as whole rows
  }
  if (step.strip == 0) {
    kernels = nullptr;  // the kernels require a packed filter
  } else if (kernels != nullptr && kernels->strip != step.strip) {
    return nullptr;
  }
  TapClasses classes(step.windows);
  const std::int64_t count = classes.count();
  const bool skips = skips_taps(step, kernels, after.step != nullptr);
  const ConvolutionTiles tiles = cut(step,
                                     {.strip = kernels != nullptr ? kernels->strip : 1,
                                      .panel = kernels != nullptr ? kernels->panel : 1,
                                      .block = kernels != nullptr ? kProductBlock : 0,
                                      .by_lines = by_lines(step),
                                      .skips = skips,
                                      .min_work = kMinWork},
                                     count, context.threads);
  return std::make_unique<ConvolutionRun>(step, std::move(classes), kernels, flat.operands[kBias].slot != kAbsentSlot,
                                          tiles, tiles_of_piece(step, tiles, count, kMinWork, context.threads), context,
                                          std::move(after), skips);
}

}  // namespace anydml
