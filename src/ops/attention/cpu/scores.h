// SPDX-License-Identifier: MIT
// From products to exponentials and their sums, for some queries of one head at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/attention/cpu/kernels.h"
#include "ops/attention/step.h"
#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/vector_kernels.h"

namespace anydml {

inline constexpr std::int64_t kMostQueriesBeside = 32;

// The queries whose scores lie beside each other.
struct QueryPlace {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t first;
  std::int64_t count;  // scores beyond it are computed but have no meaning
};

// The addresses of tensors that may be absent: null.
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

  // In elements of FLOAT32.
  [[nodiscard]] std::int64_t elements() const;  // of the scores, with the elements that kernels write beyond them
  [[nodiscard]] std::int64_t room() const;      // that `raise` needs

  // Whether nothing but Scale changes the sums of products, so that it may wait.
  [[nodiscard]] bool is_scaled_later(const Masks& masks) const;
  // From sums of products to exponentials, in place. found: null, or if scores are scaled later the greatest sum of
  // each query, in one of kScorePeriod numbers; it is overwritten. totals: kScorePeriod sums, which repeat.
  void raise(const QueryPlace& place, const Masks& masks, f32* scores, f32* found, f32* room,
             f32* totals) const noexcept;

 private:
  [[nodiscard]] std::int64_t block() const;  // keys that are taken at a time
  void set(const QueryPlace& place, const Masks& masks, std::int64_t first, std::int64_t count, f32* scores,
           f32* room) const;
  void hide(const QueryPlace& place, const std::byte* lengths, std::int64_t first, std::int64_t count,
            f32* scores) const;
  void add_filter(const QueryPlace& place, const std::byte* mask, std::int64_t first, std::int64_t count, f32* scores,
                  f32* room) const;
  // Elements of the bias or of a boolean mask, brought beside each other as scores are.
  void gather(const QueryPlace& place, const HeadStrides& strides, const std::byte* from, DataType type,
              std::int64_t first, std::int64_t count, f32* to) const;

  AttentionStep step_;
  std::int64_t beside_;
  const ProductKernels* products_;
  const VectorKernels* vectors_;
  ScoreKernels kernels_;
};

}  // namespace anydml
