// SPDX-License-Identifier: MIT
// The geometry of convolutions, independent of types: the input position that each filter tap reads for each output.
//
// Along a dimension, all outputs of a forward convolution have the same taps. The outputs of a backward convolution
// with a stride are divided into classes by their remainder modulo the stride. The taps of a class are equally spaced
// in the filter, and the input positions of its outputs are consecutive. Therefore each class is a forward convolution
// with fewer taps.
#pragma once

#include <cstdint>
#include <numeric>

namespace anydml {

inline constexpr std::uint32_t kWindowAxes = 3;

// A dimension along which the filter moves.
struct WindowAxis {
  std::int64_t input;  // elements
  std::int64_t output;
  std::int64_t taps;  // of the filter
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t padding;     // before the input, or cropped before the output of a backward convolution
  std::int64_t input_step;  // strides in bytes
  std::int64_t output_step;
  std::int64_t filter_step;
};

struct Windows {
  std::uint32_t is_backward;
  std::uint32_t is_flipped;      // the filter is reversed
  WindowAxis axes[kWindowAxes];  // missing dimensions come first and have one element
};

// Some taps of the filter along a dimension: first, first + step, and so on.
struct WindowTaps {
  std::int64_t first;
  std::int64_t step;
  std::int64_t count;
  std::int64_t before;  // number of taps in all previous groups
};

// The number of groups of taps. Each class that has taps has one group.
[[nodiscard]] constexpr std::int64_t tap_groups(const Windows& windows, std::uint32_t axis) {
  const WindowAxis& along = windows.axes[axis];
  const std::int64_t period = windows.is_backward != 0 ? along.stride / std::gcd(along.stride, along.dilation) : 1;
  return period < along.taps ? period : along.taps;
}

[[nodiscard]] constexpr WindowTaps taps_of_group(const Windows& windows, std::uint32_t axis, std::int64_t group) {
  const WindowAxis& along = windows.axes[axis];
  const std::int64_t period = windows.is_backward != 0 ? along.stride / std::gcd(along.stride, along.dilation) : 1;
  const std::int64_t more = along.taps % period;
  WindowTaps taps{.first = group,
                  .step = period,
                  .count = (along.taps - group + period - 1) / period,
                  .before = group * (along.taps / period) + (group < more ? group : more)};
  if (windows.is_flipped != 0) {
    taps.first = along.taps - 1 - (group + (taps.count - 1) * period);
  }
  return taps;
}

// Outputs that have the same taps along a dimension. Output t of the class is output first_output + t * output_stride
// of the tensor. Its tap n reads input position first + t * output_move + n * tap_move, which may be outside the input.
struct WindowClass {
  std::int64_t outputs;
  std::int64_t first_output;
  std::int64_t output_stride;
  WindowTaps taps;
  std::int64_t first;
  std::int64_t output_move;
  std::int64_t tap_move;
};

[[nodiscard]] constexpr std::int64_t window_classes(const Windows& windows, std::uint32_t axis) {
  const WindowAxis& along = windows.axes[axis];
  if (windows.is_backward == 0) {
    return 1;
  }
  return along.stride < along.output ? along.stride : along.output;
}

// The inverse of `value` modulo `modulus`; the two numbers must be coprime.
[[nodiscard]] constexpr std::int64_t inverse_modulo(std::int64_t value, std::int64_t modulus) {
  std::int64_t low = modulus;
  std::int64_t high = value % modulus;
  std::int64_t of_low = 0;
  std::int64_t of_high = 1;
  while (high > 1) {
    const std::int64_t quotient = low / high;
    const std::int64_t rest = low % high;
    const std::int64_t of_rest = of_low - quotient * of_high;
    low = high;
    high = rest;
    of_low = of_high;
    of_high = of_rest;
  }
  return of_high < 0 ? of_high + modulus : of_high;
}

[[nodiscard]] constexpr WindowClass window_class(const Windows& windows, std::uint32_t axis, std::int64_t number) {
  const WindowAxis& along = windows.axes[axis];
  const bool is_flipped = windows.is_flipped != 0;
  if (windows.is_backward == 0) {
    return {.outputs = along.output,
            .first_output = 0,
            .output_stride = 1,
            .taps = {.first = 0, .step = 1, .count = along.taps, .before = 0},
            .first = (is_flipped ? (along.taps - 1) * along.dilation : 0) - along.padding,
            .output_move = along.stride,
            .tap_move = is_flipped ? -along.dilation : along.dilation};
  }
  WindowClass result{.outputs = (along.output - number + along.stride - 1) / along.stride,
                     .first_output = number,
                     .output_stride = along.stride,
                     .taps = {.first = 0, .step = 1, .count = 0, .before = 0},
                     .first = 0,
                     .output_move = 1,
                     .tap_move = 0};
  // Tap k contributes if number + padding - k * dilation is a multiple of the stride.
  const std::int64_t common = std::gcd(along.stride, along.dilation);
  const std::int64_t start = number + along.padding;
  if (start % common != 0) {
    return result;
  }
  const std::int64_t period = along.stride / common;
  const auto factor = static_cast<std::uint64_t>(inverse_modulo(along.dilation / common, period));
  const auto group = static_cast<std::int64_t>(static_cast<std::uint64_t>(start / common % period) * factor %
                                               static_cast<std::uint64_t>(period));
  if (group >= along.taps) {
    return result;
  }
  result.taps = taps_of_group(windows, axis, group);
  const std::int64_t nearest = is_flipped ? group + (result.taps.count - 1) * period : group;
  result.first = (start - nearest * along.dilation) / along.stride;
  result.tap_move = is_flipped ? along.dilation / common : -(along.dilation / common);
  return result;
}

// The class of an output along each dimension.
struct WindowClasses {
  WindowClass axes[kWindowAxes];

  [[nodiscard]] constexpr std::int64_t outputs() const { return axes[0].outputs * axes[1].outputs * axes[2].outputs; }
  [[nodiscard]] constexpr std::int64_t taps() const {
    return axes[0].taps.count * axes[1].taps.count * axes[2].taps.count;
  }
};

[[nodiscard]] constexpr std::int64_t all_window_classes(const Windows& windows) {
  return window_classes(windows, 0) * window_classes(windows, 1) * window_classes(windows, 2);
}

[[nodiscard]] constexpr WindowClasses window_classes_of(const Windows& windows, std::int64_t number) {
  WindowClasses result{};
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const std::int64_t count = window_classes(windows, i);
    result.axes[i] = window_class(windows, i, number % count);
    number /= count;
  }
  return result;
}

// The number of taps in the packed filter before the taps of these groups. The packed filter contains the taps of one
// group after another.
[[nodiscard]] constexpr std::int64_t taps_before(const Windows& windows, const WindowTaps& first,
                                                 const WindowTaps& second, const WindowTaps& third) {
  const std::int64_t of_second = windows.axes[1].taps;
  const std::int64_t of_third = windows.axes[2].taps;
  return first.before * of_second * of_third + first.count * (second.before * of_third + second.count * third.before);
}

}  // namespace anydml
