// SPDX-License-Identifier: MIT
// Random elements that are the same on every machine: each element depends only on the seed and its position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "values.h"

namespace anydml::dmlrun {

struct RandomValues {
  enum class Distribution : std::uint8_t { uniform, normal };
  Distribution distribution = Distribution::uniform;
  ElementBits first = 0;   // the lowest value, or the mean
  ElementBits second = 0;  // the highest value, or the standard deviation
  std::uint64_t seed = 0;
};

// The defaults: -1 to 1 for float types, 0 to 9 for integers; a mean of 0 and a deviation of 1.
[[nodiscard]] RandomValues default_random(RandomValues::Distribution distribution, DataType type);

// Returns why the two numbers do not describe a distribution, such as "high is 1; expected at least 2, the value of
// low", or nothing if they do.
[[nodiscard]] Status check_random(const RandomValues& random, DataType type);

// Fills the bytes, which are whole elements. Integers are uniform from the lowest to the highest value, inclusive.
// Normal numbers are sums of twelve uniform numbers, which avoids functions that machines round differently.
void fill_random(std::span<std::byte> to, const RandomValues& random, DataType type);

}  // namespace anydml::dmlrun
