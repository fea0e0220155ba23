// SPDX-License-Identifier: MIT
// Byte convolutions whose groups have one input channel and few output channels, with filters of one or two dimensions.
// For each tile, the rows of the image are copied in pairs (integer_pairs.h). A line of outputs is one row, or all rows
// that start at the same distance in the copy; the few elements between those rows are then computed too, and dropped.
// With a stride of 1, every other row starts in the middle of a pair, so two lines read the same pairs with different
// weights.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/product/cpu/boxes.h"
#include "ops/product/cpu/integer_convolution.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/cpu/integer_pairs.h"
#include "ops/product/cpu/load.h"
#include "ops/product/scalar/integer.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinWork = 400'000;  // minimum number of multiply-adds in a piece
constexpr std::size_t kAlignment = 64;
constexpr std::int64_t kMaxStride = 3;
constexpr std::int64_t kMaxDilation = 4;
constexpr std::int64_t kFewBytes = 32;
constexpr std::int64_t kShortRow = 16;  // joining rows of up to this length costs nothing

// Taps are numbered from 1. The weight of tap 0 is 0.
constexpr std::uint32_t kNoTap = 0;

// The output rows first + n + i * every, where n is the number of the line.
struct RowSet {
  std::int64_t lines;  // 1 or 2
  std::int64_t first;
  std::int64_t every;
  std::int64_t first_pair;  // of the first output row
  std::int64_t pair_move;   // between output rows
  // For each term: the pair of rows and the column that it reads, and for each line the taps of both rows, which may be
  // kNoTap.
  struct Term {
    std::int64_t pair;
    std::int64_t column;
    std::uint32_t taps[2][2];
  };
  std::vector<Term> terms;

  // The rows of the set among this many output rows.
  [[nodiscard]] std::int64_t count(std::int64_t rows) const {
    return ceil_div(std::max<std::int64_t>(0, rows - first), every);
  }
  [[nodiscard]] std::int64_t pairs(std::int64_t rows) const {
    return first_pair + (count(rows) - 1) * pair_move + (terms.empty() ? 0 : terms.back().pair) + 1;
  }
};

RowSet row_set(const WindowAxis& rows, const WindowAxis& columns, std::int64_t lines, std::int64_t first,
               std::int64_t every) {
  RowSet set{.lines = lines,
             .first = first,
             .every = every,
             .first_pair = first * rows.stride / 2,
             .pair_move = every * rows.stride / 2,
             .terms = {}};
  const std::int64_t reach = (rows.taps - 1) * rows.dilation;
  // The tap that reads this row of a line's window, or -1.
  const auto tap_row = [&](std::int64_t row) {
    return row >= 0 && row <= reach && row % rows.dilation == 0 ? row / rows.dilation : -1;
  };
  for (std::int64_t pair = 0; 2 * pair <= reach + 1; ++pair) {
    for (std::int64_t column = 0; column < columns.taps; ++column) {
      RowSet::Term term{.pair = pair, .column = column * columns.dilation, .taps = {}};
      bool is_needed = false;
      for (std::int64_t line = 0; line < lines; ++line) {
        for (std::int64_t half = 0; half < 2; ++half) {
          const std::int64_t row = tap_row(2 * pair + half - (first + line) * rows.stride % 2);
          term.taps[line][half] = row < 0 ? kNoTap : static_cast<std::uint32_t>(1 + row * columns.taps + column);
          is_needed = is_needed || row >= 0;
        }
      }
      if (is_needed) {
        set.terms.push_back(term);
      }
    }
  }
  return set;
}

std::vector<RowSet> row_sets(const ConvolutionStep& step) {
  const WindowAxis& rows = step.windows.axes[1];
  const WindowAxis& columns = step.windows.axes[2];
  if (rows.stride == 1) {
    return {row_set(rows, columns, 2, 0, 2)};
  }
  if (rows.stride % 2 == 0) {
    return {row_set(rows, columns, 1, 0, 1)};
  }
  return {row_set(rows, columns, 1, 0, 2), row_set(rows, columns, 1, 1, 2)};
}

class DepthwiseRun final : public cpu::PreparedStep {
 public:
  // The layout of the copy and of the scratch memory of a thread, in bytes.
  struct Layout {
    std::int64_t pairs = 0;    // of rows in the copy
    std::int64_t columns = 0;  // of the image in the copy
    std::int64_t row_step = 0;
    std::int64_t plane_step = 0;
    std::int64_t line = 0;  // elements of a line of outputs
    std::size_t outputs[2] = {};
    std::size_t weights = 0;
    std::size_t weight_pairs = 0;
    std::size_t forwarded = 0;  // outputs for the following step
    std::size_t bytes = 0;

    Layout(const ConvolutionStep& step, const ConvolutionTiles& tiles, const std::vector<RowSet>& sets,
           bool is_forwarded) {
      const WindowAxis& along = step.windows.axes[2];
      columns = (tiles.count[2] - 1) * along.stride + (along.taps - 1) * along.dilation + 1;
      row_step = ceil_div(columns, along.stride);
      std::int64_t rows = 0;
      std::size_t terms = 0;
      for (const RowSet& set : sets) {
        pairs = std::max(pairs, set.pairs(tiles.count[1]));
        rows = std::max(rows, set.count(tiles.count[1]));
        terms = std::max(terms, set.terms.size());
      }
      line = rows * row_step;
      const auto take = [this](std::int64_t size) {
        const std::size_t at = bytes;
        bytes += (static_cast<std::size_t>(size) + kAlignment - 1) / kAlignment * kAlignment;
        return at;
      };
      plane_step = pairs * row_step + kPairSlack;
      take(plane_step * along.stride * kWord);
      outputs[0] = take((line + kPairSlack) * kWord);
      outputs[1] = take((line + kPairSlack) * kWord);
      weights = take((step.taps() + 1) * static_cast<std::int64_t>(sizeof(u16)));
      weight_pairs = take(static_cast<std::int64_t>(2 * terms) * kWord);
      forwarded = take(is_forwarded ? tiles.columns() * kWord : 0);
    }
  };

  DepthwiseRun(const IntegerConvolutionStep& step, std::vector<RowSet> sets, const ConvolutionTiles& tiles,
               const Layout& layout, const cpu::StepContext& context, cpu::Neighbor after)
      : PreparedStep(static_cast<std::uint64_t>(
                         ceil_div(all_tiles(step.convolution, tiles, 1), tiles_in_piece(step, tiles, context.threads))),
                     1, layout.bytes),
        step_(step),
        convolution_(step_.convolution),
        classes_(window_classes_of(step.convolution.windows, 0)),
        kernels_(integer_pairs(context.target)),
        sets_(std::move(sets)),
        tiles_(tiles),
        layout_(layout),
        after_(std::move(after)),
        tiles_of_piece_(tiles_in_piece(step, tiles, context.threads)) {
    const std::int64_t stride = convolution_.windows.axes[2].stride;
    for (const RowSet& set : sets_) {
      std::vector<std::int64_t>& offsets = offsets_.emplace_back();
      for (const RowSet::Term& term : set.terms) {
        offsets.push_back(term.column % stride * layout_.plane_step + term.pair * layout_.row_step +
                          term.column / stride);
      }
    }
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * tiles_of_piece_;
    const std::int64_t end = std::min(first + tiles_of_piece_, all_tiles(convolution_, tiles_, 1));
    for (std::int64_t number = first; number < end; ++number) {
      const std::int64_t group = number / tiles_.boxes() % (convolution_.groups * tiles_.down);
      const Tile tile{.operands = operands,
                      .scratch = piece.scratch,
                      .image = number / tiles_.boxes() / (convolution_.groups * tiles_.down),
                      .group = group / tiles_.down,
                      .row = group % tiles_.down * tiles_.rows,
                      .box = box_of(tiles_, classes_, number % tiles_.boxes())};
      copy(tile);
      const std::int64_t rows = std::min(tiles_.rows, convolution_.rows - tile.row);
      for (std::int64_t row = tile.row; row < tile.row + rows; ++row) {
        compute(tile, row);
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "integer convolution, tiles of %lld x %lld, by pairs of rows",
                  static_cast<long long>(tiles_.rows), static_cast<long long>(tiles_.columns()));
  }

 private:
  struct Tile {
    std::byte* const* operands;
    std::byte* scratch;
    std::int64_t image;
    std::int64_t group;
    std::int64_t row;  // the first output channel of the group
    WindowTile box;
  };

  static std::int64_t tiles_in_piece(const IntegerConvolutionStep& step, const ConvolutionTiles& tiles,
                                     unsigned threads) {
    return tiles_of_piece(step.convolution, tiles, 1, kMinWork, threads);
  }
  [[nodiscard]] static std::byte* operand(const Tile& tile, IntegerOperand which) {
    return tile.operands[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::int64_t bytes_of_output() const { return step_.finish == IntegerFinish::quantized ? 1 : kWord; }

  void copy(const Tile& tile) const {
    const bool is_signed = step_.signed_input != 0;
    const WindowAxis& down = convolution_.windows.axes[1];
    const WindowAxis& along = convolution_.windows.axes[2];
    const std::byte* const zero = operand(tile, IntegerOperand::b_zero);
    (is_signed ? kernels_.copy_signed : kernels_.copy_unsigned)(
        {.from = operand(tile, IntegerOperand::b) + tile.image * convolution_.input_image +
                 tile.group * convolution_.input_channel,
         .row_distance = down.input_step,
         .image_rows = down.input,
         .image_columns = along.input,
         .first_row = tile.box.first[1] * down.stride - down.padding,
         .first_column = tile.box.first[2] * along.stride - along.padding,
         .pairs = layout_.pairs,
         .columns = layout_.columns,
         .stride = along.stride,
         .row_step = layout_.row_step,
         .plane_step = layout_.plane_step,
         .zero = zero == nullptr ? 0 : byte_at(zero, is_signed),
         .to = reinterpret_cast<u32*>(tile.scratch)});
  }

  // The weights of an output channel, without their zero point.
  void widen_filter(const Tile& tile, std::int64_t row, u16* weights) const {
    const std::int64_t taps = convolution_.taps();
    const bool is_signed = step_.signed_filter != 0;
    const auto* const filter = operand(tile, IntegerOperand::a) +
                               tile.group * integer_filter_bytes(convolution_.rows, 1, taps) + row * padded_depth(taps);
    const std::byte* const zeros = operand(tile, IntegerOperand::a_zero);
    const std::int64_t channel = tile.group * convolution_.rows + row;
    const i32 zero = zeros == nullptr ? 0 : byte_at(zeros + channel * step_.filter_zero, is_signed);
    weights[kNoTap] = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      weights[tap + 1] = static_cast<u16>(byte_at(filter + tap, is_signed) - zero);
    }
  }

  // Pairs the weights for a set of rows.
  static void pair_weights(const RowSet& set, const u16* weights, u32* to) {
    for (const RowSet::Term& term : set.terms) {
      for (std::int64_t line = 0; line < set.lines; ++line) {
        *to++ = u32{weights[term.taps[line][0]]} | u32{weights[term.taps[line][1]]} << 16;
      }
    }
  }

  void compute(const Tile& tile, std::int64_t row) const {
    const std::int64_t channel = tile.group * convolution_.rows + row;
    const std::byte* const bias = operand(tile, IntegerOperand::bias);
    const bool is_quantized = step_.finish == IntegerFinish::quantized;
    const std::int64_t bytes = bytes_of_output();
    auto* const weights = reinterpret_cast<u16*>(tile.scratch + layout_.weights);
    auto* const pairs = reinterpret_cast<u32*>(tile.scratch + layout_.weight_pairs);
    widen_filter(tile, row, weights);
    PairedLine line{.from = nullptr,
                    .offsets = nullptr,
                    .weights = pairs,
                    .terms = 0,
                    .count = 0,
                    .plus = bias == nullptr ? 0 : load<u32>(bias + channel * convolution_.bias_channel),
                    .factor = 0,
                    .zero = 0,
                    .to = {}};
    PairedOutput output = PairedOutput::int32;
    if (is_quantized) {
      set_scales(tile, channel, line);
      output = step_.signed_output != 0 ? PairedOutput::int8 : PairedOutput::uint8;
    }
    const auto add_lines = kernels_.add_lines[static_cast<std::size_t>(output)];
    const WindowTile& box = tile.box;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      const RowSet& set = sets_[i];
      const std::int64_t rows = set.count(box.count[1]);
      if (rows == 0) {
        continue;
      }
      pair_weights(set, weights, pairs);
      line.offsets = offsets_[i].data();
      line.terms = static_cast<std::int64_t>(set.terms.size());
      const std::int64_t width = box.count[2];
      const bool is_joined = set.pair_move == 1 && (width <= kShortRow || layout_.row_step <= width + width / 4);
      line.count = is_joined ? (rows - 1) * layout_.row_step + width : width;
      for (std::int64_t at = 0; at < (is_joined ? 1 : rows); ++at) {
        line.from =
            reinterpret_cast<const u32*>(tile.scratch) + (set.first_pair + at * set.pair_move) * layout_.row_step;
        for (std::int64_t n = 0; n < set.lines; ++n) {
          line.to[n] = tile.scratch + layout_.outputs[n] + at * layout_.row_step * bytes;
        }
        add_lines(line);
      }
      store(tile, channel, set, bytes);
    }
    if (after_.step != nullptr) {
      run_after(tile, channel);
    }
  }

  void set_scales(const Tile& tile, std::int64_t channel, PairedLine& line) const {
    const auto scale = [&](IntegerOperand which, std::int64_t offset) {
      return load<f32>(operand(tile, which) + offset);
    };
    line.factor = quantized_factor(scale(IntegerOperand::b_scale, 0),
                                   scale(IntegerOperand::a_scale, channel * step_.filter_scale),
                                   scale(IntegerOperand::output_scale, 0));
    const std::byte* const zero = operand(tile, IntegerOperand::output_zero);
    line.zero = zero == nullptr ? 0 : byte_at(zero, step_.signed_output != 0);
  }

  // Copies the rows of a set to the output, or to the buffer of the following step.
  void store(const Tile& tile, std::int64_t channel, const RowSet& set, std::int64_t bytes) const {
    const WindowAxis& down = convolution_.windows.axes[1];
    const WindowAxis& along = convolution_.windows.axes[2];
    const bool is_forwarded = after_.step != nullptr;
    const WindowTile& box = tile.box;
    const std::int64_t of_row = box.count[2] * bytes;
    const std::int64_t apart = is_forwarded || box.count[2] == 1 ? bytes : along.output_step;
    const std::int64_t down_step = is_forwarded ? of_row : down.output_step;
    std::byte* const to = is_forwarded
                              ? tile.scratch + layout_.forwarded
                              : operand(tile, IntegerOperand::output) + tile.image * convolution_.output_image +
                                    channel * convolution_.output_channel + box.first[1] * down.output_step +
                                    box.first[2] * along.output_step;
    // More than a short row is copied if the next row follows immediately and is copied later.
    const bool is_next = apart == bytes && down_step == of_row && of_row <= kFewBytes && set.every == set.lines;
    const std::int64_t end = is_next ? box.count[1] * of_row - kFewBytes : -1;
    for (std::int64_t y = set.first, n = 0, i = 0; y < box.count[1]; y += set.every / set.lines) {
      const std::byte* const from = tile.scratch + layout_.outputs[n] + i * layout_.row_step * bytes;
      std::byte* const row = to + y * down_step;
      if (y * of_row <= end) {
        std::memcpy(row, from, static_cast<std::size_t>(kFewBytes));
      } else if (apart == bytes) {
        std::memcpy(row, from, static_cast<std::size_t>(of_row));
      } else {
        for (std::int64_t x = 0; x < box.count[2]; ++x) {
          std::memcpy(row + x * apart, from + x * bytes, static_cast<std::size_t>(bytes));
        }
      }
      n = n + 1 == set.lines ? 0 : n + 1;
      i += n == 0 ? 1 : 0;
    }
  }

  void run_after(const Tile& tile, std::int64_t channel) const {
    const WindowTile& box = tile.box;
    const std::int64_t pixel = box.first[1] * convolution_.windows.axes[2].output + box.first[2];
    after_.run((tile.image * convolution_.groups * convolution_.rows + channel) * convolution_.pixels() + pixel,
               box.outputs(), tile.scratch + layout_.forwarded, tile.operands);
  }

  IntegerConvolutionStep step_;
  const ConvolutionStep& convolution_;
  WindowClasses classes_;
  const IntegerPairs& kernels_;
  std::vector<RowSet> sets_;
  std::vector<std::vector<std::int64_t>> offsets_;  // of the terms of each set in the copy
  ConvolutionTiles tiles_;
  Layout layout_;
  cpu::Neighbor after_;
  std::int64_t tiles_of_piece_;
};

// Whether the pairs of rows are few enough, and most of them are needed.
bool suits(const IntegerConvolutionStep& step) {
  const ConvolutionStep& convolution = step.convolution;
  const Windows& windows = convolution.windows;
  const WindowAxis& first = windows.axes[0];
  const auto is_near = [&](const WindowAxis& axis) {
    return axis.stride <= kMaxStride && (axis.taps == 1 || axis.dilation <= kMaxDilation);
  };
  return step.is_packed != 0 && convolution.channels == 1 && convolution.rows <= kMaxLines &&
         convolution.taps() <= kFilterBlock && windows.is_backward == 0 && windows.is_flipped == 0 && first.taps == 1 &&
         first.input == 1 && first.output == 1 && first.padding == 0 && is_near(windows.axes[1]) &&
         is_near(windows.axes[2]) && (windows.axes[2].input_step == 1 || windows.axes[2].input == 1);
}

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_integer_depthwise(const IntegerConvolutionStep& step,
                                                             const cpu::StepContext& context, cpu::Neighbor& after) {
  if (!suits(step)) {
    return nullptr;
  }
  const ConvolutionTiles tiles = cut(
      step.convolution,
      {.strip = 1, .panel = kPairSlack, .block = kFilterBlock, .by_lines = true, .skips = false, .min_work = kMinWork},
      1, context.threads);
  std::vector<RowSet> sets = row_sets(step.convolution);
  const DepthwiseRun::Layout layout(step.convolution, tiles, sets, after.step != nullptr);
  if (layout.pairs * layout.columns > kMaxCopied) {
    return nullptr;
  }
  return std::make_unique<DepthwiseRun>(step, std::move(sets), tiles, layout, context, std::move(after));
}

}  // namespace anydml
