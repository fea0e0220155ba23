// SPDX-License-Identifier: MIT
// The functions of one element and who else knows them: glibc in FLOAT64, fast and nearly right, and MPFR, exact and
// slow. `near` is off by less than 2^-near_bits of the value.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ops/elementwise/scalars.h"

namespace anydml::functions {

struct Oracle {
  std::string_view name;
  double (*near)(double);
  int near_bits;
  // Rounds in the direction that it is given, to the precision of `to`.
  int (*exact)(mpfr_t to, const mpfr_t x, mpfr_rnd_t);
  // Our own, many at a time.
  void (*ours)(const f32* from, f32* to, std::size_t count);
  f16 (*ours_half)(f16);
};

// As the library does it (cpu/function_loops-inl.h).
template <class Of>
void run_many(const f32* from, f32* to, std::size_t count) {
  const Of of{};
  if constexpr (HasHard<Of, f32>) {
    constexpr std::size_t kStretch = 512;
    u32 flags[kStretch];
    for (std::size_t first = 0; first < count; first += kStretch) {
      const std::size_t end = std::min(first + kStretch, count);
      u32 any = 0;
#pragma GCC ivdep
      for (std::size_t i = first; i < end; ++i) {
        const f64 y = of.ordinary(from[i]);
        const u32 flag = asks_for_more(of, y, from[i]) ? 1 : 0;
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
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) {
      to[i] = static_cast<f32>(of.ordinary(from[i]));
    }
  }
}
template <class Of>
f16 run_half(f16 x) {
  return Function<f16, Of>{}(x);
}

// What MPFR has no function for is put together with far more bits than anybody asks for; the rounding is then that of
// mpfr_set, which is right unless the true value is within 2^-200 of a midpoint. Exact cases are exact here too.
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

// x / (1 + |x|); the sum is exact.
inline int softsign_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  Number sum;
  mpfr_abs(sum, x, MPFR_RNDN);
  mpfr_add_ui(sum, sum, 1, MPFR_RNDN);
  return mpfr_div(to, x, sum, rounding);
}
inline double softsign_near(double x) { return x / (1 + std::abs(x)); }

// 0.5 x erfc(-x / sqrt(2)). Where x is tiny, its first two terms: there are millions of subnormals to ask for.
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

#define ANYDML_ORACLE(name, near, bits, exact, Of) \
  { name, near, bits, exact, run_many<Of>, run_half<Of> }
inline const Oracle kOracles[] = {
    ANYDML_ORACLE("exp", std::exp, 46, mpfr_exp, ExpOf),
    ANYDML_ORACLE("softsign", softsign_near, 51, softsign_exact, SoftsignOf),
    ANYDML_ORACLE("erf", std::erf, 46, mpfr_erf, ErfOf),
    ANYDML_ORACLE("gelu", gelu_near, 42, gelu_exact, GeluOf),
};
#undef ANYDML_ORACLE

}  // namespace anydml::functions
