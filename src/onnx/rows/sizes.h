// SPDX-License-Identifier: MIT
// Sizes and lists of numbers that come from a model, and may have any values.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "onnx/rows/node.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {

// The attribute that older opsets have in place of an input; nothing if it is absent.
[[nodiscard]] inline std::optional<Sizes> attribute_sizes(const Node& node, std::string_view name) {
  return node.has(name) ? std::optional(node.integers(name)) : std::nullopt;
}

// The numbers of an input, or those of the attribute if the input is absent.
[[nodiscard]] inline std::optional<Sizes> numbers_or(const Array& given, const std::optional<Sizes>& attribute,
                                                     const char* name) {
  return given ? list_of(given, name) : attribute;
}

[[nodiscard]] inline std::int64_t multiplied_sizes(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw NoMemory(format_text("a size of {} times {} is more than can be addressed", a, b));
  }
  return result;
}

[[nodiscard]] inline std::int64_t added_sizes(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    throw NoMemory(format_text("a size of {} plus {} is more than can be addressed", a, b));
  }
  return result;
}

[[nodiscard]] inline bool has_no_elements(const Sizes& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

inline void check_rank(const Sizes& shape) {
  if (shape.size() > static_cast<std::size_t>(kMaxArrayRank)) {
    fail("the result would have {} dimensions; anydml supports up to {}", shape.size(), kMaxArrayRank);
  }
}

inline constexpr std::int64_t kTooManyElements = std::numeric_limits<std::int64_t>::max();

// The number of elements of a shape, or kTooManyElements. A size of -1, which is unknown, counts as 1.
[[nodiscard]] inline std::int64_t elements_of_shape(const Sizes& shape) {
  if (has_no_elements(shape)) {
    return 0;
  }
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size != -1 && __builtin_mul_overflow(count, size, &count)) {
      return kTooManyElements;
    }
  }
  return count;
}

// A view of all elements, with the same strides. It is a new object, and therefore a separate value in a graph.
[[nodiscard]] inline Array whole_view(const Array& x) {
  return x.rank() == 0 ? x.reshape({}) : x.slice(0, 0, x.size(0));
}

}  // namespace anydml::onnx
