// SPDX-License-Identifier: MIT
// Fills operands with the kinds of data that a case names. Every value is a function of the seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cases.h"
#include "team.h"

namespace anydml::bench {

inline constexpr std::uint64_t kSeed = 20'240'611;

// ordinary: float dividends from N(0, 100) and divisors from N(0, 3); integer dividends from the whole range and
// divisors from 1 to 1000 (less if the type has a smaller range), of either sign if the type is signed. Arguments of
// functions are from -4 to 4, or, where the function requires it, from 0.01 to 100, 1 to 100, or -0.99 to 0.99.
// hard: random bits, all patterns equally likely.
// gap:N: floats whose exponents are N apart, with random fractions and signs.
// Other operands do not depend on the data: a magnitude is a dividend without its sign, a condition is 0 or 1, a shift
// is less than the type's width in bits, a scale is 0.1, and a zero point is 3. The values repeat after a million
// elements, which is too many for a branch predictor to learn. The periods of dividends and divisors differ, so that
// pairs do not repeat.
void fill(void* to, std::size_t elements, anydml_type type, const Data& data, Operand operand, Team& team);

// Fills in the single value of a broadcast operand. The value is typical of the data, because a single random bit
// pattern could be a NaN.
void fill_single(void* to, anydml_type type, const Data& data, Operand operand);

// Whether the row supports this data. A gap requires two float operands, and cannot exceed the exponent range.
bool has_data(const Row& row, anydml_type type, const Data& data);

}  // namespace anydml::bench
