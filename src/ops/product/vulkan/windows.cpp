// SPDX-License-Identifier: MIT
// Prepares convolutions. One dispatch computes all classes of outputs.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "backend/vulkan/fast_divisor.h"
#include "base/checked.h"
#include "ops/product/integer_step.h"
#include "ops/product/operands.h"
#include "ops/product/vulkan/run.h"
#include "shaders/convolution_bytes.h"
#include "shaders/convolution_f32.h"
#include "shaders/convolution_f64.h"
#include "shaders/convolution_wide_128_128_16_8_8_1.h"
#include "shaders/convolution_wide_128_128_8_8_16_1.h"
#include "shaders/convolution_wide_128_128_8_8_8_0.h"
#include "shaders/convolution_wide_128_256_8_16_8_1.h"
#include "shaders/convolution_wide_128_64_8_8_16_0.h"
#include "shaders/convolution_wide_256_128_16_8_8_1.h"
#include "shaders/convolution_wide_64_64_8_4_16_0.h"

namespace anydml::vulkan {
namespace {

// The parameters of convolution.comp, which are followed by the classes of the first axis, of the second and of the
// third.
struct ClassParameters {
  FastDivisor outputs;
  FastDivisor taps;  // at least 1
  std::uint32_t tap_count;
  std::uint32_t first_output;
  std::uint32_t output_stride;
  std::uint32_t first_tap;
  std::uint32_t tap_step;
  std::int32_t first;
  std::int32_t output_move;
  std::int32_t tap_move;
};
struct AxisParameters {
  std::int64_t input_step;
  std::int64_t filter_step;
  std::int64_t output_step;
  std::uint32_t input;
  std::uint32_t classes;
  std::uint32_t first_class;
  std::uint32_t unused;
};
struct WindowParameters {
  std::int64_t input_image;
  std::int64_t input_channel;
  std::int64_t filter_group;
  std::int64_t filter_row;
  std::int64_t filter_channel;
  std::int64_t bias_channel;
  std::int64_t output_image;
  std::int64_t output_channel;
  std::int64_t filter_zero;
  std::int64_t filter_scale;
  AxisParameters axes[kWindowAxes];
  std::uint32_t images;
  std::uint32_t rows;
  std::uint32_t channels;
  std::uint32_t all_classes;
  std::uint32_t finish;
  std::uint32_t signed_filter;
  std::uint32_t signed_input;
  std::uint32_t signed_output;
};
static_assert(sizeof(WindowParameters) == 232 && sizeof(ClassParameters) == 56);

constexpr std::int64_t kMaxClasses = 1 << 16;

std::uint32_t narrow(std::int64_t value) { return static_cast<std::uint32_t>(value); }

struct WindowKernel {
  const char* key;
  std::span<const std::uint32_t> words;
};
WindowKernel kernel_for(Numbers numbers) {
  switch (numbers) {
    case Numbers::f32:
      return {"convolution_f32", k_convolution_f32};
    case Numbers::f64:
      return {"convolution_f64", k_convolution_f64};
    default:
      return {"convolution_bytes", k_convolution_bytes};
  }
}

// The columns of the product for the class with the most pixels, which is the first one.
std::int64_t columns_of(const ConvolutionStep& step) {
  return step.images * window_classes_of(step.windows, 0).outputs();
}

// The taps of the class with the most taps.
std::int64_t longest_taps(const ConvolutionStep& step) {
  std::int64_t taps = 1;
  for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
    taps *= taps_of_group(step.windows, i, 0).count;
  }
  return taps;
}

ClassParameters parameters_of(const WindowClass& from) {
  return {.outputs = make_divisor(narrow(from.outputs)),
          .taps = make_divisor(narrow(std::max<std::int64_t>(from.taps.count, 1))),
          .tap_count = narrow(from.taps.count),
          .first_output = narrow(from.first_output),
          .output_stride = narrow(from.output_stride),
          .first_tap = narrow(from.taps.first),
          .tap_step = narrow(from.taps.step),
          .first = static_cast<std::int32_t>(from.first),
          .output_move = static_cast<std::int32_t>(from.output_move),
          .tap_move = static_cast<std::int32_t>(from.tap_move)};
}

std::uint64_t axis_strides(const ConvolutionStep& step, std::int64_t WindowAxis::*stride) {
  std::uint64_t all = 0;
  for (const WindowAxis& axis : step.windows.axes) {
    all |= static_cast<std::uint64_t>(axis.*stride);
  }
  return all;
}
std::uint64_t input_strides(const ConvolutionStep& step) {
  return static_cast<std::uint64_t>(step.input_image | step.input_channel) |
         axis_strides(step, &WindowAxis::input_step);
}
std::uint64_t filter_strides(const ConvolutionStep& step) {
  return static_cast<std::uint64_t>(step.filter_group | step.filter_row | step.filter_channel) |
         axis_strides(step, &WindowAxis::filter_step);
}
std::uint64_t output_strides(const ConvolutionStep& step) {
  return static_cast<std::uint64_t>(step.output_image | step.output_channel) |
         axis_strides(step, &WindowAxis::output_step);
}

// The kernels of the shapes in wide.cpp.
constexpr std::span<const std::uint32_t> kWideKernels[kWideShapes] = {
    k_convolution_wide_128_256_8_16_8_1, k_convolution_wide_256_128_16_8_8_1, k_convolution_wide_128_128_8_8_16_1,
    k_convolution_wide_128_128_8_8_8_0,  k_convolution_wide_128_128_16_8_8_1, k_convolution_wide_128_64_8_8_16_0,
    k_convolution_wide_64_64_8_4_16_0};

// Whether the factors of a row are contiguous in the order of k, and can be read as aligned vectors.
bool has_vectors_of_filter(const ConvolutionStep& step) {
  std::int64_t distance = sizeof(f32);
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const WindowAxis& axis = step.windows.axes[i];
    if (window_classes(step.windows, i) != 1 || axis.taps != taps_of_group(step.windows, i, 0).count ||
        (axis.taps != 1 && axis.filter_step != distance)) {
      return false;
    }
    distance *= axis.taps;
  }
  constexpr std::int64_t kVector = 16;
  return step.windows.is_backward == 0 && step.filter_channel == distance && step.channels * step.taps() % 4 == 0 &&
         (step.filter_row | step.filter_group) % kVector == 0;
}

// Whether four neighboring pixels, beginning at a multiple of 4, are aligned vectors of the output.
bool has_vectors_of_output(const ConvolutionStep& step) {
  std::int64_t distance = sizeof(f32);
  for (std::uint32_t i = kWindowAxes; i-- > 0;) {
    const WindowAxis& axis = step.windows.axes[i];
    if (window_classes(step.windows, i) != 1 || (axis.output != 1 && axis.output_step != distance)) {
      return false;
    }
    distance *= axis.output;
  }
  constexpr std::int64_t kVector = 16;
  return step.pixels() % 4 == 0 && (step.output_channel | step.output_image) % kVector == 0;
}

std::optional<WideTiles> wide_tiles(const ConvolutionStep& step, Kernels& kernels) {
  const std::int64_t depth = step.channels * longest_taps(step);
  const std::int64_t matrices = all_window_classes(step.windows) * step.groups;
  const std::uint32_t index = choose_wide(step.rows, columns_of(step), depth, matrices, kernels.gpu());
  if (index == kWideShapes) {
    return std::nullopt;
  }
  const WideShape& shape = kWideShape[index];
  const std::int64_t across = ceil_div(columns_of(step), std::int64_t{shape.columns});
  const std::int64_t of_matrix = across * ceil_div(step.rows, std::int64_t{shape.rows});
  if (of_matrix > std::int64_t{kMaxTiles} / std::max<std::int64_t>(1, matrices)) {
    return std::nullopt;
  }
  const WideLayout layout = {
      .rows = has_vectors_of_filter(step) ? FactorOrder::vectors_along_k : FactorOrder::along_k,
      .columns = FactorOrder::along_side,
      .stores_vectors = has_vectors_of_output(step)};
  return WideTiles(kernels, std::string("convolution_wide ") + shape.name, kWideKernels[index], shape, layout,
                   static_cast<std::uint64_t>(of_matrix * matrices), static_cast<std::uint64_t>(across),
                   static_cast<std::uint64_t>(of_matrix), static_cast<std::uint64_t>(depth));
}

class WindowRun final : public TiledRun {
 public:
  using TiledRun::refuses;
  WindowRun(const ConvolutionStep& step, Numbers numbers, const TileShape& tile, Kernels& kernels)
      : TiledRun(kernels, kernel_for(numbers).key, kernel_for(numbers).words, numbers, tile, tiles_of(step, tile),
                 ceil_div(columns_of(step), tile.columns()), tile.tiles(step.rows, columns_of(step)),
                 step.channels * longest_taps(step),
                 numbers == Numbers::f32 ? wide_tiles(step, kernels) : std::nullopt),
        step_(step) {
    WindowParameters parameters{.input_image = step.input_image,
                                .input_channel = step.input_channel,
                                .filter_group = step.filter_group,
                                .filter_row = step.filter_row,
                                .filter_channel = step.filter_channel,
                                .bias_channel = step.bias_channel,
                                .output_image = step.output_image,
                                .output_channel = step.output_channel,
                                .filter_zero = 0,
                                .filter_scale = 0,
                                .axes = {},
                                .images = narrow(step.images),
                                .rows = narrow(step.rows),
                                .channels = narrow(step.channels),
                                .all_classes = narrow(all_window_classes(step.windows)),
                                .finish = 0,
                                .signed_filter = 0,
                                .signed_input = 0,
                                .signed_output = 0};
    std::vector<ClassParameters> classes;
    for (std::uint32_t i = 0; i < kWindowAxes; ++i) {
      const WindowAxis& axis = step.windows.axes[i];
      const std::int64_t count = window_classes(step.windows, i);
      parameters.axes[i] = {.input_step = axis.input_step,
                            .filter_step = axis.filter_step,
                            .output_step = axis.output_step,
                            .input = narrow(axis.input),
                            .classes = narrow(count),
                            .first_class = static_cast<std::uint32_t>(classes.size()),
                            .unused = 0};
      for (std::int64_t number = 0; number < count; ++number) {
        classes.push_back(parameters_of(window_class(step.windows, i, number)));
      }
    }
    bytes_.resize(sizeof(parameters) + classes.size() * sizeof(ClassParameters));
    std::memcpy(bytes_.data() + sizeof(parameters), classes.data(), classes.size() * sizeof(ClassParameters));
    put(parameters);
  }

  void set_floats(std::uint64_t bytes, bool has_bias) {
    using namespace convolution_operands;
    std::vector<AlignedOperand> aligned = {{kInput, input_strides(step_), bytes},
                                           {kFilter, filter_strides(step_), bytes},
                                           {kOutput, output_strides(step_), bytes}};
    if (has_bias) {
      aligned.push_back({kBias, static_cast<std::uint64_t>(step_.bias_channel), bytes});
    }
    set(std::move(aligned), kOutput);
  }
  void set_integers(const IntegerConvolutionStep& step, const Step& flat) {
    WindowParameters parameters;
    std::memcpy(&parameters, bytes_.data(), sizeof(parameters));
    parameters.filter_zero = step.filter_zero;
    parameters.filter_scale = step.filter_scale;
    parameters.finish = static_cast<std::uint32_t>(step.finish);
    parameters.signed_filter = step.signed_filter;
    parameters.signed_input = step.signed_input;
    parameters.signed_output = step.signed_output;
    put(parameters);
    std::vector<AlignedOperand> aligned;
    const auto add = [&](IntegerOperand which, std::uint64_t strides) {
      const auto operand = static_cast<std::size_t>(which);
      if (flat.operands[operand].slot != kAbsentSlot) {
        aligned.push_back({operand, strides, sizeof(f32)});
      }
    };
    add(IntegerOperand::a_scale, static_cast<std::uint64_t>(step.filter_scale));
    add(IntegerOperand::b_scale, 0);
    add(IntegerOperand::output_scale, 0);
    add(IntegerOperand::bias, static_cast<std::uint64_t>(step_.bias_channel));
    if (step.finish != IntegerFinish::quantized) {
      add(IntegerOperand::output, output_strides(step_));
    }
    set(std::move(aligned), static_cast<std::size_t>(IntegerOperand::output));
  }

  [[nodiscard]] static std::uint64_t tiles_of(const ConvolutionStep& step, const TileShape& shape) {
    return static_cast<std::uint64_t>(shape.tiles(step.rows, columns_of(step))) *
           static_cast<std::uint64_t>(all_window_classes(step.windows)) * static_cast<std::uint64_t>(step.groups);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override { return bytes_; }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "convolution, tiles of %lld x %lld",
                  static_cast<long long>(wide() ? wide()->shape().rows : shape().rows()),
                  static_cast<long long>(wide() ? wide()->shape().columns : shape().columns()));
  }

 private:
  void put(const WindowParameters& parameters) { std::memcpy(bytes_.data(), &parameters, sizeof(parameters)); }

  ConvolutionStep step_;
  std::vector<std::byte> bytes_;
};

// Whether positions along a dimension fit into the 32-bit integers that the kernel uses.
bool fits(const Windows& windows, const WindowAxis& axis) {
  constexpr std::int64_t kMax = std::int64_t{1} << 29;
  const std::int64_t outputs = windows.is_backward != 0 ? axis.output : axis.output * axis.stride;
  return axis.input < kMax && outputs < kMax && axis.taps * axis.dilation < kMax && axis.padding < kMax;
}

// Whether the kernel can count the columns, the values of k and the output channels.
bool can_be_counted(const ConvolutionStep& step) {
  const WindowAxis* const axes = step.windows.axes;
  const auto is_small = [](std::initializer_list<std::int64_t> sizes) {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
      const auto next = checked_multiply(count, size);
      if (!next || *next >= static_cast<std::int64_t>(kMaxDividend)) {
        return false;
      }
      count = *next;
    }
    return true;
  };
  return is_small({step.images, axes[0].output, axes[1].output, axes[2].output}) &&
         is_small({step.channels, axes[0].taps, axes[1].taps, axes[2].taps}) && is_small({step.groups, step.rows}) &&
         is_small({step.groups, step.channels});
}

}  // namespace

std::unique_ptr<PreparedStep> prepare_windows(const Step& flat, Kernels& kernels, const char** why) {
  ConvolutionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const Numbers numbers = step.kind == ProductKind::convolution          ? Numbers::f32
                          : step.kind == ProductKind::double_convolution ? Numbers::f64
                                                                         : Numbers::bytes;
  IntegerConvolutionStep integers{};
  if (numbers == Numbers::bytes) {
    std::memcpy(&integers, flat.parameters.data(), sizeof(integers));
  }
  if ((numbers != Numbers::bytes && step.strip != 0) || integers.is_packed != 0) {
    *why = "the Vulkan backend requires unpacked filters";
    return nullptr;
  }
  const WindowAxis* const axes = step.windows.axes;
  if (!can_be_counted(step) ||
      !std::all_of(axes, axes + kWindowAxes, [&](const WindowAxis& axis) { return fits(step.windows, axis); })) {
    *why = "the Vulkan backend computes convolutions of up to 2,147,483,647 pixels and factors";
    return nullptr;
  }
  if (window_classes(step.windows, 0) + window_classes(step.windows, 1) + window_classes(step.windows, 2) >
      kMaxClasses) {
    *why = "the Vulkan backend computes transposed convolutions of up to 65,536 strides in all";
    return nullptr;
  }
  const auto classes = static_cast<std::uint64_t>(all_window_classes(step.windows));
  const TileShape shape = choose_tile(step.rows, columns_of(step), numbers, kernels.gpu());
  const auto tiles = static_cast<std::uint64_t>(shape.tiles(step.rows, columns_of(step)));
  if (classes > kMaxTiles || classes * tiles > kMaxTiles || WindowRun::tiles_of(step, shape) > kMaxTiles) {
    *why = "the Vulkan backend computes convolutions of up to 4,294,967,295 tiles";
    return nullptr;
  }
  *why = WindowRun::refuses(shape, numbers, WindowRun::tiles_of(step, shape), step.channels * longest_taps(step),
                            kernels.gpu());
  if (*why != nullptr) {
    return nullptr;
  }
  auto run = std::make_unique<WindowRun>(step, numbers, shape, kernels);
  if (numbers == Numbers::bytes) {
    run->set_integers(integers, flat);
  } else {
    run->set_floats(numbers == Numbers::f64 ? sizeof(f64) : sizeof(f32),
                    flat.operands[convolution_operands::kBias].slot != kAbsentSlot);
  }
  return run;
}

}  // namespace anydml::vulkan
