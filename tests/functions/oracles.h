// SPDX-License-Identifier: MIT
// The functions of one element and who else knows them: glibc in FLOAT64, fast and nearly right, and MPFR, exact and
// slow. `near` is off by less than 2^-near_bits of the value.
#pragma once

#include <mpfr.h>

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

template <class Of>
void run_many(const f32* from, f32* to, std::size_t count) {
  const Of of{};
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<f32>(of.ordinary(from[i]));
  }
  if constexpr (HasHard<Of>) {
    for (std::size_t i = 0; i < count; ++i) {
      if (of.is_hard(from[i])) {
        to[i] = static_cast<f32>(of.hard(from[i]));
      }
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

// ln(1 + exp(x))
inline double softplus_near(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
inline int softplus_exact(mpfr_t to, const mpfr_t x, mpfr_rnd_t rounding) {
  Number e;
  mpfr_exp(e, x, MPFR_RNDN);
  return mpfr_log1p(to, e, rounding);
}
struct PlainSoftplus : SoftplusOf {
  PlainSoftplus() : SoftplusOf(Attributes{{Scalar(1.0)}}) {}
};

#define ANYDML_ORACLE(name, near, bits, exact, Of) \
  { name, near, bits, exact, run_many<Of>, run_half<Of> }
inline const Oracle kOracles[] = {
    ANYDML_ORACLE("exp", std::exp, 46, mpfr_exp, ExpOf),
    ANYDML_ORACLE("log", std::log, 46, mpfr_log, LogOf),
    ANYDML_ORACLE("softplus", softplus_near, 46, softplus_exact, PlainSoftplus),
    ANYDML_ORACLE("asinh", std::asinh, 46, mpfr_asinh, AsinhOf),
    ANYDML_ORACLE("acosh", std::acosh, 46, mpfr_acosh, AcoshOf),
    ANYDML_ORACLE("atanh", std::atanh, 46, mpfr_atanh, AtanhOf),
};
#undef ANYDML_ORACLE

}  // namespace anydml::functions
