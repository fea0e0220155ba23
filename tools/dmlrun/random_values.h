// SPDX-License-Identifier: MIT
// Random elements that are the same on every machine: each follows from the seed and its position alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "values.h"

namespace anydml::dmlrun {

struct RandomValues {
  enum class Distribution : std::uint8_t { uniform, normal };
  Distribution distribution = Distribution::uniform;
  ElementBits first = 0;   // the least value, or the mean
  ElementBits second = 0;  // the greatest value, or the standard deviation
  std::uint64_t seed = 0;
};

// The defaults: -1 to 1 for float types, 0 to 9 for integers; a mean of 0 and a deviation of 1.
[[nodiscard]] RandomValues default_random(RandomValues::Distribution distribution, DataType type);

// Nothing, or why the two numbers describe no distribution: "high is 1; expected 2, which low is, or more".
[[nodiscard]] Status check_random(const RandomValues& random, DataType type);

// Fills the bytes, whole elements. Integers are uniform from the least to the greatest, both included. Normal numbers
// are sums of twelve uniform ones, which needs no function that machines round differently.
void fill_random(std::span<std::byte> to, const RandomValues& random, DataType type);

}  // namespace anydml::dmlrun
