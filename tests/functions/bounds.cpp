// SPDX-License-Identifier: MIT
// Functions with parameters are within 0.5001 of the last place of the true value, which MPFR knows: random inputs with
// parameters of all sizes.
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "ops/elementwise/scalars.h"

namespace {

using namespace anydml;

constexpr double kMost = 0.5001;
constexpr mpfr_prec_t kBits = 400;

struct Parametrised {
  const char* name;
  f32 (*ours)(const Attributes&, f32);
  // `x` becomes the value.
  void (*exact)(mpfr_t x, double first, double second);
};

template <class Of>
f32 run(const Attributes& attributes, f32 x) {
  return Function<f32, Of>(attributes)(x);
}

const Parametrised kFunctions[] = {
    {"softplus", run<SoftplusOf>,
     [](mpfr_t x, double steepness, double) {
       mpfr_mul_d(x, x, steepness, MPFR_RNDN);
       mpfr_exp(x, x, MPFR_RNDN);
       mpfr_log1p(x, x, MPFR_RNDN);
       mpfr_div_d(x, x, steepness, MPFR_RNDN);
     }},
    {"parametric softplus", run<ParametricSoftplusOf>,
     [](mpfr_t x, double alpha, double beta) {
       mpfr_mul_d(x, x, beta, MPFR_RNDN);
       mpfr_exp(x, x, MPFR_RNDN);
       mpfr_log1p(x, x, MPFR_RNDN);
       mpfr_mul_d(x, x, alpha, MPFR_RNDN);
     }},
};

// How far `ours` is from the true value, in units of the last place at the true value.
double distance(mpfr_t value, f32 ours) {
  if (mpfr_zero_p(value) != 0) {
    return ours == 0 ? 0 : HUGE_VAL;
  }
  const mpfr_exp_t unit = std::max<mpfr_exp_t>(mpfr_get_exp(value) - 24, -149);
  if (std::isinf(ours)) {  // counts as the power of two that would follow
    mpfr_t most;
    mpfr_init2(most, kBits);
    mpfr_set_d(most, 0x1.ffffffp127, MPFR_RNDN);
    const bool right = mpfr_cmpabs(value, most) >= 0 && (mpfr_sgn(value) > 0) == (ours > 0);
    mpfr_clear(most);
    return right ? 0 : HUGE_VAL;
  }
  mpfr_sub_d(value, value, static_cast<double>(ours), MPFR_RNDN);
  mpfr_mul_2si(value, value, -unit, MPFR_RNDN);
  return std::abs(mpfr_get_d(value, MPFR_RNDN));
}

}  // namespace

int main() {
  int status = 0;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> within(-1, 1);
  const auto any = [&](int octaves) {
    return static_cast<f32>(std::copysign(std::exp2(within(random) * octaves), within(random)));
  };
  for (const Parametrised& function : kFunctions) {
    double worst = 0;
    f32 worst_at[3] = {0, 0, 0};
    for (int i = 0; i < 200000; ++i) {
      const int octaves = i % 4 == 0 ? 120 : 6;
      const f32 first = any(octaves);
      const f32 second = any(octaves);
      const f32 x = any(i % 3 == 0 ? 120 : 7);
      const Attributes attributes{{Scalar(static_cast<f64>(first)), Scalar(static_cast<f64>(second))}};
      mpfr_t value;
      mpfr_init2(value, kBits);
      mpfr_set_d(value, static_cast<double>(x), MPFR_RNDN);
      function.exact(value, static_cast<double>(first), static_cast<double>(second));
      if (mpfr_inf_p(value) == 0) {  // beyond MPFR's own range
        const double off = distance(value, function.ours(attributes, x));
        if (!(off <= worst)) {
          worst = off;
          worst_at[0] = x;
          worst_at[1] = first;
          worst_at[2] = second;
        }
      }
      mpfr_clear(value);
    }
    std::printf("%-20s off by at most %.8f of the last place, at %a with %a, %a\n", function.name, worst,
                static_cast<double>(worst_at[0]), static_cast<double>(worst_at[1]), static_cast<double>(worst_at[2]));
    status |= worst <= kMost ? 0 : 1;
  }
  return status;
}
