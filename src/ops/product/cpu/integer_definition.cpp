// SPDX-License-Identifier: MIT
// Byte convolutions with an unpacked filter, used in plans for devices that do not pack weights and for filters without
// elements. Each output is computed directly from the definition. A piece is one channel of an image.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ops/product/cpu/integer_convolution.h"
#include "ops/product/cpu/load.h"
#include "ops/product/integer_step.h"
#include "ops/product/scalar/integer.h"

namespace anydml {
namespace {

constexpr std::int64_t kTogether = 256;  // outputs that are passed on together

class IntegerDefinitionRun final : public cpu::PreparedStep {
 public:
  IntegerDefinitionRun(const IntegerConvolutionStep& step, cpu::Neighbor after)
      : PreparedStep(
            static_cast<std::uint64_t>(step.convolution.images * step.convolution.groups * step.convolution.rows)),
        step_(step),
        classes_(window_classes_of(step.convolution.windows, 0)),
        after_(std::move(after)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const ConvolutionStep& convolution = step_.convolution;
    const std::int64_t channels = convolution.groups * convolution.rows;
    const auto number = static_cast<std::int64_t>(piece.number);
    const Channel channel = channel_of(number / channels, number % channels, operands);
    for (std::int64_t first = 0; first < convolution.pixels(); first += kTogether) {
      const std::int64_t count = std::min(kTogether, convolution.pixels() - first);
      i32 totals[kTogether];
      for (std::int64_t i = 0; i < count; ++i) {
        totals[i] = total_of(channel, first + i);
      }
      if (after_.step != nullptr) {
        after_.run(number * convolution.pixels() + first, count, reinterpret_cast<std::byte*>(totals), operands);
        continue;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        write(channel, totals[i], channel.output + offset_of(first + i));
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "integer convolution, not packed, by the definition");
  }

 private:
  struct Channel {
    const std::byte* input;   // of the group in the image
    const std::byte* filter;  // of the channel
    std::byte* output;
    i32 input_zero;
    i32 filter_zero;
    u32 bias;
    f32 factor;  // if the output is quantized
    i32 output_zero;
  };

  [[nodiscard]] Channel channel_of(std::int64_t image, std::int64_t number, std::byte* const* operands) const {
    const ConvolutionStep& convolution = step_.convolution;
    const auto operand = [&](IntegerOperand which) { return operands[static_cast<std::size_t>(which)]; };
    const auto zero = [&](IntegerOperand which, std::int64_t offset, bool is_signed) {
      return operand(which) == nullptr ? 0 : byte_at(operand(which) + offset, is_signed);
    };
    const std::int64_t group = number / convolution.rows;
    Channel channel{};
    channel.input = operand(IntegerOperand::b) + image * convolution.input_image +
                    group * convolution.channels * convolution.input_channel;
    channel.filter = operand(IntegerOperand::a) + group * convolution.filter_group +
                     number % convolution.rows * convolution.filter_row;
    channel.input_zero = zero(IntegerOperand::b_zero, 0, step_.signed_input != 0);
    channel.filter_zero = zero(IntegerOperand::a_zero, number * step_.filter_zero, step_.signed_filter != 0);
    if (const std::byte* const bias = operand(IntegerOperand::bias); bias != nullptr) {
      channel.bias = load<u32>(bias + number * convolution.bias_channel);
    }
    if (after_.step == nullptr) {
      channel.output =
          operand(IntegerOperand::output) + image * convolution.output_image + number * convolution.output_channel;
    }
    if (step_.finish == IntegerFinish::quantized) {
      channel.factor = quantized_factor(load<f32>(operand(IntegerOperand::b_scale)),
                                        load<f32>(operand(IntegerOperand::a_scale) + number * step_.filter_scale),
                                        load<f32>(operand(IntegerOperand::output_scale)));
      channel.output_zero = zero(IntegerOperand::output_zero, 0, step_.signed_output != 0);
    }
    return channel;
  }

  // The position of a pixel or a tap along each dimension, from its linear index. sizes: the size of each dimension.
  struct Coordinates {
    std::int64_t along[kWindowAxes];

    Coordinates(std::int64_t number, const std::int64_t (&sizes)[kWindowAxes]) {
      for (std::uint32_t i = kWindowAxes; i-- > 0; number /= sizes[i]) {
        along[i] = number % sizes[i];
      }
    }
  };
  [[nodiscard]] Coordinates pixel_of(std::int64_t number) const {
    const WindowAxis* const axes = step_.convolution.windows.axes;
    return Coordinates(number, {axes[0].output, axes[1].output, axes[2].output});
  }

  // The offset of this output from the channel's first output, in bytes.
  [[nodiscard]] std::int64_t offset_of(std::int64_t pixel) const {
    const Coordinates coordinates = pixel_of(pixel);
    std::int64_t offset = 0;
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      offset += coordinates.along[i] * step_.convolution.windows.axes[i].output_step;
    }
    return offset;
  }

  [[nodiscard]] i32 total_of(const Channel& channel, std::int64_t pixel) const {
    const ConvolutionStep& convolution = step_.convolution;
    const WindowAxis* const axes = convolution.windows.axes;
    const std::int64_t taps = convolution.taps();
    const Coordinates coordinates = pixel_of(pixel);
    const auto tap_of = [&](std::int64_t k) {
      return Coordinates(k % taps, {axes[0].taps, axes[1].taps, axes[2].taps});
    };
    const auto weight = [&](std::int64_t k) {
      const Coordinates tap = tap_of(k);
      const std::byte* at = channel.filter + k / taps * convolution.filter_channel;
      for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
        at += tap.along[i] * axes[i].filter_step;
      }
      return byte_at(at, step_.signed_filter != 0) - channel.filter_zero;
    };
    const auto element = [&](std::int64_t k) {
      const Coordinates tap = tap_of(k);
      const std::byte* at = channel.input + k / taps * convolution.input_channel;
      for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
        const WindowClass& along = classes_.axes[i];
        const std::int64_t there =
            along.first + coordinates.along[i] * along.output_move + tap.along[i] * along.tap_move;
        if (there < 0 || there >= axes[i].input) {
          return 0;  // padding equals the zero point
        }
        at += there * axes[i].input_step;
      }
      return byte_at(at, step_.signed_input != 0) - channel.input_zero;
    };
    const i32 total = sum_of_integer_products(convolution.channels * taps, weight, element);
    return static_cast<i32>(static_cast<u32>(total) + channel.bias);
  }

  void write(const Channel& channel, i32 total, std::byte* to) const {
    if (step_.finish == IntegerFinish::int32) {
      std::memcpy(to, &total, sizeof(total));
    } else if (step_.signed_output != 0) {
      *to = static_cast<std::byte>(quantized_total<i8>(total, channel.factor, channel.output_zero));
    } else {
      *to = static_cast<std::byte>(quantized_total<u8>(total, channel.factor, channel.output_zero));
    }
  }

  IntegerConvolutionStep step_;
  WindowClasses classes_;  // these convolutions have only one class of outputs
  cpu::Neighbor after_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_integer_definition(const IntegerConvolutionStep& step, cpu::Neighbor after) {
  return std::make_unique<IntegerDefinitionRun>(step, std::move(after));
}

}  // namespace anydml
