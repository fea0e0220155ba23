// SPDX-License-Identifier: MIT
// FLOAT64 convolutions on the CPU, computed as products: the output channels of a group are the rows, and the pixels of
// a class of outputs are the columns. A piece covers some pixels of one image, group and class, and some rows. For each
// block of k, the factors of these pixels and rows are gathered and passed to the kernels for FLOAT64 products.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/product/cpu/double_kernels.h"
#include "ops/product/cpu/load.h"
#include "ops/product/cpu/tiles.h"
#include "ops/product/operands.h"
#include "ops/product/step.h"

namespace anydml {
namespace {

using namespace convolution_operands;

constexpr std::int64_t kMaxRows = 96;
constexpr std::int64_t kMaxPixels = 128;  // a multiple of every panel

// Computes a block of one row and one column directly from the definition, for targets without kernels.
void add_one(const f64* a, const f64* b, std::int64_t b_step, std::int64_t depth, f64* totals, std::int64_t,
             bool is_first) noexcept {
  f64 sum = 0;
  for (std::int64_t k = 0; k < depth; ++k) {
    sum = fused(a[k], b[k * b_step], sum);
  }
  *totals = is_first ? sum : *totals + sum;
}
constexpr DoubleBlock kOneBlock[] = {add_one};
constexpr DoubleKernels kByDefinition = {
    .strip = 1, .panel = 1, .blocks = kOneBlock, .along = nullptr, .across = nullptr};

class DoubleConvolutionRun final : public cpu::PreparedStep {
 public:
  DoubleConvolutionRun(const ConvolutionStep& step, const DoubleKernels& kernels, bool has_bias, cpu::Target target)
      : PreparedStep(
            static_cast<std::uint64_t>(step.images * step.groups * all_window_classes(step.windows) * blocks_of(step) *
                                       ceil_div(step.rows, kMaxRows)),
            1,
            static_cast<std::size_t>(rows_of(step) * (kMaxPixels + kProductBlock) + kernels.panel * kProductBlock) *
                sizeof(f64)),
        step_(step),
        kernels_(kernels),
        target_(target),
        has_bias_(has_bias) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    auto number = static_cast<std::int64_t>(piece.number);
    const auto next = [&](std::int64_t count) {
      const std::int64_t digit = number % count;
      number /= count;
      return digit;
    };
    TileBounds bounds{};
    bounds.row = next(ceil_div(step_.rows, kMaxRows)) * kMaxRows;
    bounds.rows = std::min(kMaxRows, step_.rows - bounds.row);
    bounds.pixel = next(blocks_of(step_)) * kMaxPixels;
    bounds.classes = window_classes_of(step_.windows, next(all_window_classes(step_.windows)));
    bounds.pixels = std::min(kMaxPixels, bounds.classes.outputs() - bounds.pixel);
    bounds.group = next(step_.groups);
    bounds.image = number;
    if (bounds.pixels <= 0) {
      return;  // this class has no outputs here, although other classes do
    }
    auto* const totals = reinterpret_cast<f64*>(piece.scratch);
    compute(bounds, operands, totals);
    finish(bounds, operands, totals);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "FLOAT64 convolution, tiles of %lld x %lld, %s kernel",
                  static_cast<long long>(rows_of(step_)), static_cast<long long>(kMaxPixels),
                  cpu::target_name(kernels_.panel != 1 ? target_ : cpu::Target::generic));
  }

 private:
  struct TileBounds {
    std::int64_t image;
    std::int64_t group;
    WindowClasses classes;
    std::int64_t pixel;  // the first pixel, counted within the class
    std::int64_t pixels;
    std::int64_t row;
    std::int64_t rows;
  };

  // The number of blocks of pixels in the first class, which has the most outputs.
  [[nodiscard]] static std::int64_t blocks_of(const ConvolutionStep& step) {
    return ceil_div(window_classes_of(step.windows, 0).outputs(), kMaxPixels);
  }
  [[nodiscard]] static std::int64_t rows_of(const ConvolutionStep& step) { return std::min(kMaxRows, step.rows); }

  // The index of a pixel of a class along each dimension.
  struct Outputs {
    std::int64_t at[kWindowAxes];

    Outputs(const WindowClasses& classes, std::int64_t pixel) {
      at[2] = pixel % classes.axes[2].outputs;
      at[1] = pixel / classes.axes[2].outputs % classes.axes[1].outputs;
      at[0] = pixel / classes.axes[2].outputs / classes.axes[1].outputs;
    }
  };

  // The offsets of a block's factors from the factors of the first channel and tap. moves: the offset of each tap along
  // each dimension of the input.
  struct Factors {
    std::int64_t element[kProductBlock];
    std::int64_t weight[kProductBlock];
    std::int64_t moves[kWindowAxes][kProductBlock];

    Factors(const ConvolutionStep& step, const WindowClasses& classes, std::int64_t first, std::int64_t depth) {
      const std::int64_t taps = classes.taps();
      for (std::int64_t k = 0; k < depth; ++k) {
        const std::int64_t channel = (first + k) / taps;
        std::int64_t tap = (first + k) % taps;
        element[k] = channel * step.input_channel;
        weight[k] = channel * step.filter_channel;
        for (std::uint32_t i = kWindowAxes; i-- > 0;) {
          const WindowClass& along = classes.axes[i];
          const std::int64_t number = tap % along.taps.count;
          tap /= along.taps.count;
          moves[i][k] = number * along.tap_move;
          element[k] += moves[i][k] * step.windows.axes[i].input_step;
          weight[k] += (along.taps.first + number * along.taps.step) * step.windows.axes[i].filter_step;
        }
      }
    }
  };

  // Gathers the factors of one pixel and stores them at a distance of `step` elements. A tap outside the input has the
  // factor +0.
  void gather(const TileBounds& bounds, const Factors& factors, const std::byte* input, std::int64_t pixel,
              std::int64_t depth, f64* to, std::int64_t step) const {
    const Outputs outputs(bounds.classes, pixel);
    const std::byte* from = input;
    std::int64_t origin[kWindowAxes];
    bool is_inside = true;
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      const WindowClass& along = bounds.classes.axes[i];
      const WindowAxis& axis = step_.windows.axes[i];
      origin[i] = along.first + outputs.at[i] * along.output_move;
      const std::int64_t last = origin[i] + (along.taps.count - 1) * along.tap_move;
      is_inside = is_inside && std::min(origin[i], last) >= 0 && std::max(origin[i], last) < axis.input;
      from += origin[i] * axis.input_step;
    }
    for (std::int64_t k = 0; k < depth; ++k) {
      bool meets = true;
      for (std::uint32_t i = 0; !is_inside && i < kWindowAxes; ++i) {
        const std::int64_t there = origin[i] + factors.moves[i][k];
        meets = meets && there >= 0 && there < step_.windows.axes[i].input;
      }
      to[k * step] = meets ? load<f64>(from + factors.element[k]) : 0.0;
    }
  }

  void compute(const TileBounds& bounds, std::byte* const* operands, f64* totals) const {
    const std::int64_t all = step_.channels * bounds.classes.taps();
    if (all == 0) {
      std::fill_n(totals, bounds.rows * kMaxPixels, 0.0);
      return;
    }
    f64* const of_a = totals + rows_of(step_) * kMaxPixels;
    f64* const of_b = of_a + rows_of(step_) * kProductBlock;
    const std::byte* const input =
        operands[kInput] + bounds.image * step_.input_image + bounds.group * step_.channels * step_.input_channel;
    const std::byte* const filter =
        operands[kFilter] + bounds.group * step_.filter_group + bounds.row * step_.filter_row;
    const std::int64_t strip = kernels_.strip;
    const std::int64_t panel = kernels_.panel;
    for (std::int64_t first = 0; first < all; first += kProductBlock) {
      const std::int64_t depth = std::min(kProductBlock, all - first);
      const Factors factors(step_, bounds.classes, first, depth);
      for (std::int64_t row = 0; row < bounds.rows; ++row) {
        const std::int64_t of_strip = row / strip * strip;
        const std::int64_t rows = std::min(strip, bounds.rows - of_strip);
        f64* const to = of_a + of_strip * depth + row - of_strip;
        for (std::int64_t k = 0; k < depth; ++k) {
          to[k * rows] = load<f64>(filter + row * step_.filter_row + factors.weight[k]);
        }
      }
      for (std::int64_t column = 0; column < bounds.pixels; column += panel) {
        const std::int64_t columns = std::min(panel, bounds.pixels - column);
        for (std::int64_t i = 0; i < columns; ++i) {
          gather(bounds, factors, input, bounds.pixel + column + i, depth, of_b + i, panel);
        }
        for (std::int64_t i = columns; i < panel; ++i) {  // the sums of these columns are unused
          for (std::int64_t k = 0; k < depth; ++k) {
            of_b[k * panel + i] = 0;
          }
        }
        for (std::int64_t row = 0; row < bounds.rows; row += strip) {
          kernels_.blocks[std::min(strip, bounds.rows - row) - 1](
              of_a + row * depth, of_b, panel, depth, totals + row * kMaxPixels + column, kMaxPixels, first == 0);
        }
      }
    }
  }

  void finish(const TileBounds& bounds, std::byte* const* operands, const f64* totals) const {
    for (std::int64_t row = 0; row < bounds.rows; ++row) {
      const std::int64_t channel = bounds.group * step_.rows + bounds.row + row;
      std::byte* const to = operands[kOutput] + bounds.image * step_.output_image + channel * step_.output_channel;
      for (std::int64_t i = 0; i < bounds.pixels; ++i) {
        const Outputs outputs(bounds.classes, bounds.pixel + i);
        std::byte* at = to;
        for (std::uint32_t axis = 0; axis < kWindowAxes; ++axis) {
          const WindowClass& along = bounds.classes.axes[axis];
          at += (along.first_output + outputs.at[axis] * along.output_stride) * step_.windows.axes[axis].output_step;
        }
        const f64 total = totals[row * kMaxPixels + i];
        const f64 value = has_bias_ ? total + load<f64>(operands[kBias] + channel * step_.bias_channel) : total;
        std::memcpy(at, &value, sizeof(value));
      }
    }
  }

  ConvolutionStep step_;
  const DoubleKernels& kernels_;
  cpu::Target target_;
  bool has_bias_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_double_convolution(const Step& flat, const cpu::StepContext& context) {
  ConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const DoubleKernels* const kernels = double_kernels(context.target);
  return std::make_unique<DoubleConvolutionRun>(step, kernels != nullptr ? *kernels : kByDefinition,
                                                flat.operands[kBias].slot != kAbsentSlot, context.target);
}

}  // namespace anydml
