// SPDX-License-Identifier: MIT
// Compares elements with the expected elements, exactly or within a tolerance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "values.h"

namespace anydml::dmlrun {

// Without a tolerance, elements must have the same bits, except that all NaNs are equal. With tolerances, an element is
// right if one of them accepts it: |value - expected| <= absolute + relative * |expected|, or a distance of at most
// `ulps` units in the last place. Infinities must be equal, and a NaN is right only where a NaN is expected; the
// distance from +0 to -0 is 0.
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
  double distance = 0;     // infinite if one of the two is not finite
  std::uint64_t ulps = 0;  // for float types, the distance in units in the last place
};

struct Comparison {
  std::size_t elements = 0;
  std::size_t different = 0;  // outside the tolerance
  // The first and the worst different element; meaningless if `different` is 0.
  Difference first;
  Difference worst;
  // The largest difference among all elements, including the right ones.
  double largest_distance = 0;
  std::uint64_t largest_ulps = 0;
};

// Both spans must contain the same number of whole elements.
[[nodiscard]] Comparison compare_elements(std::span<const std::byte> values, std::span<const std::byte> expected,
                                          DataType type, const Tolerance& tolerance);

// Returns text such as "within 1e-06 + 0.001 * |expected|".
[[nodiscard]] std::string tolerance_text(const Tolerance& tolerance);

}  // namespace anydml::dmlrun
