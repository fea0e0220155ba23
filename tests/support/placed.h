// SPDX-License-Identifier: MIT
// Tensors with any memory layout, and C API calls on them, for tests that reimplement an operator's definition.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "support/distributions.h"
#include "support/tensor.h"

namespace anydml::test {

using Sizes = std::vector<i64>;

inline anydml_attribute number(const char* name, f64 value) {
  anydml_attribute attribute = {name, ANYDML_FLOAT64, 0, {}};
  attribute.value.f64 = value;
  return attribute;
}
inline anydml_attribute numbers(const char* name, const std::vector<u64>& values) {
  anydml_attribute attribute = {
      name, uint32_t{ANYDML_UINT64} | uint32_t{ANYDML_ARRAY}, static_cast<std::uint32_t>(values.size()), {}};
  attribute.value.u64s = values.data();
  return attribute;
}

inline int run(const char* name, const std::vector<anydml_tensor>& inputs, const std::vector<anydml_tensor>& outputs,
               const std::vector<anydml_attribute>& attributes) {
  return anydml_run(nullptr, name, inputs.data(), inputs.size(), outputs.data(), outputs.size(), attributes.data(),
                    attributes.size());
}
inline int run(const char* name, const std::vector<anydml_tensor>& inputs, const anydml_tensor& output,
               const std::vector<anydml_attribute>& attributes) {
  return run(name, inputs, std::vector{output}, attributes);
}

// A tensor with any memory layout.
template <class T>
struct Placed {
  Layout layout;
  Memory<T> memory;

  Placed(const Sizes& sizes, Random& random, bool repeats)
      : layout(random_layout(sizes, random, repeats)), memory(layout, random) {}
  // Ordinary numbers, and sometimes a few special values.
  void fill(Random& random, f64 minimum, f64 maximum) {
    static const std::vector<T> specials = special_values<T>();
    const bool any = random() % 4 == 0;
    for (i64 n = 0; n < layout.count(); ++n) {
      const u64 bits = random();
      memory.store(layout.offset(n),
                   any && bits % 300 == 0
                       ? specials[bits / 300 % specials.size()]
                       : Scalar(minimum + (maximum - minimum) * static_cast<f64>(bits >> 11) * 0x1p-53).as<T>());
    }
  }
  [[nodiscard]] anydml_tensor tensor() { return tensor_of<T>(layout, memory.data()); }
  // The element that corresponds to element n of a tensor of these sizes; dimensions of size 1 repeat.
  [[nodiscard]] f32 at(const Sizes& sizes, i64 n) const {
    i64 own = 0;
    i64 stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      own += layout.sizes[i] == 1 ? 0 : n % sizes[i] * stride;
      stride *= layout.sizes[i];
      n /= sizes[i];
    }
    return widen(memory.load(layout.offset(own)));
  }
};

inline Sizes with_repeats(const Sizes& sizes, Random& random) {
  Sizes result = sizes;
  for (i64& size : result) {
    size = random() % 2 == 0 ? 1 : size;
  }
  return result;
}

inline std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const i64 size : sizes) {
    text += std::to_string(size) + " ";
  }
  return text;
}

}  // namespace anydml::test
