// SPDX-License-Identifier: MIT
// The compiled part of search.py, which builds it for particular constants and functions.
#include <mpfr.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "search_these.h"

namespace {

using namespace anydml;

template <class Of>
f32 run(f32 x) {
  return static_cast<f32>(Function<f32, Of>{}.precise(x));
}
struct Row {
  f32 (*ours)(f32);
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
  const char* file;
};
struct Case {
  f32 (*ours)(f32);
  f32 x;
  f32 right;
};
constexpr Row kRows[] = {SEARCH_FUNCTIONS};
f64* const kConstants[] = {SEARCH_CONSTANTS};
constexpr std::size_t kCount = sizeof(kConstants) / sizeof(*kConstants);

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  mpfr_t x;
  mpfr_t y;
  mpfr_init2(x, 24);
  mpfr_init2(y, 24);
  for (const Row& row : kRows) {
    std::FILE* const file = std::fopen(row.file, "rb");
    for (u32 bits = 0; file != nullptr && std::fread(&bits, sizeof(bits), 1, file) == 1;) {
      const f32 value = from_bits<f32>(bits);
      mpfr_set_flt(x, value, MPFR_RNDN);
      row.exact(y, x, MPFR_RNDN);
      // Infinities, NaN and subnormal results do not depend on the last digits.
      if (mpfr_regular_p(y) != 0 && mpfr_get_exp(y) > -125) {
        cases.push_back({row.ours, value, mpfr_get_flt(y, MPFR_RNDN)});
      }
    }
  }
  return cases;
}

}  // namespace

int main(int count, char** arguments) {
  const double maximum = std::atof(arguments[1]);
  const int tries = std::atoi(arguments[2]);
  const std::vector<Case> cases = read_cases();
  f64 given[kCount];
  double reach[kCount];  // the change that moves the value by 2^-53
  i64 best[kCount] = {};
  for (std::size_t i = 0; i < kCount; ++i) {
    given[i] = *kConstants[i];
    reach[i] = std::ldexp(1 / std::pow(maximum, i + 1), -1 - std::ilogb(given[i]));
    best[i] = static_cast<int>(i) + 3 < count ? std::atoll(arguments[i + 3]) : 0;
  }
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> one(-1, 1);
  std::size_t minimum = cases.size() + 1;
  for (int attempt = 0; attempt < tries && minimum > 0; ++attempt) {
    const double scale = attempt == 0 ? 0 : std::exp2(3 * one(random) - 2);
    i64 moves[kCount];
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool move = (random() & 1) != 0;
      moves[i] = best[i] + (move ? std::llrint(scale * one(random) * std::max(1.0, reach[i])) : 0);
      *kConstants[i] = from_bits<f64>(to_bits(given[i]) + static_cast<u64>(moves[i]));
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < cases.size() && wrong <= minimum; ++i) {
      wrong += cases[i].ours(cases[i].x) != cases[i].right ? 1 : 0;
    }
    if (wrong <= minimum) {
      std::copy(moves, moves + kCount, best);
      if (wrong < minimum) {
        std::printf("%zu of %zu wrong:", wrong, cases.size());
        for (const i64 move : moves) {
          std::printf(" %lld", static_cast<long long>(move));
        }
        std::puts("");
      }
      minimum = wrong;
    }
  }
}
