// SPDX-License-Identifier: MIT
// Checks functions with parameters, for parameter values that `prove` does not cover. The results must be within 0.5001
// units in the last place of the true value, which MPFR computes.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "oracles.h"

namespace {

using namespace anydml;
using functions::Number;

constexpr double kBound = 0.5001;
constexpr int kInputs = 5000;

// The exact value of a function of x and its two parameters.
using Exact = void (*)(mpfr_ptr to, f32 x, f32 a, f32 b);

// Computes scale * (exp(x) - 1) with many bits.
void less_one(mpfr_ptr to, mpfr_ptr x, f32 scale) {
  mpfr_expm1(to, x, MPFR_RNDN);
  mpfr_mul_d(to, to, f64{scale}, MPFR_RNDN);
}
void elu(mpfr_ptr to, f32 x, f32 alpha, f32) {
  mpfr_set_d(to, f64{x}, MPFR_RNDN);
  if (x < 0) {
    less_one(to, to, alpha);
  }
}
void celu(mpfr_ptr to, f32 x, f32 alpha, f32) {
  mpfr_set_d(to, f64{x}, MPFR_RNDN);
  if (x < 0) {
    mpfr_div_d(to, to, f64{alpha}, MPFR_RNDN);
    less_one(to, to, alpha);
  }
}
void scaled_elu(mpfr_ptr to, f32 x, f32 alpha, f32 gamma) {
  elu(to, x, alpha, 0);
  mpfr_mul_d(to, to, f64{gamma}, MPFR_RNDN);
}
void swish(mpfr_ptr to, f32 x, f32 scale, f32) {
  mpfr_set_d(to, -f64{x}, MPFR_RNDN);
  mpfr_mul_d(to, to, f64{scale}, MPFR_RNDN);
  mpfr_exp(to, to, MPFR_RNDN);
  mpfr_add_ui(to, to, 1, MPFR_RNDN);
  mpfr_d_div(to, f64{x}, to, MPFR_RNDN);
}
void scaled_tanh(mpfr_ptr to, f32 x, f32 alpha, f32 beta) {
  mpfr_set_d(to, f64{x}, MPFR_RNDN);
  mpfr_mul_d(to, to, f64{beta}, MPFR_RNDN);
  mpfr_tanh(to, to, MPFR_RNDN);
  mpfr_mul_d(to, to, f64{alpha}, MPFR_RNDN);
}

// Alpha ln(1 + exp(Beta x))
void parametric_softplus(mpfr_ptr to, f32 x, f32 alpha, f32 beta) {
  mpfr_set_d(to, f64{x}, MPFR_RNDN);
  mpfr_mul_d(to, to, f64{beta}, MPFR_RNDN);
  // The form max(x, 0) + ln(1 + exp(-|x|)) avoids an exponential that would overflow.
  Number positive;
  mpfr_set_zero(positive, 1);
  mpfr_max(positive, positive, to, MPFR_RNDN);
  mpfr_abs(to, to, MPFR_RNDN);
  mpfr_neg(to, to, MPFR_RNDN);
  mpfr_exp(to, to, MPFR_RNDN);
  mpfr_log1p(to, to, MPFR_RNDN);
  mpfr_add(to, to, positive, MPFR_RNDN);
  mpfr_mul_d(to, to, f64{alpha}, MPFR_RNDN);
}
void softplus(mpfr_ptr to, f32 x, f32 steepness, f32) {
  parametric_softplus(to, x, 1, steepness);
  mpfr_div_d(to, to, f64{steepness}, MPFR_RNDN);
}

// Returns the distance from the true value, in units in the last place of that value rounded to FLOAT32.
double distance(f32 ours, mpfr_ptr exact) {
  constexpr double kMax = std::numeric_limits<f32>::max();
  if (std::isinf(ours)) {
    // Infinity is correct if FLOAT32 rounds the true value to it.
    return std::abs(mpfr_get_d(exact, MPFR_RNDN)) > kMax && std::signbit(ours) == (mpfr_sgn(exact) < 0) ? 0 : 1e9;
  }
  const mpfr_exp_t unit = mpfr_regular_p(exact) != 0 ? std::max<mpfr_exp_t>(mpfr_get_exp(exact) - 24, -149) : -149;
  mpfr_sub_d(exact, exact, f64{ours}, MPFR_RNDN);
  mpfr_mul_2si(exact, exact, -unit, MPFR_RNDN);
  return std::abs(mpfr_get_d(exact, MPFR_RNDN));
}

double worst = 0;

template <class Of>
bool check(const char* name, Exact exact, f32 a, f32 b) {
  Attributes attributes;
  attributes.values[0] = Scalar(static_cast<f64>(a));
  attributes.values[1] = Scalar(static_cast<f64>(b));
  const Function<f32, Of> ours(attributes);
  Number value;
  std::uint32_t state = 12345;
  for (int i = 0; i < kInputs; ++i) {
    state = state * 1664525 + 1013904223;
    // Every second input is in the range where exponentials are neither 0 nor infinite.
    f32 x = from_bits<f32>(state ^ (state >> 15));
    if (i % 2 == 0) {
      x = static_cast<f32>(static_cast<double>(state) * 0x1p-32 * 40 - 20) / (i % 4 == 0 ? 1 : std::abs(b) + a);
    }
    if (!std::isfinite(x)) {
      continue;
    }
    exact(value, x, a, b);
    const double far = distance(ours(x), value);
    worst = std::max(worst, far);
    if (!(far <= kBound)) {
      std::printf("%s(%a; %a, %a) is %a: %g units in the last place off\n", name, static_cast<double>(x),
                  static_cast<double>(a), static_cast<double>(b), static_cast<double>(ours(x)), far);
      return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  bool good = true;
  for (const f32 a : {0.1f, 0.5f, 1.0f, 1.702f, 3.0f, 1e-3f, 1e4f, -2.0f, 1e-20f, 1e20f}) {
    good &= check<EluOf>("elu", elu, a, 0);
    good &= check<CeluOf>("celu", celu, a, 0);
    good &= check<SwishOf>("swish", swish, a, 0);
    good &= check<SoftplusOf>("softplus", softplus, a, 0);
    for (const f32 b : {1.0f, 0.3f, 7.5f, -1.5f, 1e-10f}) {
      good &= check<ScaledEluOf>("scaled_elu", scaled_elu, a, b);
      good &= check<ScaledTanhOf>("scaled_tanh", scaled_tanh, a, b);
      good &= check<ParametricSoftplusOf>("parametric_softplus", parametric_softplus, a, b);
    }
  }
  std::printf("worst: %.6f units in the last place\n", worst);
  return good ? 0 : 1;
}
