// SPDX-License-Identifier: MIT
// Per-target kernels that process scores between the two products. The scores of several queries are interleaved: the
// scores of all these queries for one key come first, then their scores for the next key. Either 1, 16 or 32 queries
// are interleaved, so arrays of per-query numbers repeat with a period of kScorePeriod elements. All counts are
// multiples of kScoresTogether, so kernels also write a few elements after the last score.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "base/element.h"

namespace anydml {

inline constexpr std::int64_t kScorePeriod = 64;
inline constexpr std::int64_t kScoresTogether = 16;

struct ScoreKernels {
  void (*scale)(f32* scores, std::int64_t count, f32 factor) noexcept;
  void (*add)(f32* scores, std::int64_t count, const f32* others) noexcept;
  void (*add_one)(f32* scores, std::int64_t count, f32 other) noexcept;
  // Adds `other` to the scores whose mask element is 0.
  void (*add_where)(f32* scores, std::int64_t count, const i32* mask, f32 other) noexcept;
  // Updates the running maxima with the scores. `maximum` has kScorePeriod elements, one or more for each query.
  void (*find_max)(const f32* scores, std::int64_t count, f32* maximum) noexcept;
  // Replaces each score with EXP(factor * score - maximum[i modulo kScorePeriod]). The argument of EXP is at most 0.
  // sums: null, or an array of `period` sums; exponential i is added to sums[i modulo period].
  void (*raise)(f32* scores, std::int64_t count, f32 factor, const f32* maximum, f32* sums,
                std::int64_t period) noexcept;
  // sums[i] += exponentials[i], for any count.
  void (*add_lanes)(f32* sums, const f32* exponentials, std::int64_t count) noexcept;
  // values[i] /= divisors[i modulo kScorePeriod]
  void (*divide)(f32* values, std::int64_t count, const f32* divisors) noexcept;
  // For each of some rows of values and each of `beside` queries, continues a sum of products over the keys that the
  // query sees, which are those from firsts[i] to ends[i] of `count` keys. The exponential of key k and query i is at k
  // * beside + i, the factor of key k and row r at k * rows + r, the sum of row r and query i at r * beside + i.
  // beside: a multiple of kScoresTogether.
  void (*extend)(const f32* exponentials, std::int64_t beside, const f32* factors, std::int64_t rows,
                 std::int64_t count, const i32* firsts, const i32* ends, f32* sums) noexcept;
  void (*narrow)(const f32* from, std::int64_t count, std::byte* to) noexcept;  // converts to FLOAT16
  void (*widen)(const std::byte* from, std::int64_t count, f32* to) noexcept;
};

[[nodiscard]] const ScoreKernels* vector_score_kernels(cpu::Target target);  // null if this target has none
[[nodiscard]] const ScoreKernels* generic_score_kernels();

}  // namespace anydml
