// SPDX-License-Identifier: MIT
// Byte convolutions whose groups have one input channel, with filters of one or two dimensions, row by row of outputs
// (integer_row_dots.h). A piece consists of several rows. Nothing is copied.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ops/product/cpu/integer_convolution.h"
#include "ops/product/cpu/integer_pack.h"
#include "ops/product/cpu/integer_row_dots.h"
#include "ops/product/cpu/load.h"
#include "ops/product/cpu/tiles.h"
#include "ops/product/scalar/integer.h"

namespace anydml {
namespace {

constexpr std::int64_t kQuadTaps = 4;
constexpr std::int64_t kMaxQuads = 128;  // of a filter
constexpr std::int64_t kMaxTaps = 64;    // along a column
constexpr std::int64_t kMaxStride = 2;
constexpr std::int64_t kOutputsOfUnit = 1 << 13;   // their totals stay in a first-level cache
constexpr std::int64_t kOutputsOfPiece = 1 << 15;  // they take more than ten microseconds
constexpr std::int64_t kMaxRow = 1 << 16;

std::int64_t quads_of_row(const ConvolutionStep& step) { return ceil_div(step.windows.axes[2].taps, kQuadTaps); }

// Some rows of an output channel.
struct Units {
  std::int64_t rows;  // of a unit
  std::int64_t of_channel;
  std::int64_t all;
  std::int64_t of_piece;

  explicit Units(const ConvolutionStep& step) {
    const WindowAxis& down = step.windows.axes[1];
    const std::int64_t of_row = std::max<std::int64_t>(1, step.windows.axes[2].output);
    rows = std::clamp<std::int64_t>(kOutputsOfUnit / of_row, 1, std::max<std::int64_t>(1, down.output));
    of_channel = ceil_div(down.output, rows);
    all = step.images * step.groups * step.rows * of_channel;
    of_piece = std::max<std::int64_t>(1, kOutputsOfPiece / (rows * of_row));
  }
};

class RowDotsRun final : public cpu::PreparedStep {
 public:
  RowDotsRun(const IntegerConvolutionStep& step, const DotKernels& kernels, const Units& units, cpu::Neighbor after)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(units.all, units.of_piece)), 1,
                     after.step != nullptr
                         ? static_cast<std::size_t>(units.rows * step.convolution.windows.axes[2].output * kWord)
                         : 0),
        step_(step),
        convolution_(step_.convolution),
        kernels_(kernels),
        units_(units),
        after_(std::move(after)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * units_.of_piece;
    const std::int64_t end = std::min(first + units_.of_piece, units_.all);
    // Divisions would take longer than a small unit.
    std::int64_t channel = first / units_.of_channel;
    Place place{.image = channel / (convolution_.groups * convolution_.rows),
                .group = channel / convolution_.rows % convolution_.groups,
                .row = channel % convolution_.rows,
                .first = first % units_.of_channel * units_.rows};
    for (std::int64_t number = first; number < end; ++number) {
      run_unit(place, piece.scratch, operands);
      place.first += units_.rows;
      if (place.first >= convolution_.windows.axes[1].output) {
        place.first = 0;
        if (++place.row == convolution_.rows) {
          place.row = 0;
          if (++place.group == convolution_.groups) {
            place.group = 0;
            ++place.image;
          }
        }
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "integer convolution, by rows of single channels, %s kernel", kernels_.name);
  }

 private:
  struct Weights {
    u32 quads[kMaxQuads];
    u32 ones[kMaxQuads];
    u32 sum;
  };

  struct Place {
    std::int64_t image;
    std::int64_t group;
    std::int64_t row;    // output channel of the group
    std::int64_t first;  // row of outputs
  };

  // The weights of a channel, as signed bytes.
  void read_filter(const std::byte* filter, Weights& weights) const {
    const u8 flip = byte_flip(step_.signed_filter != 0, true);
    const WindowAxis& along = convolution_.windows.axes[2];
    const std::int64_t quads = quads_of_row(convolution_);
    weights.sum = 0;
    for (std::int64_t row = 0; row < convolution_.windows.axes[1].taps; ++row) {
      for (std::int64_t quad = 0; quad < quads; ++quad) {
        const std::int64_t count = std::min(kQuadTaps, along.taps - quad * kQuadTaps);
        u32 four = 0;
        u32 ones = 0;
        for (std::int64_t tap = 0; tap < count; ++tap, ++filter) {
          const auto weight = static_cast<u8>(static_cast<u8>(*filter) ^ flip);
          four |= u32{weight} << 8 * tap;
          ones |= u32{1} << 8 * tap;
          weights.sum += static_cast<u32>(i32{static_cast<i8>(weight)});
        }
        weights.quads[row * quads + quad] = four;
        weights.ones[row * quads + quad] = ones;
      }
    }
  }

  void run_unit(const Place& place, std::byte* scratch, std::byte* const* operands) const {
    const std::int64_t channel = place.group * convolution_.rows + place.row;
    const std::int64_t first_row = place.first;
    const auto operand = [&](IntegerOperand which) { return operands[static_cast<std::size_t>(which)]; };
    const WindowAxis& down = convolution_.windows.axes[1];
    const WindowAxis& along = convolution_.windows.axes[2];
    const std::int64_t taps = convolution_.taps();
    Weights weights;
    read_filter(operand(IntegerOperand::a) + place.group * integer_filter_bytes(convolution_.rows, 1, taps) +
                    place.row * padded_depth(taps),
                weights);
    const bool is_signed = step_.signed_input != 0;
    const std::byte* const input_zero = operand(IntegerOperand::b_zero);
    const std::byte* const filter_zero = operand(IntegerOperand::a_zero);
    const std::byte* const bias = operand(IntegerOperand::bias);
    const i32 given_zero =
        filter_zero == nullptr ? 0 : byte_at(filter_zero + channel * step_.filter_zero, step_.signed_filter != 0);
    const auto zero = static_cast<u32>(given_zero + byte_shift(step_.signed_filter != 0, true));
    const i32 padding = input_zero == nullptr ? 0 : byte_at(input_zero, is_signed);
    const auto pixel_zero = static_cast<u32>(padding + byte_shift(is_signed, false));
    const bool is_quantized = step_.finish == IntegerFinish::quantized;
    const std::byte* images[(kDotRows - 1) * kMaxStride + kMaxTaps];
    DotRows rows{.images = images,
                 .row_move = down.stride,
                 .taps = down.taps,
                 .first = -along.padding,
                 .size = along.input,
                 .count = along.output,
                 .weights = weights.quads,
                 .ones = weights.ones,
                 .quads = quads_of_row(convolution_),
                 .padding = static_cast<u8>(padding),
                 .flip = byte_flip(is_signed, false),
                 .plus = (bias == nullptr ? 0 : load<u32>(bias + channel * convolution_.bias_channel)) -
                         pixel_zero * (weights.sum - static_cast<u32>(taps) * zero),
                 .zero = zero,
                 .is_quantized = is_quantized,
                 .factor = 0,
                 .lowest = 0,
                 .highest = 0,
                 .output_zero = 0,
                 .to = nullptr,
                 .to_step = 0};
    if (is_quantized) {
      const auto scale = [&](IntegerOperand which, std::int64_t offset) { return load<f32>(operand(which) + offset); };
      const std::byte* const output_zero = operand(IntegerOperand::output_zero);
      rows.factor = quantized_factor(scale(IntegerOperand::b_scale, 0),
                                     scale(IntegerOperand::a_scale, channel * step_.filter_scale),
                                     scale(IntegerOperand::output_scale, 0));
      rows.output_zero = output_zero == nullptr ? 0 : byte_at(output_zero, step_.signed_output != 0);
      rows.lowest = static_cast<f32>((step_.signed_output != 0 ? -128 : 0) - rows.output_zero);
      rows.highest = static_cast<f32>((step_.signed_output != 0 ? 127 : 255) - rows.output_zero);
      rows.is_quantized = std::isfinite(rows.factor);
    }
    const std::byte* const from =
        operand(IntegerOperand::b) + place.image * convolution_.input_image + place.group * convolution_.input_channel;
    const bool is_forwarded = after_.step != nullptr;
    const std::int64_t end_row = std::min(first_row + units_.rows, down.output);
    const std::int64_t down_step = is_forwarded ? along.output * kWord : down.output_step;
    std::byte* const to = is_forwarded ? scratch
                                       : operand(IntegerOperand::output) + place.image * convolution_.output_image +
                                             channel * convolution_.output_channel + first_row * down_step;
    // Rows of outputs that are computed together share the rows of the image.
    const bool shares = (down.taps == 3 || down.taps == 5) && down.dilation == 1 && down.stride == along.stride;
    rows.to_step = down_step;
    const std::int64_t count = shares && end_row - first_row >= kDotRows ? kDotRows : 1;
    for (std::int64_t next = first_row; next < end_row; next += count) {
      const std::int64_t y = std::min(next, end_row - count);  // the last rows may be computed twice
      const std::int64_t first = y * down.stride - down.padding;
      for (std::int64_t i = 0; i < (count - 1) * down.stride + down.taps; ++i) {
        const std::int64_t at = first + i * down.dilation;
        images[i] = at >= 0 && at < down.input ? from + at * down.input_step : nullptr;
      }
      rows.to = to + (y - first_row) * down_step;
      if (is_quantized && !rows.is_quantized) {
        quantize_plainly(rows, count);
      } else {
        (count == 1 ? kernels_.one : kernels_.several)[along.stride - 1](rows);
      }
    }
    if (is_forwarded) {
      after_.run((place.image * convolution_.groups * convolution_.rows + channel) * convolution_.pixels() +
                     first_row * along.output,
                 (end_row - first_row) * along.output, scratch, operands);
    }
  }

  // Quantizes with a factor that is infinite or NaN.
  void quantize_plainly(const DotRows& given, std::int64_t count) const {
    const std::int64_t stride = convolution_.windows.axes[2].stride;
    for (std::int64_t y = 0; y < count; ++y) {
      for (std::int64_t i = 0; i < given.count; ++i) {
        i32 total;
        DotRows one = given;
        one.images += y * given.row_move;
        one.first += i * stride;
        one.count = 1;
        one.to = reinterpret_cast<std::byte*>(&total);
        kernels_.one[stride - 1](one);
        std::byte& to = given.to[y * given.to_step + i];
        to = step_.signed_output != 0
                 ? static_cast<std::byte>(quantized_total<i8>(total, given.factor, given.output_zero))
                 : static_cast<std::byte>(quantized_total<u8>(total, given.factor, given.output_zero));
      }
    }
  }

  IntegerConvolutionStep step_;
  const ConvolutionStep& convolution_;
  const DotKernels& kernels_;
  Units units_;
  cpu::Neighbor after_;
};

bool suits(const IntegerConvolutionStep& step) {
  const ConvolutionStep& convolution = step.convolution;
  const Windows& windows = convolution.windows;
  const WindowAxis& first = windows.axes[0];
  const WindowAxis& down = windows.axes[1];
  const WindowAxis& along = windows.axes[2];
  const std::int64_t bytes = step.finish == IntegerFinish::quantized ? 1 : kWord;
  return step.is_packed != 0 && convolution.channels == 1 && convolution.rows <= kMaxLines &&
         windows.is_backward == 0 && windows.is_flipped == 0 && first.taps == 1 && first.input == 1 &&
         first.output == 1 && first.padding == 0 && along.stride <= kMaxStride && down.taps <= kMaxTaps &&
         (along.taps == 1 || along.dilation == 1) && (along.input_step == 1 || along.input == 1) &&
         (along.output_step == bytes || along.output == 1) && quads_of_row(convolution) * down.taps <= kMaxQuads &&
         along.output <= kMaxRow;
}

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_row_convolution(const IntegerConvolutionStep& step,
                                                           const IntegerKernels& kernels, cpu::Neighbor& after) {
  if (kernels.dots == nullptr || !suits(step)) {
    return nullptr;
  }
  return std::make_unique<RowDotsRun>(step, *kernels.dots, Units(step.convolution), std::move(after));
}

}  // namespace anydml
