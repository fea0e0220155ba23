// SPDX-License-Identifier: MIT
// The functions of two arguments, with their oracles; see oracles.h.
#pragma once

#include "oracles.h"

namespace anydml::functions {

struct PairOracle {
  std::string_view name;
  double (*near)(double, double);
  int near_bits;
  int (*exact)(mpfr_t to, const mpfr_t a, const mpfr_t b, mpfr_rnd_t);
  // `ours` is the library's own function, for many elements at once. It returns the number of elements that the fast
  // path left to the hard path. `ours_hard` uses the hard path for all elements.
  std::size_t (*ours)(const f32* a, const f32* b, f32* to, std::size_t count);
  void (*ours_hard)(const f32* a, const f32* b, f32* to, std::size_t count);
  f16 (*ours_half)(f16, f16);
};

template <class Of>
std::size_t run_pairs(const f32* a, const f32* b, f32* to, std::size_t count) {
  const Of of{};
  bool any = false;
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const f64 result = of.ordinary(a[i], b[i]);
    any |= of.is_hard(a[i], b[i], result);
    to[i] = static_cast<f32>(result);
  }
  std::size_t hard = 0;
  for (std::size_t i = 0; any && i < count; ++i) {
    if (of.is_hard(a[i], b[i], of.ordinary(a[i], b[i]))) {
      to[i] = static_cast<f32>(of.hard(a[i], b[i]));
      ++hard;
    }
  }
  return hard;
}
template <class Of>
void run_pairs_hard(const f32* a, const f32* b, f32* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<f32>(Of{}.hard(a[i], b[i]));
  }
}
template <class Of>
f16 run_half_pair(f16 a, f16 b) {
  return FunctionOfTwo<f16, Of>{}(a, b);
}

#define ANYDML_PAIR_ORACLE(name, near, bits, exact, Of) \
  { name, near, bits, exact, run_pairs<Of>, run_pairs_hard<Of>, run_half_pair<Of> }
inline const PairOracle kPairOracles[] = {
    ANYDML_PAIR_ORACLE("atan_yx", std::atan2, 46, mpfr_atan2, AtanYxOf),
};
#undef ANYDML_PAIR_ORACLE

}  // namespace anydml::functions
