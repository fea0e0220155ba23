// SPDX-License-Identifier: MIT
// Named distributions of operand pairs. Every draw is a function of the seed, which tests print.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/bits.h"

namespace anydml::test {

using Random = std::mt19937_64;

inline constexpr u64 kSeed = 20'240'611;

template <class T>
struct Pair {
  T a;
  T b;
};

// Edge cases: zeros, ones, extremes, powers of two and their neighbors, infinities, NaN.
template <class T>
std::vector<T> special_values() {
  std::vector<T> values;
  const auto around = [&values](u64 bits) {
    for (const u64 neighbor : {bits - 1, bits, bits + 1}) {
      values.push_back(from_raw<T>(neighbor));
    }
  };
  if constexpr (is_float<T>) {
    using F = FloatParts<T>;
    for (const u64 sign : {u64{0}, u64{F::kSign}}) {
      values.push_back(from_raw<T>(sign));                  // 0
      values.push_back(from_raw<T>(sign | 1));              // the smallest subnormal
      around(sign | F::kHidden);                            // the smallest normal
      around(sign | F::kInfinity);                          // the largest finite number, infinity, a signaling NaN
      values.push_back(from_raw<T>(sign | F::kQuietNan));   // a quiet NaN
      values.push_back(from_raw<T>(sign | F::kMagnitude));  // another quiet NaN
      for (int exponent : {-20, -3, -1, 0, 1, 2, 3, F::kFractionBits, F::kFractionBits + 1, F::kBias}) {
        if (exponent + F::kBias > 0) {
          around(sign | static_cast<u64>(exponent + F::kBias) << F::kFractionBits);
        }
      }
      values.push_back(from_raw<T>(sign | static_cast<u64>(F::kBias) << F::kFractionBits | F::kFraction));
      values.push_back(from_raw<T>(sign | (static_cast<u64>(F::kBias - 4) << F::kFractionBits | 0x2ab % F::kFraction)));
    }
  } else {
    around(0);
    around(static_cast<u64>(std::numeric_limits<T>::max()));
    around(static_cast<u64>(std::numeric_limits<T>::min()));
    for (unsigned bit = 2; bit < sizeof(T) * 8; bit += sizeof(T) < 4 ? 1 : 5) {
      around(u64{1} << bit);
      around(u64{0} - (u64{1} << bit));
    }
    values.push_back(static_cast<T>(10));
    values.push_back(static_cast<T>(100));
  }
  return values;
}

template <class T>
T random_bits(Random& random) {
  return from_raw<T>(random());
}

// Quotients within an ulp or so of an integer, where a rounded quotient gives a wrong result.
template <class T>
Pair<T> near_integer_quotient(Random& random) {
  if constexpr (is_float<T>) {
    using F = FloatParts<T>;
    T b = random_bits<T>(random);
    if ((bits_of(b) & F::kMagnitude) >= F::kInfinity) {
      b = from_raw<T>(bits_of(b) & ~(u64{F::kHidden} << (F::kExponentBits - 1)));
    }
    const auto factor = static_cast<compute_t<T>>(random() >> (random() % 60 + 4));
    const T product = narrow<T>(widen(b) * factor);
    return {from_raw<T>(bits_of(product) + random() % 5 - 2), b};
  } else {
    const T b = from_raw<T>(random() >> (random() % (sizeof(T) * 8)));
    const u64 factor = random() >> (random() % 64);
    return {from_raw<T>(static_cast<u64>(b) * factor + random() % 5 - 2), b};
  }
}

// Every pair of exponents (for integers, every pair of widths) is equally likely, so that gaps of all sizes occur.
template <class T>
Pair<T> exponent_grid(Random& random) {
  if constexpr (is_float<T>) {
    using F = FloatParts<T>;
    // Extreme fractions, so that quotients of every size occur with the longest carries.
    const auto one = [&random] {
      const u64 exponent = random() % (u64{F::kInfinity >> F::kFractionBits});
      const u64 fractions[] = {0, 1, F::kFraction, F::kHidden >> 1, random() & F::kFraction};
      return from_raw<T>((random() & F::kSign) | exponent << F::kFractionBits | fractions[random() % 5]);
    };
    return {one(), one()};
  } else {
    return {from_raw<T>(random() >> (random() % 64)), from_raw<T>(random() >> (random() % 64))};
  }
}

// Close exponents give quotients of a few bits, as in most programs.
template <class T>
Pair<T> close_operands(Random& random) {
  const T b = random_bits<T>(random);
  if constexpr (is_float<T>) {
    using F = FloatParts<T>;
    const u64 up = random() % 8 << F::kFractionBits;
    const u64 noise = random() & F::kFraction;
    return {from_raw<T>((bits_of(b) + up) ^ noise ^ (random() & F::kSign)), b};
  } else {
    return {from_raw<T>(bits_of(b) + random() % 7 - 3), b};
  }
}

enum class Distribution { random, grid, near_integer, close };
inline constexpr Distribution kDistributions[] = {Distribution::random, Distribution::grid, Distribution::near_integer,
                                                  Distribution::close};

inline const char* name_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::random:
      return "random bits";
    case Distribution::grid:
      return "exponent grid";
    case Distribution::near_integer:
      return "near-integer quotients";
    case Distribution::close:
      break;
  }
  return "close operands";
}

template <class T>
Pair<T> draw(Distribution distribution, Random& random) {
  switch (distribution) {
    case Distribution::random:
      return {random_bits<T>(random), random_bits<T>(random)};
    case Distribution::grid:
      return exponent_grid<T>(random);
    case Distribution::near_integer:
      return near_integer_quotient<T>(random);
    case Distribution::close:
      break;
  }
  return close_operands<T>(random);
}

// A value for tests that depend on positions more than on values. It is often small or special, and sometimes
// arbitrary.
template <class T>
T any_value(Random& random) {
  static const std::vector<T> specials = special_values<T>();
  switch (random() % 4) {
    case 0:
      return specials[random() % specials.size()];
    case 1:
      if constexpr (is_float<T>) {
        return narrow<T>(static_cast<compute_t<T>>(static_cast<i64>(random() % 200) - 100) / 4);
      } else {
        return static_cast<T>(random() % 21);
      }
    default:
      return random_bits<T>(random);
  }
}

}  // namespace anydml::test
