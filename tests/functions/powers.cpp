// SPDX-License-Identifier: MIT
// Checks POW for integers and mixed types: every pair of types, special and random values, against exact 128-bit
// arithmetic or MPFR.
#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "ops/scalar/scalars.h"

namespace {

using namespace anydml;

int g_wrong = 0;
long g_pairs = 0;

template <class T>
double value_of(T x) {
  return static_cast<double>(widen(x));
}

template <class T, class Exponent>
void compare(T x, Exponent y, double ours, double right) {
  ++g_pairs;
  if (ours != right && !(ours != ours && right != right) && ++g_wrong < 10) {
    std::printf("pow(%.9g, %.9g) of %zu and %zu bytes is %.17g, not %.17g\n", value_of(x), value_of(y), sizeof(T),
                sizeof(Exponent), ours, right);
  }
}

// The definition for integers: one multiplication after another.
template <class T, class Exponent>
T multiplied(T x, Exponent y) {
  if (std::is_signed_v<Exponent> && y < Exponent{0}) {
    if (x == T{1}) {
      return T{1};
    }
    if (std::is_signed_v<T> && x == static_cast<T>(-1)) {
      return static_cast<T>(y % 2 != 0 ? -1 : 1);
    }
    return T{0};
  }
  auto result = static_cast<std::uint32_t>(1);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(y); ++i) {
    result *= static_cast<std::uint32_t>(x);
  }
  return static_cast<T>(result);
}

// Returns a power from MPFR, rounded to the type, or truncated and clamped for integers.
template <class T>
double by_mpfr(double x, double y) {
  constexpr bool kHalf = sizeof(T) == 2;
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_t a;
  mpfr_t b;
  mpfr_t to;
  mpfr_inits2(53, a, b, static_cast<mpfr_ptr>(nullptr));
  mpfr_init2(to, is_float<T> ? (kHalf ? 11 : 24) : 200);
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  double result = 0;
  if (x < 0 && std::rint(y) != y) {
    result = NAN;
  } else {
    int ternary = mpfr_pow(to, a, b, is_float<T> ? MPFR_RNDN : MPFR_RNDZ);
    if constexpr (is_float<T>) {
      mpfr_set_emin(kHalf ? -23 : -148);
      mpfr_set_emax(kHalf ? 16 : 128);
      ternary = mpfr_check_range(to, ternary, MPFR_RNDN);
      mpfr_subnormalize(to, ternary, MPFR_RNDN);
    }
    result = mpfr_get_d(to, MPFR_RNDZ);
  }
  mpfr_clears(a, b, to, static_cast<mpfr_ptr>(nullptr));
  if constexpr (!is_float<T>) {
    if (result != result) {
      return 0;
    }
    result = std::trunc(result);
    result = std::fmin(std::fmax(result, static_cast<double>(std::numeric_limits<T>::min())),
                       static_cast<double>(std::numeric_limits<T>::max()));
    result += 0.0;  // removes a negative zero
  }
  return result;
}

template <class T>
std::vector<T> values(std::mt19937_64& random) {
  std::vector<T> result;
  for (const double x :
       {0.0,        1.0,   -1.0,  2.0,   -2.0,    3.0,     -3.0,       4.0,          9.0,           16.0,
        25.0,       81.0,  5.0,   7.0,   10.0,    31.0,    32.0,       33.0,         64.0,          100.0,
        127.0,      128.0, 255.0, 256.0, 32767.0, 65535.0, 16777217.0, 2147483647.0, -2147483648.0, 4294967295.0,
        43046721.0, 1e9,   0.5,   1.5,   0.25,    0.125,   0.0625,     2.5}) {
    if constexpr (is_float<T>) {
      const T value = narrow<T>(static_cast<f32>(x));
      if (value_of(value) == x) {
        result.push_back(value);
      }
    } else if (x >= static_cast<double>(std::numeric_limits<T>::min()) &&
               x <= static_cast<double>(std::numeric_limits<T>::max()) && x == std::rint(x)) {
      result.push_back(static_cast<T>(x));
    }
  }
  for (int i = 0; i < 60; ++i) {
    if constexpr (is_float<T>) {
      const double size = std::exp2(static_cast<double>(random() % 40) / 2 - 8);
      result.push_back(narrow<T>(static_cast<f32>(size * (random() % 2 == 0 ? 1 : -1))));
    } else {
      result.push_back(static_cast<T>(random() >> random() % 64));
    }
  }
  return result;
}

template <class T, class Exponent>
void test_types(std::mt19937_64& random) {
  for (const T x : values<T>(random)) {
    for (const Exponent y : values<Exponent>(random)) {
      const double ours = value_of(Pow<T, Exponent>{}(x, y));
      if constexpr (!is_float<T> && !is_float<Exponent>) {
        if (static_cast<std::int64_t>(y) <= 4096) {
          compare(x, y, ours, value_of(multiplied(x, y)));
        }
      } else {
        compare(x, y, ours, by_mpfr<T>(value_of(x), value_of(y)));
      }
    }
  }
}

template <class T>
void test_base(std::mt19937_64& random) {
  test_types<T, f32>(random);
  test_types<T, f16>(random);
  test_types<T, i32>(random);
  test_types<T, i16>(random);
  test_types<T, i8>(random);
  test_types<T, u32>(random);
  test_types<T, u16>(random);
  test_types<T, u8>(random);
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  test_base<f32>(random);
  test_base<f16>(random);
  test_base<i32>(random);
  test_base<i16>(random);
  test_base<i8>(random);
  test_base<u32>(random);
  test_base<u16>(random);
  test_base<u8>(random);
  std::printf("pow of mixed types: %ld pairs, %d wrong\n", g_pairs, g_wrong);
  return g_wrong == 0 ? 0 : 1;
}
