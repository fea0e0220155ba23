// SPDX-License-Identifier: MIT
// Compares convolutions, integer convolutions and integer products on the device bit for bit with their definitions on
// the host, for any geometry and layout and for sums around the ends of blocks. The bytes between the outputs must be
// preserved.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/family.h"
#include "cuda/kernels_operand.h"
#include "ops/product/integer_step.h"
#include "ops/product/scalar/integer.h"
#include "ops/product/step.h"

namespace anydml::cuda {

extern const FamilyKernels product_family;

namespace {

constexpr std::int64_t kMaxWork = 8'000'000;  // multiplications per case

[[nodiscard]] std::int64_t draw(test::Random& random, std::int64_t minimum, std::int64_t maximum) {
  return minimum + static_cast<std::int64_t>(random() % static_cast<u64>(maximum - minimum + 1));
}

[[nodiscard]] Operand operand_of(u32 slot, DataType type = DataType::FLOAT32) {
  return {.slot = slot, .type = type, .offset = 0};
}

class Check {
 public:
  test::Random random{test::kSeed + 5};
  u64 elements = 0;
  u64 different = 0;

  // describe() returns the text that is printed if the elements differ.
  template <class Describe>
  void compare(bool is_same, Describe describe) {
    ++elements;
    if (!is_same && ++different <= 20) {
      std::printf("  %s\n", std::string(describe()).c_str());
    }
  }
};

// ---- Convolutions ---------------------------------------------------------------------------------------------------

void draw_axis(test::Random& random, WindowAxis& axis, bool is_backward, bool has_long_strides) {
  axis.taps = draw(random, 1, 4);
  axis.stride = draw(random, 1, has_long_strides ? 20 : 3);
  axis.dilation = draw(random, 1, 2);
  axis.input = draw(random, 1, has_long_strides ? 5 : 14);
  const std::int64_t extent = (axis.taps - 1) * axis.dilation + 1;
  for (;; ++axis.input) {
    axis.padding = draw(random, 0, 3);
    axis.output = is_backward ? (axis.input - 1) * axis.stride + extent - 2 * axis.padding + draw(random, 0, 1)
                              : (axis.input + 2 * axis.padding - extent) / axis.stride + 1;
    if (axis.output >= 1 && (is_backward || extent <= axis.input + 2 * axis.padding)) {
      return;
    }
  }
}

[[nodiscard]] ConvolutionStep draw_convolution(test::Random& random, ProductKind kind, bool is_depthwise) {
  ConvolutionStep step{};
  step.kind = kind;
  step.windows.is_backward = kind == ProductKind::convolution ? static_cast<u32>(random() % 2) : 0;
  step.windows.is_flipped = static_cast<u32>(random() % 2);
  const bool has_long_strides = step.windows.is_backward != 0 && random() % 8 == 0;
  const u64 rank = 1 + random() % 3;
  for (u32 i = 0; i < kWindowAxes; ++i) {
    WindowAxis& axis = step.windows.axes[i];
    axis = {.input = 1, .output = 1, .taps = 1, .stride = 1, .dilation = 1};
    if (i + rank >= kWindowAxes) {
      draw_axis(random, axis, step.windows.is_backward != 0, has_long_strides);
    }
  }
  step.images = draw(random, 1, 3);
  step.groups = is_depthwise ? draw(random, 1, 9) : draw(random, 1, 2);
  step.rows = is_depthwise ? draw(random, 1, 4) : draw(random, 5, 150);
  step.channels = is_depthwise ? draw(random, 1, 3) : draw(random, 0, random() % 4 == 0 ? 300 : 40);
  return step;
}

[[nodiscard]] bool is_long(const ConvolutionStep& step) {
  return step.images * step.groups * step.rows * step.pixels() * (step.channels * step.taps() + 1) > kMaxWork;
}

// The tensors of a convolution, in any layout.
struct ConvolutionTensors {
  TestOperand& input;
  TestOperand& filter;
  TestOperand& bias;
  TestOperand& output;

  void lay_out(ConvolutionStep& step, std::int64_t factor_bytes, std::int64_t output_bytes, bool is_plain,
               test::Random& random) {
    WindowAxis* const axes = step.windows.axes;
    std::int64_t channel_step = 0;  // the stride of the filter's first dimension, which includes the groups
    const auto ordered = [&](std::vector<TestOperand::Loop> loops) {
      if (random() % 4 == 0) {  // channels last
        std::rotate(loops.begin() + 1, loops.begin() + 2, loops.end());
      }
      return loops;
    };
    input.lay_out(ordered({{step.images, &step.input_image},
                           {step.channels * step.groups, &step.input_channel},
                           {axes[0].input, &axes[0].input_step},
                           {axes[1].input, &axes[1].input_step},
                           {axes[2].input, &axes[2].input_step}}),
                  factor_bytes, is_plain, true, random);
    const bool is_backward = step.windows.is_backward != 0;
    filter.lay_out(
        ordered({{(is_backward ? step.channels : step.rows) * step.groups, &channel_step},
                 {is_backward ? step.rows : step.channels, is_backward ? &step.filter_row : &step.filter_channel},
                 {axes[0].taps, &axes[0].filter_step},
                 {axes[1].taps, &axes[1].filter_step},
                 {axes[2].taps, &axes[2].filter_step}}),
        factor_bytes, is_plain, true, random);
    (is_backward ? step.filter_channel : step.filter_row) = channel_step;
    step.filter_group = (is_backward ? step.channels : step.rows) * channel_step;
    bias.lay_out({{step.rows * step.groups, &step.bias_channel}}, 4, is_plain, true, random);
    output.lay_out(ordered({{step.images, &step.output_image},
                            {step.rows * step.groups, &step.output_channel},
                            {axes[0].output, &axes[0].output_step},
                            {axes[1].output, &axes[1].output_step},
                            {axes[2].output, &axes[2].output_step}}),
                   output_bytes, is_plain, false, random);
  }
};

// One output, and the offsets of its factors.
struct WindowOutput {
  const ConvolutionStep& step;
  WindowClasses classes;
  std::int64_t number;  // the number within its class
  std::int64_t channel;
  std::int64_t image;
  std::int64_t pixel[3];

  WindowOutput(const ConvolutionStep& from, const WindowClasses& of, std::int64_t n)
      : step(from),
        classes(of),
        number(n),
        channel(n / of.outputs() % (from.groups * from.rows)),
        image(n / of.outputs() / (from.groups * from.rows)) {
    take_apart(n % of.outputs(), of.axes[1].outputs, of.axes[2].outputs, pixel);
  }

  [[nodiscard]] std::int64_t position() const {
    std::int64_t position = image * step.output_image + channel * step.output_channel;
    for (u32 i = 0; i < kWindowAxes; ++i) {
      position +=
          (classes.axes[i].first_output + pixel[i] * classes.axes[i].output_stride) * step.windows.axes[i].output_step;
    }
    return position;
  }
  [[nodiscard]] std::int64_t depth() const { return step.channels * classes.taps(); }
  // Returns the offset of the input element, or nothing if the tap is outside the image.
  [[nodiscard]] std::optional<std::int64_t> input(std::int64_t k) const {
    std::int64_t tap[3];
    take_apart(k % classes.taps(), classes.axes[1].taps.count, classes.axes[2].taps.count, tap);
    std::int64_t offset =
        image * step.input_image + (channel / step.rows * step.channels + k / classes.taps()) * step.input_channel;
    for (u32 i = 0; i < kWindowAxes; ++i) {
      const WindowClass& along = classes.axes[i];
      const std::int64_t there = along.first + pixel[i] * along.output_move + tap[i] * along.tap_move;
      if (there < 0 || there >= step.windows.axes[i].input) {
        return std::nullopt;
      }
      offset += there * step.windows.axes[i].input_step;
    }
    return offset;
  }
  [[nodiscard]] std::int64_t filter(std::int64_t k) const {
    std::int64_t tap[3];
    take_apart(k % classes.taps(), classes.axes[1].taps.count, classes.axes[2].taps.count, tap);
    std::int64_t offset = channel / step.rows * step.filter_group + channel % step.rows * step.filter_row +
                          k / classes.taps() * step.filter_channel;
    for (u32 i = 0; i < kWindowAxes; ++i) {
      const WindowTaps& along = classes.axes[i].taps;
      offset += (along.first + tap[i] * along.step) * step.windows.axes[i].filter_step;
    }
    return offset;
  }
  template <class T>
  [[nodiscard]] std::string show(T value, T expected) const {
    return "convolution of " + std::to_string(step.channels) + " x " + std::to_string(step.taps()) + " to " +
           std::to_string(step.groups) + " x " + std::to_string(step.rows) + " x " + std::to_string(step.pixels()) +
           ", class from " + std::to_string(classes.axes[2].first_output) + ", output " + std::to_string(number) +
           ": " + std::to_string(value) + ", expected " + std::to_string(expected);
  }

 private:
  static void take_apart(std::int64_t index, std::int64_t second, std::int64_t third, std::int64_t (&parts)[3]) {
    parts[2] = index % third;
    parts[1] = index / third % second;
    parts[0] = index / third / second;
  }
};

template <class One>
void for_each_output(const ConvolutionStep& step, One one) {
  for (std::int64_t number = 0; number < all_window_classes(step.windows); ++number) {
    const WindowClasses classes = window_classes_of(step.windows, number);
    for (std::int64_t n = 0; n < step.images * step.groups * step.rows * classes.outputs(); ++n) {
      one(WindowOutput(step, classes, n));
    }
  }
}

void check_convolution(Check& check, ConvolutionStep step, bool is_plain) {
  if (is_long(step)) {
    return;
  }
  TestOperand input;
  TestOperand filter;
  TestOperand bias;
  TestOperand output;
  ConvolutionTensors{.input = input, .filter = filter, .bias = bias, .output = output}.lay_out(
      step, sizeof(f32), sizeof(f32), is_plain, check.random);
  const bool any_bits = check.random() % 4 == 0;
  for (TestOperand* const one : {&input, &filter, &bias}) {
    one->fill_floats(check.random, any_bits);
  }
  const bool has_bias = check.random() % 2 == 0;
  const Operand operands[] = {operand_of(0), operand_of(1), operand_of(has_bias ? 2 : kAbsentSlot), operand_of(3)};
  std::byte* const bases[] = {input.upload(), filter.upload(), bias.upload(), output.upload()};
  if (!run_step(product_family, step, operands, bases, check.random)) {
    return;
  }
  const std::vector<std::byte> found = output.download();
  constexpr ProductScale kScale{.alpha = 1, .beta = 1};
  for_each_output(step, [&](const WindowOutput& one) {
    const f32 total = sum_of_products(
        one.depth(),
        [&](std::int64_t k) {
          const auto offset = one.input(k);
          return offset ? input.at<f32>(*offset) : 0.0f;
        },
        [&](std::int64_t k) { return filter.at<f32>(one.filter(k)); });
    const f32 expected = has_bias ? kScale(total, bias.at<f32>(one.channel * step.bias_channel)) : kScale(total);
    const f32 value = output.in<f32>(found, one.position());
    check.compare(test::same(value, expected), [&] { return one.show(value, expected); });
    output.set(one.position(), value);  // so that only the bytes between the outputs remain to be compared
  });
  check.compare(found == output.host(), [] { return "a convolution wrote between its outputs"; });
}

// ---- Integer products -----------------------------------------------------------------------------------------------

[[nodiscard]] i32 byte_at(const TestOperand& operand, std::int64_t offset, bool is_signed) {
  return is_signed ? operand.at<i8>(offset) : operand.at<u8>(offset);
}

void check_integers(Check& check, std::int64_t rows, std::int64_t columns, std::int64_t depth, bool is_plain) {
  test::Random& random = check.random;
  IntegerStep step{};
  ProductStep& product = step.product;
  product.kind = ProductKind::integer_product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.batches = draw(random, 1, 3);
  product.batch_rank = product.batches > 1 ? 1 : 0;
  product.batch_sizes[0] = product.batches;
  step.finish = static_cast<IntegerFinish>(random() % 3);
  step.signed_a = static_cast<u32>(random() % 2);
  step.signed_b = static_cast<u32>(random() % 2);
  step.signed_output = static_cast<u32>(random() % 2);
  const bool is_quantized = step.finish == IntegerFinish::quantized;
  const bool is_float = step.finish == IntegerFinish::float32;
  const std::int64_t output_bytes = is_quantized ? 1 : 4;

  TestOperand tensors[kIntegerOperands];
  const auto of = [&](IntegerOperand which) -> TestOperand& { return tensors[static_cast<std::size_t>(which)]; };
  const auto matrix = [&](IntegerOperand which, MatrixStrides& strides, std::int64_t down, std::int64_t across,
                          std::int64_t bytes, bool is_input) {
    std::vector<TestOperand::Loop> loops = {
        {product.batches, &strides.batch[0]}, {down, &strides.row}, {across, &strides.column}};
    if (random() % 2 == 0) {
      std::swap(loops[1], loops[2]);  // transposed
    }
    of(which).lay_out(loops, bytes, is_plain, is_input, random);
  };
  const auto side = [&](IntegerOperand which, SideStrides& strides, bool has_rows, bool has_columns,
                        std::int64_t bytes) {
    const bool varies = random() % 2 == 0;
    of(which).lay_out(
        {{has_rows && varies ? rows : 1, &strides.row}, {has_columns && varies ? columns : 1, &strides.column}}, bytes,
        is_plain, true, random);
  };
  matrix(IntegerOperand::a, product.a, rows, depth, 1, true);
  matrix(IntegerOperand::b, product.b, depth, columns, 1, true);
  matrix(IntegerOperand::bias, product.c, rows, columns, 4, true);
  matrix(IntegerOperand::output, product.output, rows, columns, output_bytes, false);
  side(IntegerOperand::a_zero, step.a_zero, true, false, 1);
  side(IntegerOperand::b_zero, step.b_zero, false, true, 1);
  side(IntegerOperand::a_scale, step.a_scale, true, false, 4);
  side(IntegerOperand::b_scale, step.b_scale, false, true, 4);
  side(IntegerOperand::output_scale, step.output_scale, true, true, 4);
  side(IntegerOperand::output_zero, step.output_zero, true, true, 1);
  for (const IntegerOperand which :
       {IntegerOperand::a_scale, IntegerOperand::b_scale, IntegerOperand::output_scale, IntegerOperand::bias}) {
    of(which).fill_floats(random, random() % 8 == 0);
  }

  const auto is_given = [&](IntegerOperand which) {
    switch (which) {
      case IntegerOperand::a_scale:
      case IntegerOperand::b_scale:
        return is_quantized || is_float;
      case IntegerOperand::output_scale:
        return is_quantized;
      case IntegerOperand::output_zero:
        return is_quantized && random() % 2 == 0;
      case IntegerOperand::bias:
        return is_float && random() % 2 == 0;
      case IntegerOperand::a_zero:
      case IntegerOperand::b_zero:
        return random() % 3 != 0;
      default:
        return true;
    }
  };
  Operand operands[kIntegerOperands];
  std::byte* bases[kIntegerOperands] = {};
  for (u32 i = 0; i < kIntegerOperands; ++i) {
    operands[i] = operand_of(is_given(static_cast<IntegerOperand>(i)) ? i : kAbsentSlot);
    bases[i] = operands[i].slot != kAbsentSlot ? tensors[i].upload() : nullptr;
  }
  const auto has = [&](IntegerOperand which) { return bases[static_cast<std::size_t>(which)] != nullptr; };
  if (!run_step(product_family, step, operands, bases, random)) {
    return;
  }
  TestOperand& output = of(IntegerOperand::output);
  const std::vector<std::byte> found = output.download();
  for (std::int64_t n = 0; n < product.batches * rows * columns; ++n) {
    const std::int64_t column = n % columns;
    const std::int64_t row = n / columns % rows;
    const std::int64_t batch = n / columns / rows;
    const auto scale = [&](IntegerOperand which, const SideStrides& strides) {
      return of(which).at<f32>(row * strides.row + column * strides.column);
    };
    const i32 a_zero = has(IntegerOperand::a_zero)
                           ? byte_at(of(IntegerOperand::a_zero), row * step.a_zero.row, step.signed_a != 0)
                           : 0;
    const i32 b_zero = has(IntegerOperand::b_zero)
                           ? byte_at(of(IntegerOperand::b_zero), column * step.b_zero.column, step.signed_b != 0)
                           : 0;
    const i32 total = sum_of_integer_products(
        depth,
        [&](std::int64_t k) {
          const std::int64_t offset =
              batch_offset(product, product.a, batch) + row * product.a.row + k * product.a.column;
          return byte_at(of(IntegerOperand::a), offset, step.signed_a != 0) - a_zero;
        },
        [&](std::int64_t k) {
          const std::int64_t offset =
              batch_offset(product, product.b, batch) + k * product.b.row + column * product.b.column;
          return byte_at(of(IntegerOperand::b), offset, step.signed_b != 0) - b_zero;
        });
    const std::int64_t position =
        batch_offset(product, product.output, batch) + row * product.output.row + column * product.output.column;
    const auto show = [&](auto value, auto expected) {
      return "bytes, " + std::to_string(rows) + " x " + std::to_string(columns) + " x " + std::to_string(depth) +
             ", output " + std::to_string(n) + ": " + std::to_string(value) + ", expected " + std::to_string(expected);
    };
    if (step.finish == IntegerFinish::int32) {
      const i32 value = output.in<i32>(found, position);
      check.compare(value == total, [&] { return show(value, total); });
      output.set(position, value);
      continue;
    }
    const f32 a_scale = scale(IntegerOperand::a_scale, step.a_scale);
    const f32 b_scale = scale(IntegerOperand::b_scale, step.b_scale);
    if (is_float) {
      f32 expected = scaled_total(total, float_factor(a_scale, b_scale));
      if (has(IntegerOperand::bias)) {
        expected = expected + of(IntegerOperand::bias)
                                  .at<f32>(batch_offset(product, product.c, batch) + row * product.c.row +
                                           column * product.c.column);
      }
      const f32 value = output.in<f32>(found, position);
      check.compare(test::same(value, expected), [&] { return show(value, expected); });
      output.set(position, value);
      continue;
    }
    const f32 factor = quantized_factor(a_scale, b_scale, scale(IntegerOperand::output_scale, step.output_scale));
    const i32 zero =
        has(IntegerOperand::output_zero)
            ? byte_at(of(IntegerOperand::output_zero), row * step.output_zero.row + column * step.output_zero.column,
                      step.signed_output != 0)
            : 0;
    const u8 expected = step.signed_output != 0 ? static_cast<u8>(quantized_total<i8>(total, factor, zero))
                                                : quantized_total<u8>(total, factor, zero);
    const u8 value = output.in<u8>(found, position);
    check.compare(value == expected, [&] { return show(value, expected); });
    output.set(position, value);
  }
  check.compare(found == output.host(), [] { return "a product of bytes wrote between its outputs"; });
}

// ---- Integer convolutions -------------------------------------------------------------------------------------------

void check_integer_convolution(Check& check, const ConvolutionStep& geometry, bool is_plain) {
  test::Random& random = check.random;
  if (is_long(geometry)) {
    return;
  }
  IntegerConvolutionStep step{};
  step.convolution = geometry;
  step.finish = random() % 2 == 0 ? IntegerFinish::int32 : IntegerFinish::quantized;
  step.signed_filter = static_cast<u32>(random() % 2);
  step.signed_input = static_cast<u32>(random() % 2);
  step.signed_output = static_cast<u32>(random() % 2);
  const bool is_quantized = step.finish == IntegerFinish::quantized;
  TestOperand tensors[kIntegerOperands];
  const auto of = [&](IntegerOperand which) -> TestOperand& { return tensors[static_cast<std::size_t>(which)]; };
  ConvolutionTensors{.input = of(IntegerOperand::b),
                     .filter = of(IntegerOperand::a),
                     .bias = of(IntegerOperand::bias),
                     .output = of(IntegerOperand::output)}
      .lay_out(step.convolution, 1, is_quantized ? 1 : 4, is_plain, random);
  const std::int64_t channels = geometry.groups * geometry.rows;
  const auto lay_out = [&](IntegerOperand which, std::int64_t size, std::int64_t* stride, std::int64_t bytes) {
    of(which).lay_out({{size, stride}}, bytes, is_plain, true, random);
    if (bytes == sizeof(f32)) {
      of(which).fill_floats(random, random() % 8 == 0);
    }
  };
  std::int64_t unused = 0;
  lay_out(IntegerOperand::a_zero, random() % 2 == 0 ? channels : 1, &step.filter_zero, 1);
  lay_out(IntegerOperand::a_scale, random() % 2 == 0 ? channels : 1, &step.filter_scale, 4);
  lay_out(IntegerOperand::b_zero, 1, &unused, 1);
  lay_out(IntegerOperand::b_scale, 1, &unused, 4);
  lay_out(IntegerOperand::output_scale, 1, &unused, 4);
  lay_out(IntegerOperand::output_zero, 1, &unused, 1);

  const auto is_given = [&](IntegerOperand which) {
    switch (which) {
      case IntegerOperand::a_scale:
      case IntegerOperand::b_scale:
      case IntegerOperand::output_scale:
        return is_quantized;
      case IntegerOperand::output_zero:
      case IntegerOperand::bias:
        return is_quantized && random() % 2 == 0;
      case IntegerOperand::a_zero:
      case IntegerOperand::b_zero:
        return random() % 3 != 0;
      default:
        return true;
    }
  };
  Operand operands[kIntegerOperands];
  std::byte* bases[kIntegerOperands] = {};
  for (u32 i = 0; i < kIntegerOperands; ++i) {
    operands[i] = operand_of(is_given(static_cast<IntegerOperand>(i)) ? i : kAbsentSlot);
    bases[i] = operands[i].slot != kAbsentSlot ? tensors[i].upload() : nullptr;
  }
  const auto has = [&](IntegerOperand which) { return bases[static_cast<std::size_t>(which)] != nullptr; };
  const auto zero = [&](IntegerOperand which, std::int64_t offset, u32 is_signed) {
    return has(which) ? byte_at(of(which), offset, is_signed != 0) : 0;
  };
  if (!run_step(product_family, step, operands, bases, random)) {
    return;
  }
  TestOperand& output = of(IntegerOperand::output);
  const std::vector<std::byte> found = output.download();
  const i32 input_zero = zero(IntegerOperand::b_zero, 0, step.signed_input);
  for_each_output(step.convolution, [&](const WindowOutput& one) {
    const i32 filter_zero = zero(IntegerOperand::a_zero, one.channel * step.filter_zero, step.signed_filter);
    const i32 sum = sum_of_integer_products(
        one.depth(),
        [&](std::int64_t k) {
          return byte_at(of(IntegerOperand::a), one.filter(k), step.signed_filter != 0) - filter_zero;
        },
        [&](std::int64_t k) {
          const auto offset = one.input(k);
          return offset ? byte_at(of(IntegerOperand::b), *offset, step.signed_input != 0) - input_zero : 0;
        });
    const u32 bias =
        has(IntegerOperand::bias) ? of(IntegerOperand::bias).at<u32>(one.channel * step.convolution.bias_channel) : 0;
    const auto total = static_cast<i32>(static_cast<u32>(sum) + bias);
    const std::int64_t position = one.position();
    if (!is_quantized) {
      const i32 value = output.in<i32>(found, position);
      check.compare(value == total, [&] { return one.show(value, total); });
      output.set(position, value);
      return;
    }
    const f32 factor =
        quantized_factor(of(IntegerOperand::a_scale).at<f32>(one.channel * step.filter_scale),
                         of(IntegerOperand::b_scale).at<f32>(0), of(IntegerOperand::output_scale).at<f32>(0));
    const i32 output_zero = zero(IntegerOperand::output_zero, 0, step.signed_output);
    const u8 expected = step.signed_output != 0 ? static_cast<u8>(quantized_total<i8>(total, factor, output_zero))
                                                : quantized_total<u8>(total, factor, output_zero);
    const u8 value = output.in<u8>(found, position);
    check.compare(value == expected, [&] { return one.show(value, expected); });
    output.set(position, value);
  });
  check.compare(found == output.host(), [] { return "a convolution of bytes wrote between its outputs"; });
}

}  // namespace

void check_convolutions() {
  Check check;
  for (int n = 0; n < (g_quick ? 40 : 600); ++n) {
    check_convolution(check, draw_convolution(check.random, ProductKind::convolution, n % 3 == 0), n % 4 == 0);
  }
  report("convolutions", check.elements, check.different);
}

void check_integer_convolutions() {
  Check check;
  for (int n = 0; n < (g_quick ? 40 : 600); ++n) {
    ConvolutionStep step = draw_convolution(check.random, ProductKind::integer_convolution, n % 3 == 0);
    if (n % 10 == 1) {  // the channels fill whole words, and k is split
      step.groups = 1;
      step.rows = draw(check.random, 5, 20);
      step.channels = 4 * draw(check.random, 60, 200);
      step.images = 1;
    } else if (n % 10 == 2) {  // large tiles
      step.groups = 1;
      step.rows = draw(check.random, 100, 260);
      step.channels = draw(check.random, 1, 9);
    }
    check_integer_convolution(check, step, n % 4 == 0);
  }
  report("convolutions of bytes", check.elements, check.different);
}

void check_integer_products() {
  constexpr std::int64_t kSides[] = {1, 3, 4, 8, 31, 63, 64, 65, 100, 128, 130, 200};
  constexpr std::int64_t kDepths[] = {0, 1, 3, 4, 5, 31, 32, 33, 64, 100, 260, 1000};
  Check check;
  const auto one_of = [&](const auto& from) { return from[check.random() % std::size(from)]; };
  for (int n = 0; n < (g_quick ? 30 : 400); ++n) {
    check_integers(check, one_of(kSides), one_of(kSides), one_of(kDepths), n % 3 == 0);
  }
  report("products of bytes", check.elements, check.different);
}

}  // namespace anydml::cuda
