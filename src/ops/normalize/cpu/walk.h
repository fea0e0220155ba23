// SPDX-License-Identifier: MIT
// Computes the offsets of a row's elements.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/loop_walk.h"

namespace anydml {

// The elements [first, first + count) of a row, split into runs of its innermost loop.
class RowRuns {
 public:
  RowRuns(const AxisLoops& loops, std::int64_t first, std::int64_t count)
      : inner_(loops.reduced[loops.reduced_rank - 1]),
        outer_(loops.reduced, loops.reduced_rank - 1, first / inner_.size),
        column_(first % inner_.size),
        left_(count) {}

  [[nodiscard]] bool done() const { return left_ == 0; }
  [[nodiscard]] std::int64_t length() const { return std::min(left_, inner_.size - column_); }
  [[nodiscard]] std::int64_t input() const { return outer_.input() + column_ * inner_.input; }
  [[nodiscard]] std::int64_t output() const { return outer_.output() + column_ * inner_.output; }

  void next() {
    left_ -= length();
    column_ = 0;
    outer_.next();
  }

 private:
  const AxisLoop& inner_;
  LoopWalk outer_;
  std::int64_t column_;
  std::int64_t left_;
};

}  // namespace anydml
