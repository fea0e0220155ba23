// SPDX-License-Identifier: MIT
// The score kernels, written as plain loops that the compiler vectorizes. This file is included once per target, inside
// its namespace, where widen_halves and narrow_halves are already defined.

#define ANYDML_FLATTEN __attribute__((flatten, noinline))

ANYDML_FLATTEN void scale(f32* scores, std::int64_t count, f32 factor) noexcept {
  for (std::int64_t first = 0; first < count; first += kScoresTogether) {
    for (std::int64_t i = first; i < first + kScoresTogether; ++i) {
      scores[i] *= factor;
    }
  }
}

ANYDML_FLATTEN void add(f32* __restrict scores, std::int64_t count, const f32* __restrict others) noexcept {
  for (std::int64_t first = 0; first < count; first += kScoresTogether) {
    for (std::int64_t i = first; i < first + kScoresTogether; ++i) {
      scores[i] += others[i];
    }
  }
}

ANYDML_FLATTEN void add_one(f32* scores, std::int64_t count, f32 other) noexcept {
  for (std::int64_t first = 0; first < count; first += kScoresTogether) {
    for (std::int64_t i = first; i < first + kScoresTogether; ++i) {
      scores[i] += other;
    }
  }
}

ANYDML_FLATTEN void add_where(f32* __restrict scores, std::int64_t count, const i32* __restrict mask,
                              f32 other) noexcept {
  for (std::int64_t first = 0; first < count; first += kScoresTogether) {
    for (std::int64_t i = first; i < first + kScoresTogether; ++i) {
      const f32 added = scores[i] + other;
      scores[i] = mask[i] == 0 ? added : scores[i];
    }
  }
}

#if defined(HWY_NAMESPACE) && HWY_TARGET == HWY_NEON
#include "ops/attention/cpu/neon-inl.h"
#else
ANYDML_FLATTEN void find_max(const f32* __restrict scores, std::int64_t count, f32* __restrict maxima) noexcept {
  std::int64_t first = 0;
  for (; first + kScorePeriod <= count; first += kScorePeriod) {
    for (std::int64_t i = 0; i < kScorePeriod; ++i) {
      maxima[i] = greater_score(maxima[i], scores[first + i]);
    }
  }
  for (std::int64_t i = 0; first + i < count; ++i) {
    maxima[i] = greater_score(maxima[i], scores[first + i]);
  }
}

ANYDML_FLATTEN void raise(f32* __restrict scores, std::int64_t count, f32 factor, const f32* __restrict maxima,
                          f32* __restrict sums, std::int64_t period) noexcept {
  std::int64_t lane = 0;
  for (std::int64_t first = 0; first < count; first += kScoresTogether) {
    const f32* const of_these = maxima + first % kScorePeriod;
    for (std::int64_t i = 0; i < kScoresTogether; ++i) {
      scores[first + i] = exponential_of_score(scores[first + i] * factor - of_these[i]);
    }
    if (sums != nullptr) {
      for (std::int64_t i = 0; i < kScoresTogether; ++i) {
        sums[lane + i] += scores[first + i];
      }
      lane = lane + kScoresTogether == period ? 0 : lane + kScoresTogether;
    }
  }
}
#endif

ANYDML_FLATTEN void add_lanes(f32* __restrict sums, const f32* __restrict exponentials, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    sums[i] += exponentials[i];
  }
}

ANYDML_FLATTEN void divide(f32* __restrict values, std::int64_t count, const f32* __restrict divisors) noexcept {
  for (std::int64_t first = 0; first < count; first += kScoresTogether) {
    const f32* const of_these = divisors + first % kScorePeriod;
    for (std::int64_t i = 0; i < kScoresTogether; ++i) {
      values[first + i] = values[first + i] / of_these[i];
    }
  }
}

#if defined(HWY_NAMESPACE)
#include "ops/attention/cpu/extend-inl.h"
#else
void extend(const f32* exponentials, std::int64_t beside, const f32* factors, std::int64_t rows, std::int64_t count,
            const i32* firsts, const i32* ends, f32* sums) noexcept {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < beside; ++i) {
      for (std::int64_t key = firsts[i]; key < std::min<std::int64_t>(count, ends[i]); ++key) {
        sums[row * beside + i] =
            fused(exponentials[key * beside + i], factors[key * rows + row], sums[row * beside + i]);
      }
    }
  }
}
#endif

void narrow_row(const f32* from, std::int64_t count, std::byte* to) noexcept { narrow_halves(from, count, to); }
void widen_row(const std::byte* from, std::int64_t count, f32* to) noexcept { widen_halves(from, count, to); }

constexpr ScoreKernels kScoreKernels = {.scale = scale,
                                        .add = add,
                                        .add_one = add_one,
                                        .add_where = add_where,
                                        .find_max = find_max,
                                        .raise = raise,
                                        .add_lanes = add_lanes,
                                        .divide = divide,
                                        .extend = extend,
                                        .narrow = narrow_row,
                                        .widen = widen_row};

#undef ANYDML_FLATTEN
