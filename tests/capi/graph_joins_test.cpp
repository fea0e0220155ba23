// SPDX-License-Identifier: MIT
// Compares C API graphs with element-wise operators before and after reductions with the same operators run one by one.
#include <gtest/gtest.h>

#include <random>
#include <string_view>

#include "support/graph_twin.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

// Numbers from 1 to 2 with either sign, or any integers.
Bytes random_elements(anydml_type type, std::size_t count, std::mt19937& random) {
  const std::size_t size = anydml_type_size(type);
  Bytes data(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    uint64_t bits = uint64_t{random()} << 32 | random();
    if (type == ANYDML_FLOAT16) {
      bits = (bits & 0x83FF) | 0x3C00;
    } else if (type == ANYDML_FLOAT32) {
      bits = (bits & 0x807FFFFF) | 0x3F800000;
    } else if (type == ANYDML_FLOAT64) {
      bits = (bits & 0x800FFFFFFFFFFFFF) | 0x3FF0000000000000;
    }
    std::memcpy(&data[i * size], &bits, size);
  }
  return data;
}

// Element-wise operators before and after a reduction. They may all become one step, unless some intermediate values
// are also outputs.
void expect_joined(anydml_type type, const Sizes& sizes, const std::vector<int64_t>& axes, const char* how,
                   std::mt19937& random) {
  const bool is_offset = std::string_view(how).starts_with("ARG");
  const bool is_float = type == ANYDML_FLOAT16 || type == ANYDML_FLOAT32 || type == ANYDML_FLOAT64;
  const Form wide(type, sizes);
  Sizes ones(sizes.size(), 1);
  Sizes narrow_sizes = sizes;
  for (const int64_t axis : axes) {
    narrow_sizes[static_cast<std::size_t>(axis)] = 1;
  }
  const Form narrow(is_offset ? anydml_type{ANYDML_UINT32} : type, narrow_sizes);
  const Form row(type, {sizes.back()});
  const Form column(type, [&] {
    Sizes first = ones;
    first[0] = sizes[0];
    return first;
  }());
  const auto given = [&](Twin& twin, const Form& form) {
    return twin.input(form, random_elements(form.type, form.bytes() / anydml_type_size(form.type), random));
  };
  const anydml_attribute increasing = {"AxisDirection", ANYDML_INT64, 0, {}};
  for (unsigned kept = 0; kept < 8; kept += kSanitized ? 3 : 1) {
    Twin twin;
    const std::size_t x = given(twin, wide);
    const std::size_t shifted = twin.run("ELEMENT_WISE_ADD", {x, given(twin, row)}, wide);
    const std::size_t scaled =
        is_float ? twin.run("ELEMENT_WISE_ABS", {shifted}, wide, {number("Scale", 0.75), number("Bias", -0.5)})
                 : twin.run("ELEMENT_WISE_ABS", {shifted}, wide);
    const std::size_t product = twin.run("ELEMENT_WISE_MULTIPLY", {scaled, given(twin, column)}, wide);
    const std::size_t reduced = is_offset ? twin.run(how, {product}, narrow, {axes_of(axes), increasing})
                                          : twin.run("REDUCE", {product}, narrow, {function(how), axes_of(axes)});
    const std::size_t more = twin.run("ELEMENT_WISE_ADD", {reduced, given(twin, narrow)}, narrow);
    twin.output(twin.run("ELEMENT_WISE_MAX", {more, given(twin, Form(narrow.type, ones))}, narrow));
    if ((kept & 1) != 0) {
      twin.output(product);
    }
    if ((kept & 2) != 0) {
      twin.output(shifted);
    }
    if ((kept & 4) != 0) {
      twin.output(reduced);
    }
    twin.compile();
    EXPECT_EQ(twin.difference(), "") << how << " of type " << type << ", " << sizes.size() << " dimensions, kept "
                                     << kept;
  }
}

TEST(GraphJoins, WhatStandsBeforeAndAfterAReduction) {
  struct Shape {
    Sizes sizes;
    std::vector<int64_t> axes;
  };
  const Shape shapes[] = {
      {{5, 700}, {1}},           // along the rows
      {{900, 3}, {1}},           // several outputs at a time
      {{4, 9001}, {1}},          // in blocks
      {{65, 513}, {1}},          // along the rows, large enough for GPUs to join
      {{300, 17}, {0}},          // across the rows
      {{300, 110}, {0}},         // across the rows, large enough for GPUs to join
      {{70'000, 4}, {0}},        // across the rows, in blocks
      {{6, 10, 50}, {1}},        // a middle axis
      {{4, 33, 70}, {0, 2}},     // with gaps
      {{2, 20, 3, 25}, {1, 3}},  // gaps that are too short
      {{3, 40, 4, 20}, {0, 2}},  // across the rows, with gaps
      {{64, 63}, {0, 1}},        // all elements
      {{2, 5000}, {0}},          // rows that are too wide
  };
  std::mt19937 random(18);
  for (const Shape& shape : shapes) {
    for (const anydml_type type : {ANYDML_FLOAT32, ANYDML_FLOAT16, ANYDML_INT32}) {
      for (const char* how : {"SUM", "MAX", "ARGMIN"}) {
        if (!kThreadSanitizer || type == ANYDML_FLOAT32) {
          expect_joined(type, shape.sizes, shape.axes, how, random);
        }
      }
    }
  }
  for (const char* how : {"AVERAGE", "L1", "L2", "MIN", "MULTIPLY", "SUM_SQUARE", "ARGMAX"}) {
    expect_joined(ANYDML_FLOAT32, {7, 600}, {1}, how, random);
    expect_joined(ANYDML_FLOAT64, {40, 30}, {0}, how, random);
  }
  for (const char* how : {"LOG_SUM", "LOG_SUM_EXP"}) {  // these functions are graphs themselves
    for (const anydml_type type : {ANYDML_FLOAT32, ANYDML_FLOAT16}) {
      expect_joined(type, {7, 600}, {1}, how, random);
      expect_joined(type, {40, 3, 30}, {0, 1}, how, random);
    }
  }
  for (const anydml_type type : {ANYDML_INT8, ANYDML_INT16, ANYDML_INT64}) {
    expect_joined(type, {7, 600}, {1}, "SUM", random);
    expect_joined(type, {40, 30}, {0}, "L1", random);
  }
  expect_joined(ANYDML_FLOAT32, {300, 2000}, {1}, "SUM", random);  // large enough for several threads
  expect_joined(ANYDML_FLOAT32, {64, 100, 100}, {1}, "SUM", random);
}

// One program with several stores, and enough elements for GPUs to compile it.
TEST(GraphJoins, AChainOfWhichSeveralValuesAreOutputs) {
  std::mt19937 random(19);
  for (const anydml_type type : {ANYDML_FLOAT32, ANYDML_FLOAT16, ANYDML_INT8}) {
    const Form wide(type, {33, 1000});
    const auto given = [&](Twin& twin, const Form& form) {
      return twin.input(form, random_elements(form.type, form.bytes() / anydml_type_size(form.type), random));
    };
    Twin twin;
    const std::size_t sum = twin.run("ELEMENT_WISE_ADD", {given(twin, wide), given(twin, Form(type, {1000}))}, wide);
    const std::size_t product = twin.run("ELEMENT_WISE_MULTIPLY", {sum, given(twin, Form(type, {33, 1}))}, wide);
    const std::size_t clipped =
        twin.run("ELEMENT_WISE_CLIP", {product}, wide, {number("Min", -1.0), number("Max", 2.0)});
    twin.output(sum);
    twin.output(clipped);
    twin.output(product);
    twin.compile();
    EXPECT_EQ(twin.difference(), "") << type;
  }
}

}  // namespace
}  // namespace anydml::test
