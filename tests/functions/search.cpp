// SPDX-License-Identifier: MIT
// Searches for coefficients of exp's polynomial for which no function based on it gives a wrong result. The program is
// for developers who change a definition in exponential.h. It starts from the committed coefficients and makes random
// steps as small as the polynomial's error. It keeps a step if the step does not increase the number of wrong results,
// and prints the coefficients whenever the number drops.
//
//   search SECONDS SEED NAME=FILE...     FILE was written by `prove --write-hard FILE NAME`
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "ops/scalar/functions/function.h"
// Turns the constants in these headers into variables.
#define constexpr
#include "ops/scalar/functions/exponential.h"
#include "ops/scalar/functions/hyperbolic.h"
#undef constexpr
#include "oracles.h"

namespace {

using namespace anydml;
using functions::Oracle;

// Only results that are at most this many units in the last place from a midpoint are checked. For those, the error of
// a FLOAT64 can decide the rounding.
constexpr double kNear = 6e-8;

struct Cases {
  const Oracle* oracle;
  std::vector<f32> inputs;
  std::vector<f32> right;
  std::vector<f32> ours;
};

void add_case(Cases& cases, f32 x) {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  functions::Number from;
  functions::Number value;
  functions::Number whole;
  mpfr_set_d(from, static_cast<double>(x), MPFR_RNDN);
  cases.oracle->exact(value, from, MPFR_RNDN);
  if (mpfr_regular_p(value) == 0) {
    return;
  }
  const mpfr_exp_t unit = std::max<mpfr_exp_t>(mpfr_get_exp(value) - 24, -149);
  mpfr_mul_2si(value, value, -unit, MPFR_RNDN);
  mpfr_rint(whole, value, MPFR_RNDN);
  const double right = std::ldexp(mpfr_get_d(whole, MPFR_RNDN), static_cast<int>(unit));
  mpfr_sub(value, value, whole, MPFR_RNDN);
  const double from_midpoint = 0.5 - std::abs(mpfr_get_d(value, MPFR_RNDN));
  if (from_midpoint < kNear) {
    cases.inputs.push_back(x);
    cases.right.push_back(static_cast<f32>(right));
  }
}

int wrong(std::vector<Cases>& all, int limit) {
  int sum = 0;
  for (Cases& cases : all) {
    cases.oracle->ours(cases.inputs.data(), cases.ours.data(), cases.inputs.size());
    for (std::size_t i = 0; i < cases.inputs.size(); ++i) {
      sum += static_cast<int>(to_bits(cases.ours[i]) != to_bits(cases.right[i]));
    }
    if (sum > limit) {
      break;
    }
  }
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  using namespace exponential;
  const std::array<f64*, 9> coefficients = {&kExp2, &kExp3, &kExp4, &kExp5, &kExp6, &kExp7, &kExp8, &kExp9, &kExp10};
  if (count < 4) {
    std::fprintf(stderr, "usage: search SECONDS SEED NAME=FILE...\n");
    return 2;
  }
  std::vector<Cases> all;
  for (int i = 3; i < count; ++i) {
    const std::string argument = arguments[i];
    const std::string name = argument.substr(0, argument.find('='));
    std::FILE* const file = std::fopen(argument.substr(name.size() + 1).c_str(), "rb");
    for (const Oracle& oracle : functions::kOracles) {
      if (oracle.name == name && file != nullptr) {
        Cases cases{&oracle, {}, {}, {}};
        std::uint32_t bits = 0;
        while (std::fread(&bits, sizeof(bits), 1, file) == 1) {
          add_case(cases, from_bits<f32>(bits));
        }
        cases.ours.resize(cases.inputs.size());
        all.push_back(std::move(cases));
      }
    }
    if (file != nullptr) {
      std::fclose(file);
    }
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(std::atoll(arguments[2])));
  std::normal_distribution<double> normal;
  std::array<f64, coefficients.size()> kept{};
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = *coefficients[i];
  }
  int now = wrong(all, 1 << 30);
  int minimum = now;
  std::printf("%d wrong\n", now);
  const auto start = std::chrono::steady_clock::now();
  while (minimum > 0 &&
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < std::atof(arguments[1])) {
    for (std::size_t i = 0; i < kept.size(); ++i) {
      *coefficients[i] = kept[i];
    }
    const double size = std::exp2(-51 - static_cast<double>(random() % 8));
    for (std::uint64_t steps = 1 + random() % 3; steps > 0; --steps) {
      const std::size_t i = random() % kept.size();
      *coefficients[i] += normal(random) * size / std::pow(0.34, static_cast<double>(i + 2));
    }
    // Occasionally accepts a worse step, to escape local minima.
    const int allowed = now + static_cast<int>(random() % 40000 == 0);
    const int after = wrong(all, allowed);
    if (after <= allowed) {
      now = after;
      for (std::size_t i = 0; i < kept.size(); ++i) {
        kept[i] = *coefficients[i];
      }
      if (now < minimum) {
        minimum = now;
        std::printf("%d wrong:", minimum);
        for (const f64 value : kept) {
          std::printf(" %a", value);
        }
        std::printf("\n");
        std::fflush(stdout);
      }
    }
  }
  return minimum == 0 ? 0 : 1;
}
