// SPDX-License-Identifier: MIT
// Whether elements are the expected ones, exactly or within a tolerance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "values.h"

namespace anydml::dmlrun {

// Without any of them elements must have the same bits, except that one NaN is as good as another. An element that one
// of them accepts is right: |value - expected| <= absolute + relative * |expected|, or no more than `ulps` numbers of
// the type away. Infinities must be the same, and a NaN is right only where one is expected; +0 and -0 differ by
// nothing.
struct Tolerance {
  std::optional<double> absolute = {};
  std::optional<double> relative = {};
  std::optional<std::uint64_t> ulps = {};

  [[nodiscard]] bool is_exact() const { return !absolute && !relative && !ulps; }
};

struct Difference {
  std::size_t index = 0;
  ElementBits value = 0;
  ElementBits expected = 0;
  double distance = 0;     // infinite where one of the two has no number
  std::uint64_t ulps = 0;  // of float types: how many numbers of the type the two are apart
};

struct Comparison {
  std::size_t elements = 0;
  std::size_t different = 0;  // outside the tolerance
  // Of these; they mean nothing where there is none.
  Difference first;
  Difference worst;
  // Of all elements, the right ones too.
  double largest_distance = 0;
  std::uint64_t largest_ulps = 0;
};

// Both hold the same number of whole elements.
[[nodiscard]] Comparison compare_elements(std::span<const std::byte> values, std::span<const std::byte> expected,
                                          DataType type, const Tolerance& tolerance);

// "within 1e-06 + 0.001 * |expected|"
[[nodiscard]] std::string tolerance_text(const Tolerance& tolerance);

}  // namespace anydml::dmlrun
