// SPDX-License-Identifier: MIT
// Checks CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION through the C API, output by output, against a second
// implementation of their definition that ignores layouts, packing, threads and vectors. The test runs with several
// thread counts and targets; since all runs match the same reference, they also match each other.
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "graph/compile.h"
#include "ops/product/cpu/integer_kernels.h"
#include "ops/product/cpu/integer_pairs.h"
#include "ops/product/scalar/integer.h"
#include "support/byte_list.h"
#include "support/graph_text.h"
#include "support/graph_twin.h"
#include "support/layer.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

// Runs the kernel for few channels on every target, overwriting the totals or adding to them. Nothing else is written.
TEST(IntegerLines, GiveTheDefinition) {
  std::mt19937 random(2);
  for (const cpu::Target target : cpu::machine_targets()) {
    for (const bool is_signed : {false, true}) {
      for (std::int64_t count = 1; count < 300; count += count < 70 ? 1 : 37) {
        const std::int64_t depth = 1 + count % 11;
        const bool is_first = random() % 2 == 0;
        const ByteList from = random_bytes(count + 200 + kIntegerLineSlack, random);
        std::vector<std::int64_t> offsets;
        std::vector<i16> weights;
        for (std::int64_t k = 0; k < depth; ++k) {
          offsets.push_back(static_cast<std::int64_t>(random() % 200));
          weights.push_back(random() % 4 == 0 ? i16{255} : static_cast<i16>(static_cast<int>(random() % 511) - 255));
        }
        std::vector<u32> totals(static_cast<std::size_t>(count + 1));
        for (u32& total : totals) {
          total = static_cast<u32>(random());
        }
        std::vector<u32> expected = totals;
        for (std::int64_t i = 0; i < count; ++i) {
          const i32 sum = sum_of_integer_products(
              depth, [&](i64 k) { return i32{weights[static_cast<std::size_t>(k)]}; },
              [&](i64 k) {
                return number_of(from[static_cast<std::size_t>(offsets[static_cast<std::size_t>(k)] + i)], is_signed);
              });
          u32& total = expected[static_cast<std::size_t>(i)];
          total = static_cast<u32>(sum) + (is_first ? 0 : total);
        }
        integer_line(target, is_signed)(reinterpret_cast<const std::byte*>(from.data()), offsets.data(), weights.data(),
                                        depth, totals.data(), count, is_first);
        ASSERT_EQ(totals, expected) << cpu::target_name(target) << ", " << count << " elements, signed " << is_signed;
      }
    }
  }
}

// Copies pairs of rows with padding on any side. Nothing is written before the copy or behind its slack.
TEST(IntegerPairs, CopiesHoldTheRowsWithPadding) {
  std::mt19937 random(3);
  const auto number = [&](std::int64_t count) { return static_cast<std::int64_t>(random()) % count; };
  for (const cpu::Target target : cpu::machine_targets()) {
    for (std::int64_t columns = 1; columns <= 70; ++columns) {
      for (const std::int64_t stride : {1, 2, 3}) {
        const bool is_signed = random() % 2 == 0;
        PairedRows rows{.from = nullptr,
                        .row_distance = 0,
                        .image_rows = 1 + number(6),
                        .image_columns = 1 + number(80),
                        .first_row = number(9) - 4,
                        .first_column = number(12) - 5,
                        .pairs = 1 + number(4),
                        .columns = columns,
                        .stride = stride,
                        .row_step = (columns + stride - 1) / stride + number(2),
                        .plane_step = 0,
                        .zero = is_signed ? -100 : 200,
                        .to = nullptr};
        rows.row_distance = rows.image_columns + number(3);
        rows.plane_step = rows.pairs * rows.row_step + kPairSlack;
        const ByteList image = random_bytes((rows.image_rows - 1) * rows.row_distance + rows.image_columns, random);
        constexpr std::size_t kBefore = 1;
        std::vector<u32> copied(static_cast<std::size_t>(stride * rows.plane_step) + kBefore + 1, 77);
        rows.from = reinterpret_cast<const std::byte*>(image.data());
        rows.to = copied.data() + kBefore;
        const auto element = [&](std::int64_t row, std::int64_t column) {
          const bool is_inside = row >= 0 && row < rows.image_rows && column >= 0 && column < rows.image_columns;
          const auto at = static_cast<std::size_t>(is_inside ? row * rows.row_distance + column : 0);
          return is_inside ? static_cast<u32>(number_of(image[at], is_signed) - rows.zero) & 0xFFFF : 0U;
        };
        const IntegerPairs& kernels = integer_pairs(target);
        (is_signed ? kernels.copy_signed : kernels.copy_unsigned)(rows);
        ASSERT_EQ(copied.front(), 77U);
        ASSERT_EQ(copied.back(), 77U);
        for (std::int64_t pair = 0; pair < rows.pairs; ++pair) {
          for (std::int64_t i = 0; i < columns; ++i) {
            const std::int64_t row = rows.first_row + 2 * pair;
            const u32 expected = element(row, rows.first_column + i) | element(row + 1, rows.first_column + i) << 16;
            ASSERT_EQ(rows.to[i % stride * rows.plane_step + pair * rows.row_step + i / stride], expected)
                << cpu::target_name(target) << ", " << columns << " columns, stride " << stride << ", pair " << pair
                << ", column " << i;
          }
        }
      }
    }
  }
}

// ---- Operators ------------------------------------------------------------------------------------------------------

enum class Zeros { absent, one, each };

// The tensors of a convolution.
struct Given {
  bool signed_input;
  bool signed_filter;
  bool signed_output;
  Zeros input_zeros;  // at most one
  Zeros filter_zeros;
  ByteList x;
  ByteList w;
  ByteList x_zero;
  ByteList w_zero;
  ByteList y_zero;
  std::vector<f32> x_scale;
  std::vector<f32> w_scale;
  std::vector<f32> y_scale;
  std::vector<i32> bias;

  Given(const Layer& layer, unsigned form, std::mt19937& random)
      : signed_input((form & 1) != 0),
        signed_filter((form & 2) != 0),
        signed_output((form & 4) != 0),
        input_zeros(static_cast<Zeros>(form / 8 % 2)),
        filter_zeros(static_cast<Zeros>(form / 16 % 3)),
        x(random_bytes(count_of(layer.input_sizes()), random)),
        w(random_bytes(count_of(layer.filter_sizes()), random)),
        x_zero(random_bytes(1, random)),
        w_zero(random_bytes(channels(layer), random)),
        y_zero(random_bytes(1, random)),
        x_scale{0.02F} {
    const std::int64_t depth = count_of(layer.filter_sizes()) / (layer.outs * layer.groups);
    y_scale = {0.05F * static_cast<f32>(depth + 1)};
    for (std::int64_t i = 0; i < channels(layer); ++i) {
      w_scale.push_back(static_cast<f32>(1 + random() % 50) / 16);
    }
    for (std::int64_t i = 0; i < layer.outs * layer.groups; ++i) {
      bias.push_back(static_cast<i32>(static_cast<u32>(random())) >> (i % 3 == 0 ? 0 : 14));
    }
  }
  [[nodiscard]] std::int64_t channels(const Layer& layer) const {
    return filter_zeros == Zeros::each ? layer.outs * layer.groups : 1;
  }
  // The index of an output channel within the filter.
  template <class T>
  [[nodiscard]] static T of_channel(const std::vector<T>& list, std::int64_t channel) {
    return list[list.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
  }
};

std::vector<i32> expected_totals(const Layer& layer, const Given& given) {
  std::vector<i32> totals;
  const Sizes input_sizes = layer.input_sizes();
  const Sizes filter_sizes = layer.filter_sizes();
  const i32 x_zero = given.input_zeros == Zeros::absent ? 0 : number_of(given.x_zero[0], given.signed_input);
  for_each(layer.output_sizes(), [&](const Sizes& output) {
    u32 total = 0;
    const i32 w_zero = given.filter_zeros == Zeros::absent
                           ? 0
                           : number_of(Given::of_channel(given.w_zero, output[1]), given.signed_filter);
    for (std::int64_t channel = 0; channel < layer.ins; ++channel) {
      Sizes offset = {output[0], output[1] / layer.outs * layer.ins + channel};
      Sizes weight = {output[1], channel};
      offset.resize(input_sizes.size());
      weight.resize(input_sizes.size());
      for_each(layer.kernel, [&](const Sizes& tap) {
        for (std::size_t i = 0; i < layer.rank(); ++i) {
          offset[i + 2] = output[i + 2] * static_cast<std::int64_t>(layer.strides[i]) +
                          tap[i] * static_cast<std::int64_t>(layer.dilations[i]) -
                          static_cast<std::int64_t>(layer.start[i]);
          weight[i + 2] = tap[i];
          if (offset[i + 2] < 0 || offset[i + 2] >= layer.spatial[i]) {
            return;
          }
        }
        const i32 x = number_of(given.x[static_cast<std::size_t>(offset_of(input_sizes, offset))], given.signed_input);
        const i32 w =
            number_of(given.w[static_cast<std::size_t>(offset_of(filter_sizes, weight))], given.signed_filter);
        total += static_cast<u32>((x - x_zero) * (w - w_zero));
      });
    }
    totals.push_back(static_cast<i32>(total));
  });
  return totals;
}

ByteList expected_bytes(const Layer& layer, const Given& given, const std::vector<i32>& totals, bool has_bias) {
  ByteList bytes;
  const i32 zero = given.input_zeros == Zeros::absent ? 0 : number_of(given.y_zero[0], given.signed_output);
  std::size_t i = 0;
  for_each(layer.output_sizes(), [&](const Sizes& output) {
    const auto channel = static_cast<std::size_t>(output[1]);
    const auto total =
        static_cast<i32>(static_cast<u32>(totals[i++]) + (has_bias ? static_cast<u32>(given.bias[channel]) : 0));
    const f32 factor =
        quantized_factor(given.x_scale[0], Given::of_channel(given.w_scale, output[1]), given.y_scale[0]);
    bytes.push_back(given.signed_output ? static_cast<u8>(quantized_total<i8>(total, factor, zero))
                                        : quantized_total<u8>(total, factor, zero));
  });
  return bytes;
}

anydml_type byte_type(bool is_signed) { return is_signed ? ANYDML_INT8 : ANYDML_UINT8; }

// Runs with the filter passed to each run, and as a constant, which is copied.
template <class T>
void expect_run(const char* name, const Layer& layer, std::vector<anydml_tensor> inputs, std::size_t filter,
                anydml_type type, const std::vector<T>& wanted, unsigned form) {
  const Form form_out(type, layer.output_sizes());
  const auto attributes = layer.attributes(true);
  for (const bool is_constant : {false, true}) {
    std::vector<T> out(wanted.size(), T{77});
    const anydml_tensor output = form_out.tensor(out.data());
    std::vector<const void*> addresses;
    for (const anydml_tensor& input : inputs) {
      addresses.push_back(input.data);
    }
    if (is_constant) {
      inputs[filter].type |= ANYDML_CONSTANT;
      addresses[filter] = nullptr;
    }
    anydml_compiled* compiled = nullptr;
    ASSERT_EQ(anydml_compile(nullptr, name, inputs.data(), inputs.size(), &output, 1, attributes.data(),
                             attributes.size(), &compiled),
              ANYDML_OK)
        << anydml_last_error();
    void* const outputs[] = {out.data()};
    ASSERT_EQ(anydml_compiled_run(compiled, addresses.data(), addresses.size(), outputs, 1), ANYDML_OK)
        << anydml_last_error();
    anydml_compiled_release(compiled);
    ASSERT_EQ(out, wanted) << name << " " << text_of(layer) << ", form " << form << ", constant " << is_constant;
  }
}

void expect_layer(const Layer& layer, unsigned form, std::mt19937& random, std::optional<f32> output_scale = {}) {
  Given given(layer, form, random);
  given.y_scale = {output_scale.value_or(given.y_scale[0])};
  const bool has_bias = form % 5 != 0;
  const Sizes ones(layer.rank() + 2, 1);
  const Sizes channels = layer.with_space(1, given.channels(layer), Sizes(layer.rank(), 1));
  const Form x(byte_type(given.signed_input), layer.input_sizes());
  const Form w(byte_type(given.signed_filter), layer.filter_sizes());
  const Form x_zero(x.type, ones);
  const Form w_zero(w.type, channels);
  const Form y_zero(byte_type(given.signed_output), ones);
  const Form scale(ANYDML_FLOAT32, ones);
  const Form w_scale(ANYDML_FLOAT32, channels);
  const Form bias(ANYDML_INT32, layer.bias_sizes());
  const anydml_tensor none = {};
  const bool has_input_zero = given.input_zeros != Zeros::absent;
  const anydml_tensor given_x_zero = has_input_zero ? x_zero.tensor(given.x_zero.data()) : none;
  const anydml_tensor given_w_zero = given.filter_zeros != Zeros::absent ? w_zero.tensor(given.w_zero.data()) : none;
  const std::vector<i32> totals = expected_totals(layer, given);
  expect_run("CONVOLUTION_INTEGER", layer,
             {x.tensor(given.x.data()), given_x_zero, w.tensor(given.w.data()), given_w_zero}, 2, ANYDML_INT32, totals,
             form);
  expect_run("QUANTIZED_LINEAR_CONVOLUTION", layer,
             {x.tensor(given.x.data()), scale.tensor(given.x_scale.data()), given_x_zero, w.tensor(given.w.data()),
              w_scale.tensor(given.w_scale.data()), given_w_zero, has_bias ? bias.tensor(given.bias.data()) : none,
              scale.tensor(given.y_scale.data()), has_input_zero ? y_zero.tensor(given.y_zero.data()) : none},
             3, y_zero.type, expected_bytes(layer, given, totals, has_bias), form);
}

constexpr unsigned kForms = 48;

TEST(IntegerConvolution, EverySignAndZeroPoint) {
  std::mt19937 random(5);
  for (unsigned form = 0; form < kForms; form += kSanitized ? 5 : 1) {
    for (const std::uint64_t stride : {1U, 2U}) {
      Layer layer{.spatial = {6, 11}, .kernel = {3, 2}, .ins = 3, .outs = 1 + form % 9};
      layer.groups = (form & 4) != 0 ? 2 : 1;
      layer.dilations = (form & 8) != 0 ? Numbers{2, 3} : Numbers{1, 1};
      layer.start = {1, 2};
      layer.end = {2, stride};
      layer.strides = {stride, 3 - stride};
      expect_layer(layer, form, random);
    }
    expect_layer({.spatial = {3, 5}, .kernel = {1, 1}, .ins = 9, .outs = 3 + form % 20}, form, random);
  }
}

TEST(IntegerConvolution, OneAndThreeDimensions) {
  std::mt19937 random(6);
  for (const unsigned form : {0U, 11U, 40U, 47U}) {
    expect_layer({.spatial = {60},
                  .kernel = {7},
                  .ins = 4,
                  .outs = 10,
                  .strides = {3},
                  .dilations = {2},
                  .start = {2},
                  .end = {3}},
                 form, random);
    expect_layer({.spatial = {4, 5, 9},
                  .kernel = {2, 3, 3},
                  .ins = 5,
                  .outs = 8,
                  .images = 2,
                  .strides = {1, 2, 2},
                  .start = {1, 0, 1},
                  .end = {1, 1, 1}},
                 form, random);
    expect_layer({.spatial = {9, 1}, .kernel = {3, 1}, .ins = 5, .outs = 8}, form, random);
  }
}

TEST(IntegerConvolution, EveryNumberOfChannelsAndPixels) {
  std::mt19937 random(7);
  for (std::int64_t channels = 1; channels < 40; channels += kSanitized ? 7 : 1) {
    const auto form = static_cast<unsigned>(random() % kForms);
    expect_layer(
        {.spatial = {3, channels}, .kernel = {3, 3}, .ins = 2, .outs = channels, .start = {1, 1}, .end = {1, 1}}, form,
        random);
    expect_layer({.spatial = {5, channels},
                  .kernel = {3, 3},
                  .groups = 3,
                  .strides = {channels % 2 == 0 ? 1U : 2U, 2},
                  .start = {1, 1},
                  .end = {1, 1}},
                 form, random);
    expect_layer({.spatial = {2, channels}, .kernel = {1, 1}, .ins = 20, .outs = 40 - channels}, form, random);
  }
}

// Groups with one input channel: every width, with other sizes at random, also filters that are wider than the image.
TEST(IntegerConvolution, Depthwise) {
  std::mt19937 random(11);
  const auto number = [&](std::uint64_t least, std::uint64_t most) { return least + random() % (most - least + 1); };
  for (std::int64_t width = 1; width <= 70; ++width) {
    for (int i = 0; i < (kSanitized ? 1 : 3); ++i) {
      Layer layer{.spatial = {static_cast<std::int64_t>(number(1, 12)), width},
                  .kernel = {static_cast<std::int64_t>(number(1, 5)), static_cast<std::int64_t>(number(1, 5))},
                  .outs = static_cast<std::int64_t>(number(1, 3)),
                  .groups = static_cast<std::int64_t>(number(1, 4)),
                  .images = static_cast<std::int64_t>(number(1, 2)),
                  .strides = {number(1, 4), number(1, 4)},
                  .dilations = {number(1, 3), number(1, 5)}};
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const auto reach = static_cast<std::uint64_t>(layer.kernel[axis] - 1) * layer.dilations[axis];
        layer.start[axis] = number(0, 4);
        layer.end[axis] = reach + number(0, 2);  // so that there is an output
      }
      expect_layer(layer, static_cast<unsigned>(random() % kForms), random);
    }
  }
  expect_layer({.spatial = {97, 130}, .kernel = {3, 3}, .groups = 3, .start = {1, 1}, .end = {1, 1}}, 45, random);
  expect_layer({.spatial = {3, 9000}, .kernel = {3, 5}, .groups = 2, .strides = {1, 2}, .start = {1, 2}, .end = {1, 2}},
               11, random);
}

// Sizes around the ends of blocks, for each algorithm, and sums that exceed 32 bits.
TEST(IntegerConvolution, LongSums) {
  std::mt19937 random(8);
  for (const std::int64_t outs : {2, 20}) {
    for (const std::int64_t ins : {56, 57, 114}) {
      expect_layer({.spatial = {5, 6}, .kernel = {3, 3}, .ins = ins, .outs = outs, .start = {1, 1}, .end = {1, 1}}, 43,
                   random);
    }
    expect_layer({.spatial = {5, 6}, .kernel = {1, 1}, .ins = 513, .outs = outs}, 40, random);
    expect_layer({.spatial = {2, 2}, .kernel = {2, 2}, .ins = 9000, .outs = outs}, 24, random);
  }
}

// Several tiles, shared by threads.
TEST(IntegerConvolution, LargeOnes) {
  std::mt19937 random(9);
  expect_layer({.spatial = {30, 40}, .kernel = {3, 3}, .ins = 16, .outs = 40, .start = {1, 1}, .end = {1, 1}}, 42,
               random);
  expect_layer({.spatial = {9, 700}, .kernel = {3, 5}, .ins = 4, .outs = 9, .start = {1, 2}, .end = {1, 2}}, 11,
               random);
  expect_layer({.spatial = {60, 60},
                .kernel = {3, 3},
                .groups = 24,
                .images = 2,
                .strides = {2, 2},
                .start = {1, 1},
                .end = {1, 1}},
               46, random);
  expect_layer({.spatial = {7, 7}, .kernel = {1, 1}, .ins = 70, .outs = 300, .images = 3}, 10, random);
  if (!kSanitized) {
    expect_layer({.spatial = {7, 7}, .kernel = {3, 3}, .ins = 64, .outs = 280, .start = {1, 1}, .end = {1, 1}}, 41,
                 random);
    expect_layer({.spatial = {40, 50}, .kernel = {1, 1}, .ins = 40, .outs = 60, .groups = 2}, 8, random);
  }
}

// So many channels that they are copied in several blocks.
TEST(IntegerConvolution, ManyChannelsAndPixels) {
  std::mt19937 random(12);
  for (const unsigned form : {18U, 43U}) {
    expect_layer({.spatial = {16, 32}, .kernel = {1, 1}, .ins = 261, .outs = 3}, form, random);
  }
}

// The products of scales are infinite, NaN or 0.
TEST(IntegerConvolution, FactorsThatAreNotFinite) {
  std::mt19937 random(13);
  constexpr f32 kInfinity = std::numeric_limits<f32>::infinity();
  for (const f32 scale : {0.0F, -0.0F, kInfinity, -kInfinity, std::numeric_limits<f32>::quiet_NaN(), 1e-42F}) {
    for (const unsigned form : {4U, 42U, 47U}) {
      const Layer plain{.spatial = {6, 9}, .kernel = {3, 3}, .ins = 5, .outs = 7, .start = {1, 1}, .end = {1, 1}};
      expect_layer(plain, form, random, scale);
      expect_layer({.spatial = {6, 9}, .kernel = {1, 1}, .ins = 5, .outs = 7}, form, random, scale);
      expect_layer({.spatial = {6, 9}, .kernel = {3, 3}, .groups = 3, .start = {1, 1}, .end = {1, 1}}, form, random,
                   scale);
    }
  }
}

// The following operators are fused into the step and give the same bits as on their own.
TEST(IntegerConvolution, InAGraphWithItsNeighbors) {
  std::mt19937 random(10);
  const std::vector<Layer> layers = {
      {.spatial = {9, 10}, .kernel = {3, 3}, .ins = 3, .outs = 20, .images = 2, .start = {1, 1}, .end = {1, 1}},
      {.spatial = {40, 30}, .kernel = {1, 1}, .ins = 8, .outs = 40, .groups = 2},
      {.spatial = {30, 33}, .kernel = {3, 3}, .groups = 5, .images = 2, .strides = {2, 2}}};
  for (const Layer& layer : layers) {
    for (unsigned how = 0; how < 4; ++how) {
      const Form sums(ANYDML_INT32, layer.output_sizes());
      const Form out(ANYDML_FLOAT32, layer.output_sizes());
      const Form one(ANYDML_UINT8, Sizes(4, 1));
      Twin twin;
      const std::size_t x = twin.input(Form(ANYDML_UINT8, layer.input_sizes()),
                                       bytes_of(random_bytes(count_of(layer.input_sizes()), random)));
      const Form form_w(ANYDML_UINT8, layer.filter_sizes());
      Bytes weights = bytes_of(random_bytes(count_of(layer.filter_sizes()), random));
      const std::size_t w =
          (how & 1) != 0 ? twin.constant(form_w, std::move(weights)) : twin.input(form_w, std::move(weights));
      const std::size_t zero = twin.input(one, bytes_of(ByteList{131}));
      const std::size_t sum = twin.run("CONVOLUTION_INTEGER", {x, zero, w, zero}, sums, layer.attributes(true));
      const std::size_t real = twin.run("CAST", {sum}, out);
      twin.output(twin.run("ACTIVATION_RELU", {real}, out));
      if ((how & 2) != 0) {
        twin.output(sum);
      }
      twin.compile();
      EXPECT_EQ(twin.difference(), "") << text_of(layer) << ", how " << how;
    }
  }
}

std::string plan_of(DeviceTraits traits) {
  std::string shown;
  traits.joins_from = 1;
  const auto plans = compile_graph(
      parse_graph("x = input 288\n"
                  "w = owned 576\n"
                  "p = CONVOLUTION_INTEGER x:u8[1,8,6,6] - w:i8[8,8,3,3] - -> i32[1,8,6,6] Strides=1,1 Dilations=1,1 "
                  "StartPadding=1,1 EndPadding=1,1 GroupCount=1\n"
                  "y = CAST p:i32[1,8,6,6] -> f32[1,8,6,6]\n"
                  "out y\n"),
      traits, &shown);
  return plans.ok() ? shown.substr(shown.find("nodes\n") + 6) : plans.error().message;
}

TEST(IntegerConvolutionPlan, FiltersArePackedBeforehandAndTheEpilogueIsPartOfTheStep) {
  EXPECT_EQ(plan_of({.vector_bytes = 16}),
            "initialize: %0 INTEGER_FILTER | reads input1 | writes persistent+0\n"
            "initialize: 1 step, 0 bytes of temporary for 0 bytes of values\n"
            "run: %1 INTEGER_CONVOLUTION; epilogue %2 CAST | reads persistent+0, input0 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

TEST(IntegerConvolutionPlan, ADeviceThatPacksNothingTakesTheFilterAsItIs) {
  EXPECT_EQ(plan_of({.vector_bytes = 0}),
            "run: %0 INTEGER_CONVOLUTION; epilogue %1 CAST | reads persistent+0, input0 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

std::string error_of(const Layer& layer, const Sizes& output, const Sizes& filter_zero = {1},
                     const std::vector<anydml_attribute>& attributes = {}) {
  static u8 data[8192];
  const Form x(ANYDML_UINT8, layer.input_sizes());
  const Form w(ANYDML_INT8, layer.filter_sizes());
  const Form zero(ANYDML_INT8, filter_zero);
  const Form out(ANYDML_INT32, output);
  const anydml_tensor inputs[] = {x.tensor(data), {}, w.tensor(data), zero.tensor(data)};
  const anydml_tensor result = out.tensor(data + 4096);
  const auto all = attributes.empty() ? layer.attributes(true) : attributes;
  return anydml_run(nullptr, "CONVOLUTION_INTEGER", inputs, std::size(inputs), &result, 1, all.data(), all.size()) ==
                 ANYDML_OK
             ? ""
             : anydml_last_error();
}

TEST(IntegerConvolutionErrors, NameTheField) {
  const Layer plain{.spatial = {5, 6}, .kernel = {3, 3}, .ins = 2, .outs = 6};
  EXPECT_EQ(error_of(plain, plain.output_sizes()), "");
  EXPECT_EQ(error_of(plain, plain.output_sizes(), {6}), "");
  EXPECT_EQ(error_of(plain, {1, 6, 3, 5}), "CONVOLUTION_INTEGER: OutputTensor: Sizes[3] is 5; expected 4");
  EXPECT_EQ(error_of(plain, {2, 6, 3, 4}),
            "CONVOLUTION_INTEGER: OutputTensor: Sizes[0] is 2; expected 1, the images of InputTensor");
  EXPECT_EQ(error_of(plain, {1, 5, 3, 4}),
            "CONVOLUTION_INTEGER: OutputTensor: Sizes[1] is 5; expected 6, the output channels of FilterTensor");
  EXPECT_EQ(error_of(plain, plain.output_sizes(), {2, 3}),
            "CONVOLUTION_INTEGER: FilterZeroPointTensor: has several dimensions that are not 1; expected at most "
            "one of them");
  EXPECT_NE(error_of(plain, plain.output_sizes(), {5}), "");
  Layer wrong = plain;
  wrong.strides = {1, 0};
  EXPECT_EQ(error_of(wrong, {1, 6, 3, 4}), "CONVOLUTION_INTEGER: Strides: Strides[1] is 0; expected 1 or more");
  wrong = plain;
  wrong.dilations = {0, 1};
  EXPECT_EQ(error_of(wrong, {1, 6, 3, 4}), "CONVOLUTION_INTEGER: Dilations: Dilations[0] is 0; expected 1 or more");
  wrong.dilations = {4, 1};
  EXPECT_EQ(error_of(wrong, {1, 6, 3, 4}),
            "CONVOLUTION_INTEGER: InputTensor: Sizes[2] is 5, and 5 with its padding; expected 9 or more, the extent "
            "of the filter");
  auto attributes = plain.attributes(true);
  attributes.back().value.i64 = 0;
  EXPECT_EQ(error_of(plain, plain.output_sizes(), {1}, attributes),
            "CONVOLUTION_INTEGER: GroupCount: is 0; expected 1 or more");
  attributes.back().value.i64 = 2;
  EXPECT_EQ(error_of(plain, plain.output_sizes(), {1}, attributes),
            "CONVOLUTION_INTEGER: InputTensor: Sizes[1] is 2; expected 4, the input channels of FilterTensor for each "
            "group");
  attributes.back().value.i64 = 4;
  EXPECT_EQ(error_of(plain, plain.output_sizes(), {1}, attributes),
            "CONVOLUTION_INTEGER: OutputTensor: Sizes[1] is 6; expected a multiple of GroupCount, which is 4");
  // Three dimensions with attributes for two spatial dimensions.
  const Layer flat{.spatial = {9}, .kernel = {3}, .ins = 2, .outs = 6};
  attributes = plain.attributes(true);
  EXPECT_EQ(error_of(flat, flat.output_sizes(), {1}, attributes),
            "CONVOLUTION_INTEGER: Strides: has 2 numbers; expected 1, since InputTensor has 3 dimensions");
}

TEST(IntegerConvolutionErrors, NameTheTypes) {
  static u8 data[4096];
  const Layer layer{.spatial = {5, 6}, .kernel = {3, 3}, .ins = 2, .outs = 4};
  const auto attributes = layer.attributes(true);
  const auto error = [&](anydml_type input, anydml_type filter, anydml_type output) {
    const Form x(input, layer.input_sizes());
    const Form w(filter, layer.filter_sizes());
    const Form out(output, layer.output_sizes());
    const anydml_tensor inputs[] = {x.tensor(data), {}, w.tensor(data), {}};
    const anydml_tensor result = out.tensor(data + 2048);
    EXPECT_NE(anydml_run(nullptr, "CONVOLUTION_INTEGER", inputs, std::size(inputs), &result, 1, attributes.data(),
                         attributes.size()),
              ANYDML_OK);
    return std::string(anydml_last_error());
  };
  EXPECT_EQ(error(ANYDML_INT16, ANYDML_INT8, ANYDML_INT32),
            "CONVOLUTION_INTEGER: InputTensor: type is INT16; expected UINT8, INT8");
  EXPECT_EQ(error(ANYDML_UINT8, ANYDML_FLOAT32, ANYDML_INT32),
            "CONVOLUTION_INTEGER: FilterTensor: type is FLOAT32; expected UINT8, INT8");
  EXPECT_EQ(error(ANYDML_UINT8, ANYDML_INT8, ANYDML_INT8),
            "CONVOLUTION_INTEGER: OutputTensor: type is INT8; expected INT32");
}

}  // namespace
}  // namespace anydml::test
