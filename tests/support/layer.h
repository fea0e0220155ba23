// SPDX-License-Identifier: MIT
// Convolutions for tests, and loops over their tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/graph_twin.h"

namespace anydml::test {

using Numbers = std::vector<uint64_t>;

// A convolution. The output sizes are computed, with `more` additional pixels along each dimension.
struct Layer {
  Sizes spatial;
  Sizes kernel;
  int64_t ins = 1;  // per group
  int64_t outs = 1;
  int64_t groups = 1;
  int64_t images = 1;
  bool backward = false;
  bool flipped = false;
  Numbers strides = {1, 1, 1};
  Numbers dilations = {1, 1, 1};
  Numbers start = {0, 0, 0};
  Numbers end = {0, 0, 0};
  Numbers more = {0, 0, 0};

  [[nodiscard]] std::size_t rank() const { return spatial.size(); }
  [[nodiscard]] int64_t output(std::size_t i) const {
    const auto stride = static_cast<int64_t>(strides[i]);
    const int64_t extent = (kernel[i] - 1) * static_cast<int64_t>(dilations[i]) + 1;
    const auto padding = static_cast<int64_t>(start[i] + end[i]);
    const auto added = static_cast<int64_t>(more[i]);
    return backward ? (spatial[i] - 1) * stride + extent - padding + added
                    : (spatial[i] + padding - extent) / stride + 1 + added;
  }
  [[nodiscard]] Sizes with_space(int64_t first, int64_t second, const Sizes& space) const {
    Sizes sizes = {first, second};
    sizes.insert(sizes.end(), space.begin(), space.end());
    return sizes;
  }
  [[nodiscard]] Sizes outputs() const {
    Sizes sizes;
    for (std::size_t i = 0; i < rank(); ++i) {
      sizes.push_back(output(i));
    }
    return sizes;
  }
  [[nodiscard]] Sizes input_sizes() const { return with_space(images, ins * groups, spatial); }
  [[nodiscard]] Sizes filter_sizes() const {
    return backward ? with_space(ins * groups, outs, kernel) : with_space(outs * groups, ins, kernel);
  }
  [[nodiscard]] Sizes bias_sizes() const { return with_space(1, outs * groups, Sizes(rank(), 1)); }
  [[nodiscard]] Sizes output_sizes() const { return with_space(images, outs * groups, outputs()); }

  // of_bytes: returns the attributes of the integer convolutions, a subset of CONVOLUTION's attributes.
  [[nodiscard]] std::vector<anydml_attribute> attributes(bool of_bytes = false) const {
    const auto text = [](const char* name, const char* value) {
      anydml_attribute attribute = {name, ANYDML_TEXT, 0, {}};
      attribute.value.text = value;
      return attribute;
    };
    const auto numbers = [&](const char* name, const Numbers& values) {
      anydml_attribute attribute = {
          name, static_cast<uint32_t>(ANYDML_ARRAY) | ANYDML_UINT64, static_cast<uint32_t>(rank()), {}};
      attribute.value.u64s = values.data();
      return attribute;
    };
    anydml_attribute count = {"GroupCount", ANYDML_INT64, 0, {}};
    count.value.i64 = groups;
    if (of_bytes) {
      return {numbers("Strides", strides), numbers("Dilations", dilations), numbers("StartPadding", start),
              numbers("EndPadding", end), count};
    }
    return {text("Mode", flipped ? "CONVOLUTION" : "CROSS_CORRELATION"),
            text("Direction", backward ? "BACKWARD" : "FORWARD"),
            numbers("Strides", strides),
            numbers("Dilations", dilations),
            numbers("StartPadding", start),
            numbers("EndPadding", end),
            numbers("OutputPadding", more),
            count};
  }
};

inline int64_t count_of(const Sizes& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return count;
}

// Calls use(index) for each index, row by row.
template <class Use>
void for_each(const Sizes& sizes, Use use) {
  Sizes index(sizes.size());
  for (int64_t left = count_of(sizes); left > 0; --left) {
    use(index);
    for (std::size_t i = sizes.size(); i-- > 0 && ++index[i] == sizes[i];) {
      index[i] = 0;
    }
  }
}

inline int64_t offset_of(const Sizes& sizes, const Sizes& index) {
  int64_t offset = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    offset = offset * sizes[i] + index[i];
  }
  return offset;
}

inline std::string text_of(const Layer& layer) {
  std::string text;
  for (const Sizes& sizes : {layer.input_sizes(), layer.filter_sizes(), layer.output_sizes()}) {
    for (const int64_t size : sizes) {
      text += std::to_string(size) + " ";
    }
    text += "| ";
  }
  return text + (layer.backward ? "backward" : "forward");
}

}  // namespace anydml::test
