// SPDX-License-Identifier: MIT
// Turns products into exponentials and their sums, for some queries of one head at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/attention/cpu/kernels.h"
#include "ops/attention/step.h"
#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/vector_kernels.h"

namespace anydml {

inline constexpr std::int64_t kMaxQueriesBeside = 32;

// Queries whose scores are interleaved.
struct QueryRange {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t first;
  std::int64_t count;  // the scores of any further queries are computed but meaningless
};

// The keys [first, end) that each of some interleaved queries sees. A query that sees none has an empty range, and so
// has each column that is no query. The limits are those of the other queries; all are 0 if there are none.
struct SeenKeys {
  std::int64_t firsts[kMaxQueriesBeside];
  std::int64_t ends[kMaxQueriesBeside];
  std::int64_t lowest_first;
  std::int64_t highest_first;
  std::int64_t lowest_end;
  std::int64_t highest_end;

  [[nodiscard]] bool are_equal() const { return lowest_first == highest_first && lowest_end == highest_end; }
};

// Addresses of the optional tensors; null if absent.
struct Masks {
  const std::byte* bias;
  const std::byte* mask;
  const std::byte* lengths;
};

class Scores {
 public:
  Scores(const AttentionStep& step, std::int64_t beside, const ProductKernels* products, const VectorKernels* vectors,
         const ScoreKernels& kernels)
      : step_(step), beside_(beside), products_(products), vectors_(vectors), kernels_(kernels) {}

  // Sizes in FLOAT32 elements.
  [[nodiscard]] std::int64_t elements() const;  // size of the scores, including the padding that kernels write
  [[nodiscard]] std::int64_t room() const;      // scratch space for `raise`

  [[nodiscard]] SeenKeys seen(const QueryRange& queries, const Masks& masks) const;

  // Whether the sums of products are only multiplied by Scale, so that scaling can be postponed.
  [[nodiscard]] bool is_scaled_later(const Masks& masks) const;
  // Turns sums of products into exponentials, in place, from key 0 to the highest seen key, and +0 for keys that a
  // query does not see. At least one query sees a key; a query that sees none gets NaN. found: null or, if scores are
  // scaled later, kScorePeriod running maxima of the sums, one or more per query; `raise` overwrites them. totals:
  // kScorePeriod sums, repeated periodically.
  void raise(const QueryRange& queries, const SeenKeys& seen, const Masks& masks, f32* scores, f32* found, f32* room,
             f32* totals) const noexcept;

 private:
  [[nodiscard]] std::int64_t block() const;  // the number of keys that are processed at a time
  [[nodiscard]] bool hides_keys(const Masks& masks) const {
    return masks.lengths != nullptr || step_.hides_masked != 0;
  }
  void set(const QueryRange& queries, const SeenKeys& seen, const Masks& masks, std::int64_t first, std::int64_t count,
           f32* scores, f32* room) const;
  void hide(const QueryRange& queries, const SeenKeys& seen, std::int64_t first, std::int64_t count, f32* scores) const;
  void add_filter(const QueryRange& queries, const std::byte* mask, std::int64_t first, std::int64_t count, f32* scores,
                  f32* room) const;
  // Gathers elements of the bias or of a boolean mask into the layout of the scores.
  void gather(const QueryRange& queries, const HeadStrides& strides, const std::byte* from, DataType type,
              std::int64_t first, std::int64_t count, f32* to) const;

  AttentionStep step_;
  std::int64_t beside_;
  const ProductKernels* products_;
  const VectorKernels* vectors_;
  ScoreKernels kernels_;
};

}  // namespace anydml
