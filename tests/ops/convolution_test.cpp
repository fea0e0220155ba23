// SPDX-License-Identifier: MIT
// Checks CONVOLUTION through the C API, output by output, against an independent implementation of its definition that
// ignores layouts, output classes, threads and vectors. The test runs with several thread counts and targets; since all
// runs match the same reference, they also match each other.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "graph/compile.h"
#include "support/graph_text.h"
#include "support/graph_twin.h"
#include "support/layer.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

using Floats = std::vector<float>;

Floats random_floats(const Sizes& sizes, std::mt19937& random, bool special = false) {
  Floats values(static_cast<std::size_t>(count_of(sizes)));
  std::normal_distribution<float> normal;
  for (float& value : values) {
    value = random() % 16 == 0 ? 0.0F : normal(random);
    if (special && random() % 512 == 0) {
      value = random() % 2 == 0 ? INFINITY : random() % 2 == 0 ? -INFINITY : NAN;
    }
  }
  return values;
}

// Sums chains of at most 256 products over the channels and the taps that count, in the filter's order; taps outside
// the input are +0.
Floats expected(const Layer& layer, const Floats& x, const Floats& w, const Floats& bias) {
  Floats result;
  const Sizes input_sizes = layer.input_sizes();
  const Sizes filter_sizes = layer.filter_sizes();
  Sizes offset(input_sizes.size());
  Sizes weight(input_sizes.size());
  // Finds the position in the input, possibly outside of it, and the weight. Returns false if the tap does not count.
  const auto find_position = [&](const Sizes& output, const Sizes& tap) {
    for (std::size_t i = 0; i < layer.rank(); ++i) {
      const int64_t number = layer.flipped ? layer.kernel[i] - 1 - tap[i] : tap[i];
      const auto stride = static_cast<int64_t>(layer.strides[i]);
      const int64_t moved = number * static_cast<int64_t>(layer.dilations[i]);
      const auto start = static_cast<int64_t>(layer.start[i]);
      const int64_t at = layer.backward ? output[i + 2] + start - moved : output[i + 2] * stride + moved - start;
      if (layer.backward && at % stride != 0) {
        return false;
      }
      offset[i + 2] = layer.backward ? at / stride : at;
      weight[i + 2] = tap[i];
    }
    return true;
  };
  const auto element = [&] {
    for (std::size_t i = 0; i < layer.rank(); ++i) {
      if (offset[i + 2] < 0 || offset[i + 2] >= layer.spatial[i]) {
        return 0.0F;
      }
    }
    return x[static_cast<std::size_t>(offset_of(input_sizes, offset))];
  };
  for_each(layer.output_sizes(), [&](const Sizes& output) {
    const int64_t group = output[1] / layer.outs;
    float total = 0;
    float chain = 0;
    int64_t k = 0;
    offset[0] = output[0];
    for (int64_t channel = 0; channel < layer.ins; ++channel) {
      offset[1] = group * layer.ins + channel;
      weight[0] = layer.backward ? offset[1] : output[1];
      weight[1] = layer.backward ? output[1] % layer.outs : channel;
      for_each(layer.kernel, [&](const Sizes& tap) {
        if (!find_position(output, tap)) {
          return;
        }
        if (k != 0 && k % 256 == 0) {
          total = k == 256 ? chain : total + chain;
          chain = 0;
        }
        chain = std::fma(element(), w[static_cast<std::size_t>(offset_of(filter_sizes, weight))], chain);
        ++k;
      });
    }
    total = k <= 256 ? chain : total + chain;
    result.push_back(bias.empty() ? total : total + bias[static_cast<std::size_t>(output[1])]);
  });
  return result;
}

// All NaNs are equal; +0 and -0 differ.
std::string difference(const Floats& actual, const Floats& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::memcmp(&actual[i], &wanted[i], sizeof(float)) != 0 && !(std::isnan(actual[i]) && std::isnan(wanted[i]))) {
      return "output " + std::to_string(i) + " is " + std::to_string(actual[i]) + ", expected " +
             std::to_string(wanted[i]);
    }
  }
  return "";
}

// Checks a layer with the filter passed to each run, and with the filter as a constant.
void expect_layer(const Layer& layer, std::mt19937& random, bool has_bias, bool special = false) {
  const Floats x = random_floats(layer.input_sizes(), random, special);
  const Floats w = random_floats(layer.filter_sizes(), random, special);
  const Floats bias = has_bias ? random_floats(layer.bias_sizes(), random) : Floats();
  const Floats wanted = expected(layer, x, w, bias);
  Floats held_x = x;
  Floats held_w = w;
  Floats held_bias = bias;
  const Form form_x(ANYDML_FLOAT32, layer.input_sizes());
  const Form form_w(ANYDML_FLOAT32, layer.filter_sizes());
  const Form form_bias(ANYDML_FLOAT32, layer.bias_sizes());
  const Form form_out(ANYDML_FLOAT32, layer.output_sizes());
  std::vector<anydml_tensor> inputs = {form_x.tensor(held_x.data()), form_w.tensor(held_w.data())};
  if (has_bias) {
    inputs.push_back(form_bias.tensor(held_bias.data()));
  }
  const auto attributes = layer.attributes();
  for (const bool is_constant : {false, true}) {
    Floats out(wanted.size(), 77.0F);
    const anydml_tensor output = form_out.tensor(out.data());
    inputs[1].type = ANYDML_FLOAT32 | (is_constant ? ANYDML_CONSTANT : 0);
    anydml_compiled* compiled = nullptr;
    ASSERT_EQ(anydml_compile(nullptr, "CONVOLUTION", inputs.data(), inputs.size(), &output, 1, attributes.data(),
                             attributes.size(), &compiled),
              ANYDML_OK)
        << anydml_last_error();
    const void* addresses[] = {held_x.data(), is_constant ? nullptr : held_w.data(), held_bias.data()};
    void* const outputs[] = {out.data()};
    ASSERT_EQ(anydml_compiled_run(compiled, addresses, std::size(addresses), outputs, 1), ANYDML_OK)
        << anydml_last_error();
    anydml_compiled_release(compiled);
    EXPECT_EQ(difference(out, wanted), "") << text_of(layer) << ", constant " << is_constant;
  }
}

TEST(Convolution, EveryFormOfSmallOnes) {
  std::mt19937 random(5);
  for (unsigned form = 0; form < 64; form += kSanitized ? 5 : 1) {
    for (const uint64_t stride : {1U, 2U, 3U}) {
      Layer layer{.spatial = {6, 11}, .kernel = {3, 2}, .ins = 3, .outs = 1 + form % 9};
      layer.backward = (form & 1) != 0;
      layer.flipped = (form & 2) != 0;
      layer.groups = (form & 4) != 0 ? 2 : 1;
      layer.dilations = (form & 8) != 0 ? Numbers{2, 3} : Numbers{1, 1};
      layer.start = (form & 16) != 0 ? Numbers{1, 2} : Numbers{0, 0};
      layer.end = (form & 32) != 0 ? Numbers{2, 1} : Numbers{0, 0};
      layer.strides = {stride, 4 - stride};
      layer.more = {layer.backward ? stride - 1 : 0, 0};
      expect_layer(layer, random, form % 3 == 0, form % 5 == 0);
    }
  }
}

TEST(Convolution, OneAndThreeDimensions) {
  std::mt19937 random(6);
  for (const bool backward : {false, true}) {
    expect_layer({.spatial = {60},
                  .kernel = {7},
                  .ins = 4,
                  .outs = 10,
                  .backward = backward,
                  .strides = {3},
                  .dilations = {2},
                  .start = {2},
                  .end = {3}},
                 random, true);
    expect_layer({.spatial = {4, 5, 9},
                  .kernel = {2, 3, 3},
                  .ins = 5,
                  .outs = 8,
                  .images = 2,
                  .backward = backward,
                  .strides = {1, 2, 2},
                  .start = {1, 0, 1},
                  .end = {1, 1, 1}},
                 random, true);
    expect_layer({.spatial = {9, 1, 1}, .kernel = {3, 1, 1}, .ins = 5, .outs = 8, .backward = backward}, random, false);
    expect_layer({.spatial = {3, 3},
                  .kernel = {2, 2},
                  .ins = 2,
                  .outs = 3,
                  .backward = backward,
                  .strides = {9, 20},
                  .dilations = {6, 15},
                  .start = {backward ? 3U : 60U, 0},
                  .end = {0, backward ? 1U : 70U}},
                 random, true);
  }
}

TEST(Convolution, EveryNumberOfChannelsAndPixels) {
  std::mt19937 random(7);
  for (int64_t channels = 1; channels < 32; channels += kSanitized ? 7 : 1) {
    expect_layer(
        {.spatial = {3, channels}, .kernel = {3, 3}, .ins = 2, .outs = channels, .start = {1, 1}, .end = {1, 1}},
        random, channels % 2 == 0);
    expect_layer({.spatial = {5, channels},
                  .kernel = {3, 3},
                  .groups = 3,
                  .strides = {channels % 2 == 0 ? 1U : 2U, 2},
                  .start = {1, 1},
                  .end = {1, 1}},
                 random, channels % 2 == 0);
    expect_layer({.spatial = {2, channels}, .kernel = {1, 1}, .ins = 20, .outs = 32 - channels}, random, true);
  }
}

// Sizes around the ends of blocks, for each algorithm.
TEST(Convolution, LongSums) {
  std::mt19937 random(8);
  for (const int64_t outs : {2, 20}) {
    for (const int64_t ins : {28, 29, 57, 65}) {
      expect_layer({.spatial = {5, 6}, .kernel = {3, 3}, .ins = ins, .outs = outs, .start = {1, 1}, .end = {1, 1}},
                   random, true);
      expect_layer(
          {.spatial = {4, 4}, .kernel = {4, 4}, .ins = ins * 2, .outs = outs, .backward = true, .strides = {2, 2}},
          random, false);
    }
    expect_layer({.spatial = {5, 6}, .kernel = {1, 1}, .ins = 513, .outs = outs}, random, true);
  }
}

// Several tiles, shared by threads.
TEST(Convolution, LargeOnes) {
  std::mt19937 random(9);
  expect_layer({.spatial = {30, 40}, .kernel = {3, 3}, .ins = 16, .outs = 40, .start = {1, 1}, .end = {1, 1}}, random,
               true);
  expect_layer({.spatial = {9, 700}, .kernel = {3, 5}, .ins = 4, .outs = 9, .start = {1, 2}, .end = {1, 2}}, random,
               true);
  expect_layer({.spatial = {60, 60},
                .kernel = {3, 3},
                .groups = 24,
                .images = 2,
                .strides = {2, 2},
                .start = {1, 1},
                .end = {1, 1}},
               random, false);
  expect_layer({.spatial = {20, 23},
                .kernel = {4, 4},
                .ins = 12,
                .outs = 20,
                .images = 2,
                .backward = true,
                .strides = {2, 2},
                .start = {1, 1},
                .end = {1, 1}},
               random, true);
  expect_layer({.spatial = {7, 7}, .kernel = {1, 1}, .ins = 70, .outs = 300, .images = 3}, random, true);
  if (!kSanitized) {
    expect_layer({.spatial = {7, 7}, .kernel = {3, 3}, .ins = 64, .outs = 280, .start = {1, 1}, .end = {1, 1}}, random,
                 false);
    expect_layer(
        {.spatial = {6, 14, 15}, .kernel = {3, 3, 3}, .ins = 4, .outs = 30, .start = {1, 1, 1}, .end = {1, 1, 1}},
        random, true);
    // Enough outputs for the largest tiles of a large GPU.
    expect_layer({.spatial = {90, 90}, .kernel = {1, 2}, .outs = 128, .images = 2, .end = {0, 1}}, random, false);
  }
}

Bytes bytes_of(const Floats& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A residual and an activation that are fused into the step, and intermediate values that are also outputs.
TEST(Convolution, InAGraphWithItsNeighbors) {
  std::mt19937 random(10);
  std::vector<Layer> layers = {
      {.spatial = {9, 10}, .kernel = {3, 3}, .ins = 3, .outs = 20, .images = 2, .start = {1, 1}, .end = {1, 1}},
      {.spatial = {40, 30}, .kernel = {1, 1}, .ins = 8, .outs = 40, .groups = 2},
      {.spatial = {30, 33}, .kernel = {3, 3}, .groups = 5, .images = 2, .strides = {2, 2}},
      {.spatial = {12, 9}, .kernel = {3, 3}, .ins = 6, .outs = 9, .backward = true},
      {.spatial = {12, 9}, .kernel = {3, 3}, .ins = 6, .outs = 9, .backward = true, .strides = {2, 2}}};
  for (const Layer& layer : layers) {
    for (unsigned how = 0; how < 4; ++how) {
      const Form out(ANYDML_FLOAT32, layer.output_sizes());
      Twin twin;
      const std::size_t x =
          twin.input(Form(ANYDML_FLOAT32, layer.input_sizes()), bytes_of(random_floats(layer.input_sizes(), random)));
      const std::size_t w = twin.constant(Form(ANYDML_FLOAT32, layer.filter_sizes()),
                                          bytes_of(random_floats(layer.filter_sizes(), random)));
      const std::size_t bias =
          twin.constant(Form(ANYDML_FLOAT32, layer.bias_sizes()), bytes_of(random_floats(layer.bias_sizes(), random)));
      const std::size_t residual = twin.input(out, bytes_of(random_floats(layer.output_sizes(), random)));
      const std::size_t built = twin.run("CONVOLUTION", {x, w, bias}, out, layer.attributes());
      const std::size_t sum = twin.run("ELEMENT_WISE_ADD", {built, residual}, out);
      twin.output(twin.run("ACTIVATION_RELU", {sum}, out));
      if ((how & 1) != 0) {
        twin.output(sum);
      }
      if ((how & 2) != 0) {
        twin.output(built);
      }
      twin.compile();
      EXPECT_EQ(twin.difference(), "") << text_of(layer) << ", how " << how;
    }
  }
}

std::string plan_of(const std::string& attributes, std::uint32_t vector_bytes, std::string_view out = "f32[1,8,6,6]",
                    bool forwards_tiles = true) {
  const DeviceTraits traits{.joins_from = 1, .forwards_tiles = forwards_tiles, .vector_bytes = vector_bytes};
  std::string shown;
  const auto plans = compile_graph(
      parse_graph("x = input 1152\nw = owned 2304\np = CONVOLUTION x:f32[1,8,6,6] w:f32[8,8,3,3] - -> " +
                  std::string(out) + " Mode=CROSS_CORRELATION " + attributes +
                  " GroupCount=1\ny = ACTIVATION_RELU p:" + std::string(out) + " -> " + std::string(out) + "\nout y\n"),
      traits, &shown);
  return plans.ok() ? shown.substr(shown.find("nodes\n") + 6) : plans.error().message;
}

// The key under which graphs for images of this size share the packed filter, and whether the first plan has a step.
std::pair<std::string, bool> shared_filter(int size, bool is_there) {
  const GraphSharing sharing{.constants = {{.text = "weights", .is_shared = true}},
                             .is_there = [&](const std::string&) { return is_there; }};
  const std::string image = "f32[1,8," + std::to_string(size) + "," + std::to_string(size) + "]";
  const auto plans =
      compile_graph(parse_graph("x = input " + std::to_string(32 * size * size) +
                                "\nw = constant 2304\np = CONVOLUTION x:" + image + " w:f32[8,8,3,3] - -> " + image +
                                " Mode=CROSS_CORRELATION Direction=FORWARD Strides=1,1 Dilations=1,1 StartPadding=1,1 "
                                "EndPadding=1,1 OutputPadding=0,0 GroupCount=1\nout p\n"),
                    {.vector_bytes = 16}, nullptr, &sharing)
          .value();
  EXPECT_EQ(plans.shared.size(), 2U);
  EXPECT_EQ(plans.persistent_bytes, 0U);
  EXPECT_EQ(plans.shared.back().is_new, !is_there);
  return {plans.shared.back().key, !plans.initialize.words().empty()};
}

TEST(ConvolutionPlan, GraphsForImagesOfSeveralSizesShareAPackedFilter) {
  const auto [key, packs] = shared_filter(6, false);
  EXPECT_TRUE(packs);
  EXPECT_EQ(shared_filter(9, true), std::pair(key, false));
}

TEST(ConvolutionPlan, FiltersArePackedBeforehandAndTheEpilogueIsPartOfTheStep) {
  const char* const forward =
      "Direction=FORWARD Strides=1,1 Dilations=1,1 StartPadding=1,1 EndPadding=1,1 OutputPadding=0,0";
  EXPECT_EQ(plan_of(forward, 16),
            "initialize: %0 CONVOLUTION_FILTER | reads input1 | writes persistent+0\n"
            "initialize: 1 step, 0 bytes of temporary for 0 bytes of values\n"
            "run: %1 CONVOLUTION_PRODUCT; epilogue %2 ACTIVATION_RELU | reads input0, persistent+0 | writes output0\n"
            "run: 1 step, 0 bytes of temporary for 0 bytes of values\n");
  EXPECT_NE(plan_of(forward, 0).find("run: %0 CONVOLUTION_PRODUCT; epilogue %1 ACTIVATION_RELU | reads input0, "),
            std::string::npos)
      << plan_of(forward, 0);
  // The pixels of a class are not contiguous, which only matters on a device that passes tiles to the epilogue.
  const char* const backward =
      "Direction=BACKWARD Strides=2,2 Dilations=1,1 StartPadding=1,1 EndPadding=1,1 OutputPadding=1,1";
  EXPECT_NE(plan_of(backward, 16, "f32[1,8,12,12]").find("run: 2 steps"), std::string::npos);
  EXPECT_NE(plan_of(backward, 0, "f32[1,8,12,12]", false).find("run: 1 step,"), std::string::npos);
}

// ---- Errors ---------------------------------------------------------------------------------------------------------

std::string error_of(const Layer& layer, const Sizes& output) {
  static float data[4096];
  const Form x(ANYDML_FLOAT32, layer.input_sizes());
  const Form w(ANYDML_FLOAT32, layer.filter_sizes());
  const Form out(ANYDML_FLOAT32, output);
  const anydml_tensor inputs[] = {x.tensor(data), w.tensor(data)};
  const anydml_tensor built = out.tensor(data + 2048);
  const auto attributes = layer.attributes();
  return anydml_run(nullptr, "CONVOLUTION", inputs, 2, &built, 1, attributes.data(), attributes.size()) == ANYDML_OK
             ? ""
             : anydml_last_error();
}

TEST(ConvolutionErrors, NameTheField) {
  const Layer plain{.spatial = {5, 6}, .kernel = {3, 3}, .ins = 2, .outs = 4};
  EXPECT_EQ(error_of(plain, plain.output_sizes()), "");
  EXPECT_EQ(error_of(plain, {1, 4, 3, 5}), "CONVOLUTION: OutputTensor: Sizes[3] is 5; expected 4");
  EXPECT_EQ(error_of(plain, {1, 4, 2, 4}), "CONVOLUTION: OutputTensor: Sizes[2] is 2; expected 3");
  Layer wrong = plain;
  wrong.strides = {1, 0};
  EXPECT_EQ(error_of(wrong, {1, 4, 3, 4}), "CONVOLUTION: Strides: Strides[1] is 0; expected 1 or more");
  wrong = plain;
  wrong.dilations = {0, 1};
  EXPECT_EQ(error_of(wrong, {1, 4, 3, 4}), "CONVOLUTION: Dilations: Dilations[0] is 0; expected 1 or more");
  wrong = plain;
  wrong.dilations = {4, 1};
  EXPECT_EQ(error_of(wrong, {1, 4, 3, 4}),
            "CONVOLUTION: InputTensor: Sizes[2] is 5, and 5 with its padding; expected 9 or more, the extent of the "
            "filter");
  wrong = plain;
  wrong.backward = true;
  wrong.strides = {3, 3};
  EXPECT_EQ(error_of(wrong, {1, 4, 18, 18}), "CONVOLUTION: OutputTensor: Sizes[2] is 18; expected 15 to 17");
  EXPECT_EQ(error_of(wrong, {1, 4, 15, 20}), "");
  EXPECT_EQ(error_of(wrong, {1, 4, 15, 17}), "CONVOLUTION: OutputTensor: Sizes[3] is 17; expected 18 to 20");
  const Layer deep{.spatial = {2, 2, 2, 2},
                   .kernel = {1, 1, 1, 1},
                   .strides = {1, 1, 1, 1},
                   .dilations = {1, 1, 1, 1},
                   .start = {0, 0, 0, 0},
                   .end = {0, 0, 0, 0},
                   .more = {0, 0, 0, 0}};
  EXPECT_EQ(
      error_of(deep, deep.output_sizes()),
      "CONVOLUTION: InputTensor: has 6 dimensions; expected 3 to 5: images, channels and 1 to 3 spatial dimensions");
  const Layer uneven{.spatial = {2, 2}, .kernel = {1, 1}, .ins = 2, .outs = 3, .groups = 2};
  Layer groups = uneven;
  groups.groups = 0;
  EXPECT_NE(error_of(groups, {1, 0, 2, 2}), "");
  const Form x(ANYDML_INT32, {1, 1, 2, 2});
  int32_t data[16] = {};
  const anydml_tensor inputs[] = {x.tensor(data), x.tensor(data)};
  const anydml_tensor built = x.tensor(data + 8);
  const auto attributes = uneven.attributes();
  EXPECT_NE(anydml_run(nullptr, "CONVOLUTION", inputs, 2, &built, 1, attributes.data(), attributes.size()), ANYDML_OK);
  EXPECT_STREQ(anydml_last_error(), "CONVOLUTION: InputTensor: type is INT32; expected FLOAT32, FLOAT16, FLOAT64");
}

}  // namespace
}  // namespace anydml::test
