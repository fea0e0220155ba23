// SPDX-License-Identifier: MIT
// The kernels as plain loops that the compiler vectorizes. This file is included once per target, inside the namespace
// of the target. Compilers vectorize FLOAT16 conversions badly, so the namespace must already define widen_halves and
// narrow_halves. This file must not use lambdas or call templates from other files unless they are inlined, because
// they would not be compiled for the target.
//
// Each row is read three times: for its maximum, for the exponentials and their sum, and for the results. Rows that fit
// into a stage stay in the L1 cache between these passes, and several short rows are processed at a time. The
// exponentials of a longer row are stored in the output if possible. If not, they are stored in scratch memory if they
// fit, and otherwise computed twice.

#include "ops/normalize/cpu/rows-inl.h"

inline constexpr std::int64_t kExponentialsTogether = 16;  // elements whose instructions are interleaved
inline constexpr std::int64_t kShortRow = 64;              // in elements; shorter rows are processed together
inline constexpr std::int64_t kMaxRows = 256;
static_assert(kExponentialsTogether <= kNormalizePadding);

// Replaces each element with EXP(x). The count is rounded up to a multiple of kExponentialsTogether.
ANYDML_FLATTEN void exponentials_in_place(f32* values, std::int64_t count) {
  for (std::int64_t first = 0; first < count; first += kExponentialsTogether) {
    for (std::int64_t i = first; i < first + kExponentialsTogether; ++i) {
      values[i] = exponential_of(values[i]);
    }
  }
}

// Computes EXP(x - maximum) for each element.
ANYDML_FLATTEN void exponentials(const Elements* __restrict x, f32 maximum, std::int64_t count,
                                 Elements* __restrict to) {
  const std::int64_t whole = count - count % kExponentialsTogether;
  for (std::int64_t first = 0; first < whole; first += kExponentialsTogether) {
    for (std::int64_t i = first; i < first + kExponentialsTogether; ++i) {
      to[i] = exponential_of(x[i] - maximum);
    }
  }
  if (whole < count) {
    alignas(64) f32 rest[kExponentialsTogether] = {};
    for (std::int64_t i = whole; i < count; ++i) {
      rest[i - whole] = x[i] - maximum;
    }
    for (std::int64_t i = 0; i < kExponentialsTogether; ++i) {
      rest[i] = exponential_of(rest[i]);
    }
    for (std::int64_t i = whole; i < count; ++i) {
      to[i] = rest[i - whole];
    }
  }
}

ANYDML_FLATTEN f32 max_of(const Elements* x, std::int64_t count, f32 before) {
  constexpr std::int64_t kAtOnce = 32;
  if (count < kAtOnce) {
    for (std::int64_t i = 0; i < count; ++i) {
      before = greater_element(before, x[i]);
    }
    return before;
  }
  alignas(64) f32 best[kAtOnce];
  for (std::int64_t i = 0; i < kAtOnce; ++i) {
    best[i] = before;
  }
  std::int64_t first = 0;
  for (; first + kAtOnce <= count; first += kAtOnce) {
    for (std::int64_t i = 0; i < kAtOnce; ++i) {
      best[i] = greater_element(best[i], x[first + i]);
    }
  }
  for (std::int64_t i = 0; first + i < count; ++i) {
    best[i] = greater_element(best[i], x[first + i]);
  }
  for (std::int64_t half = kAtOnce / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half; ++i) {
      best[i] = greater_element(best[i], best[i + half]);
    }
  }
  return best[0];
}

#if defined(HWY_NAMESPACE) && defined(__x86_64__)
ANYDML_FLATTEN bool has_tiny_exponential(const Elements* exponentials, std::int64_t count) {
  u32 any = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    any |= is_tiny_exponential(exponentials[i]) ? 1U : 0U;
  }
  return any != 0;
}
#endif

// Computes the results of a part of a row. exponentials: EXP(x - maximum), used only by softmax; `to` may be the same
// buffer.
template <NormalizeFunction kFunction>
ANYDML_FLATTEN void finish(const Elements* x, const Elements* exponentials, f32 maximum, f32 total, std::int64_t count,
                           Elements* to) {
  if constexpr (kFunction == NormalizeFunction::softmax) {
#if defined(HWY_NAMESPACE) && defined(__x86_64__)
    // On AVX-512, a vector division takes as long as a dozen fused multiply-adds. On Arm, a division is faster than
    // four fused multiply-adds and the check for tiny exponentials.
    if (count >= kShortRow && !has_tiny_exponential(exponentials, count)) {
      const OrdinaryDivisor by = OrdinaryDivisor::of(total);
      ANYDML_INDEPENDENT
      for (std::int64_t i = 0; i < count; ++i) {
        to[i] = by.quotient(exponentials[i]);
      }
      return;
    }
#endif
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = exponentials[i] / total;
    }
  } else {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = (x[i] - maximum) - total;  // in this case `total` is the logarithm of the sum
    }
  }
}

// Converts the total to the form that `finish` expects.
template <NormalizeFunction kFunction>
inline f32 finished_total(f32 sum) {
  return kFunction == NormalizeFunction::log_softmax ? logarithm_of(sum) : sum;
}

#include "ops/normalize/cpu/across-inl.h"
#include "ops/normalize/cpu/along-inl.h"

template <NormalizeFunction kFunction>
NormalizeRun find_run(DataType type, bool across) {
  if (type == DataType::FLOAT16) {
    return across ? run_across<f16, kFunction> : run_along<f16, kFunction>;
  }
  return across ? run_across<f32, kFunction> : run_along<f32, kFunction>;
}

NormalizeRun find_run(const NormalizeStep& step, bool across) {
  switch (step.function) {
    case NormalizeFunction::softmax:
      return find_run<NormalizeFunction::softmax>(step.type, across);
    case NormalizeFunction::log_softmax:
      return find_run<NormalizeFunction::log_softmax>(step.type, across);
    default:
      break;
  }
  return find_run<NormalizeFunction::hardmax>(step.type, across);
}

#undef ANYDML_FLATTEN
