// SPDX-License-Identifier: MIT
// The operands by name. Every value is a function of the seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cases.h"
#include "team.h"

namespace anydml::bench {

inline constexpr std::uint64_t kSeed = 20'240'611;

// ordinary: floats N(0, 100) by N(0, 3); integers of the whole range by 1 to 1000 (less where the type ends before), of
//   either sign where the type has one. Of functions from -4 to 4, or from 0.01 to 100, 1 to 100, or -0.99 to 0.99
//   where they have no other arguments.
// hard: random bits, all patterns equally likely.
// The others are what operators want in that place, whatever the data: a magnitude is a dividend without its sign, a
// condition 0 or 1, a shift less than the type's bits, a scale 0.1, a zero point 3.
// gap:N: floats whose exponents are N apart, of random fractions and signs.
// A million values and then the same again: too many for a branch predictor to learn. The periods of dividends and
// divisors differ, so that pairs do not repeat.
void fill(void* to, std::size_t elements, anydml_type type, const Data& data, Operand operand, Team& team);

// The one value of a broadcast operand, typical of the data: a single draw of random bits could be a NaN.
void fill_single(void* to, anydml_type type, const Data& data, Operand operand);

// Whether there is such data for the row: gaps are between two floats, and end with the exponents.
bool has_data(const Row& row, anydml_type type, const Data& data);

}  // namespace anydml::bench
