// SPDX-License-Identifier: MIT
// Finds the offsets of the elements of rows, without looking at their values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/axis_loops.h"

namespace anydml {

// Walks the offsets of a nest of loops, the last loop fastest.
class LoopWalk {
 public:
  LoopWalk(const AxisLoop* loops, std::uint32_t rank, std::int64_t number) : loops_(loops), rank_(rank) {
    for (std::uint32_t i = rank; i-- > 0;) {
      indices_[i] = number % loops[i].size;
      number /= loops[i].size;
      input_ += indices_[i] * loops[i].input;
      output_ += indices_[i] * loops[i].output;
    }
  }

  [[nodiscard]] std::int64_t input() const { return input_; }
  [[nodiscard]] std::int64_t output() const { return output_; }

  void next() {
    for (std::uint32_t i = rank_; i-- > 0;) {
      input_ += loops_[i].input;
      output_ += loops_[i].output;
      if (++indices_[i] < loops_[i].size) {
        return;
      }
      input_ -= loops_[i].size * loops_[i].input;
      output_ -= loops_[i].size * loops_[i].output;
      indices_[i] = 0;
    }
  }

 private:
  const AxisLoop* loops_;
  std::uint32_t rank_;
  std::int64_t indices_[kMaxRank] = {};
  std::int64_t input_ = 0;
  std::int64_t output_ = 0;
};

// The elements [first, first + count) of a row as runs of its innermost loop.
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
