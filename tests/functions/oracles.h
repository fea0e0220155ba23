// SPDX-License-Identifier: MIT
// The functions of one argument, with two oracles for each: glibc in FLOAT64, fast and nearly exact, and MPFR, exact
// and slow. The relative error of `near` is less than 2^-near_bits.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ops/scalar/scalars.h"

namespace anydml::functions {

struct Oracle {
  std::string_view name;
  double (*near)(double);
  int near_bits;
  // Rounds in the given direction, to the precision of `to`.
  int (*exact)(mpfr_t to, const mpfr_t x, mpfr_rnd_t);
  // The library's own function, for many elements at once.
  void (*ours)(const f32* from, f32* to, std::size_t count);
  f16 (*ours_half)(f16);
};

template <class Of, f32... kValues>
Of make() {
  if constexpr (std::is_constructible_v<Of, const Attributes&>) {
    return Of(Attributes{{Scalar(f64{kValues})...}});
  } else {
    return Of{};
  }
}

// Computes many elements as the library does (ops/elementwise/cpu/function_loops-inl.h).
template <class Of, f32... kValues>
void run_many(const f32* __restrict from, f32* __restrict to, std::size_t count) {
  const Of of = make<Of, kValues...>();
  if constexpr (HasHard<Of, f32>) {
    constexpr std::size_t kStretch = 512;
    u32 flags[kStretch];
    for (std::size_t first = 0; first < count; first += kStretch) {
      const std::size_t end = std::min(first + kStretch, count);
      u32 any = 0;
      for (std::size_t i = first; i < end; ++i) {
        const f64 y = of.ordinary(from[i]);
        const u32 flag = asks_for_more<f32>(of, y, from[i]) ? 1 : 0;
        to[i] = static_cast<f32>(y);
        flags[i - first] = flag;
        any |= flag;
      }
      for (std::size_t i = first; any != 0 && i < end; ++i) {
        if (flags[i - first] != 0) {
          to[i] = static_cast<f32>(of.hard(from[i]));
        }
      }
    }
  } else {
    // The loop takes sixteen at a time, so that compilers interleave the instructions of several vectors.
    constexpr std::size_t kTogether = 16;
    std::size_t done = 0;
    for (; done + kTogether <= count; done += kTogether) {
      for (std::size_t i = done; i < done + kTogether; ++i) {
        to[i] = static_cast<f32>(of.ordinary(from[i]));
      }
    }
    for (; done < count; ++done) {
      to[done] = static_cast<f32>(of.ordinary(from[done]));
    }
  }
}
template <class Of, f32... kValues>
f16 run_half(f16 x) {
  return make<Function<f16, Of>, kValues...>()(x);
}

// Functions that MPFR lacks are composed with far more bits than necessary. mpfr_set does the final rounding, which is
// correct unless the true value is within 2^-200 of a midpoint. Exact cases are exact here too.
inline constexpr mpfr_prec_t kManyBits = 400;

class Number {
 public:
  Number() { mpfr_init2(value_, kManyBits); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

// 1 / (1 + exp(-x))
inline int sigmoid_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  Number e;
  mpfr_neg(e, x, MPFR_RNDN);
  mpfr_exp(e, e, MPFR_RNDN);
  mpfr_add_ui(e, e, 1, MPFR_RNDN);
  return mpfr_ui_div(to, 1, e, rounding);
}

// x * sigmoid(x)
inline int swish_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  Number s;
  if (mpfr_regular_p(x) != 0 && mpfr_get_exp(x) < -100) {
    // 1/2 + x/4; x^3/48 is negligible. This avoids millions of expensive evaluations.
    mpfr_div_2ui(s, x, 2, MPFR_RNDN);
    mpfr_add_d(s, s, 0.5, MPFR_RNDN);
  } else {
    sigmoid_exact(s, x, MPFR_RNDN);
  }
  return mpfr_mul(to, x, s, rounding);
}
// x >= 0 ? x : exp(x) - 1
inline int elu_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  return mpfr_sgn(x) >= 0 ? mpfr_set(to, x, rounding) : mpfr_expm1(to, x, rounding);
}
// x > 0 ? Gamma * x : Gamma * (Alpha * exp(x) - Alpha)
inline constexpr f32 kSeluAlpha = 1.67326319217681884765625f;
inline constexpr f32 kSeluGamma = 1.05070102214813232421875f;
inline int selu_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  if (mpfr_sgn(x) > 0) {
    return mpfr_mul_d(to, x, f64{kSeluGamma}, rounding);
  }
  Number e;
  mpfr_exp(e, x, MPFR_RNDN);
  mpfr_mul_d(e, e, f64{kSeluAlpha}, MPFR_RNDN);
  mpfr_sub_d(e, e, f64{kSeluAlpha}, MPFR_RNDN);
  return mpfr_mul_d(to, e, f64{kSeluGamma}, rounding);
}
inline double sigmoid_near(double x) { return 1 / (1 + std::exp(-x)); }
inline double swish_near(double x) { return x * sigmoid_near(x); }
inline double elu_near(double x) { return x >= 0 ? x : std::expm1(x); }
inline double selu_near(double x) {
  return x > 0 ? f64{kSeluGamma} * x : f64{kSeluGamma} * (f64{kSeluAlpha} * std::expm1(x) + 0.0);
}

// x / (1 + |x|); the sum is exact.
inline int softsign_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  Number sum;
  mpfr_abs(sum, x, MPFR_RNDN);
  mpfr_add_ui(sum, sum, 1, MPFR_RNDN);
  return mpfr_div(to, x, sum, rounding);
}
inline double softsign_near(double x) { return x / (1 + std::abs(x)); }

// 0.5 x erfc(-x / sqrt(2)). For tiny x, only the first two terms are used, because there are millions of subnormals to
// evaluate.
inline int gelu_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  Number factor;
  Number half;
  mpfr_div_ui(half, x, 2, MPFR_RNDN);
  if (mpfr_regular_p(x) != 0 && mpfr_get_exp(x) < -100) {
    static const double kSlope = std::sqrt(2 / std::acos(-1.0));
    mpfr_set_d(factor, kSlope, MPFR_RNDN);
    mpfr_mul(factor, factor, x, MPFR_RNDN);
    mpfr_add_ui(factor, factor, 1, MPFR_RNDN);
  } else {
    mpfr_sqrt_ui(factor, 2, MPFR_RNDN);
    mpfr_div(factor, x, factor, MPFR_RNDN);
    mpfr_neg(factor, factor, MPFR_RNDN);
    mpfr_erfc(factor, factor, MPFR_RNDN);
  }
  return mpfr_mul(to, half, factor, rounding);
}
inline double gelu_near(double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }

// ln(1 + exp(x))
inline double softplus_near(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
inline int softplus_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  Number e;
  mpfr_exp(e, x, MPFR_RNDN);
  return mpfr_log1p(to, e, rounding);
}

#define ANYDML_ORACLE(name, near, bits, exact, ...) \
  { name, near, bits, exact, run_many<__VA_ARGS__>, run_half<__VA_ARGS__> }
// clang-format off
inline const Oracle kOracles[] = {
    ANYDML_ORACLE("exp", std::exp, 46, mpfr_exp, ExpOf),
    ANYDML_ORACLE("sigmoid", sigmoid_near, 46, sigmoid_exact, SigmoidOf),
    ANYDML_ORACLE("swish", swish_near, 46, swish_exact, SwishOf, 1.0f),
    ANYDML_ORACLE("tanh", std::tanh, 46, mpfr_tanh, TanhOf),
    ANYDML_ORACLE("sinh", std::sinh, 46, mpfr_sinh, SinhOf),
    ANYDML_ORACLE("cosh", std::cosh, 46, mpfr_cosh, CoshOf),
    ANYDML_ORACLE("elu", elu_near, 46, elu_exact, EluOf, 1.0f),
    ANYDML_ORACLE("celu", elu_near, 46, elu_exact, CeluOf, 1.0f),
    ANYDML_ORACLE("selu", selu_near, 46, selu_exact, ScaledEluOf, kSeluAlpha, kSeluGamma),
    ANYDML_ORACLE("scaled_tanh", std::tanh, 46, mpfr_tanh, ScaledTanhOf, 1.0f, 1.0f),
    ANYDML_ORACLE("sin", std::sin, 46, mpfr_sin, SinOf),
    ANYDML_ORACLE("cos", std::cos, 46, mpfr_cos, CosOf),
    ANYDML_ORACLE("tan", std::tan, 46, mpfr_tan, TanOf),
    ANYDML_ORACLE("softsign", softsign_near, 51, softsign_exact, SoftsignOf),
    ANYDML_ORACLE("erf", std::erf, 46, mpfr_erf, ErfOf),
    ANYDML_ORACLE("gelu", gelu_near, 42, gelu_exact, GeluOf),
    ANYDML_ORACLE("log", std::log, 46, mpfr_log, LogOf),
    ANYDML_ORACLE("softplus", softplus_near, 46, softplus_exact, SoftplusOf, 1.0f),
    ANYDML_ORACLE("asinh", std::asinh, 46, mpfr_asinh, AsinhOf),
    ANYDML_ORACLE("acosh", std::acosh, 46, mpfr_acosh, AcoshOf),
    ANYDML_ORACLE("atanh", std::atanh, 46, mpfr_atanh, AtanhOf),
    ANYDML_ORACLE("asin", std::asin, 46, mpfr_asin, AsinOf),
    ANYDML_ORACLE("acos", std::acos, 46, mpfr_acos, AcosOf),
    ANYDML_ORACLE("atan", std::atan, 46, mpfr_atan, AtanOf),
};
// clang-format on
#undef ANYDML_ORACLE

}  // namespace anydml::functions
