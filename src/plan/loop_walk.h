// SPDX-License-Identifier: MIT
// Steps through a nest of loops without dividing at each position.
#pragma once

#include <cstdint>

#include "plan/axis_loops.h"

namespace anydml {

// Visits the positions of a nest of loops in order, with the last loop fastest, and computes their offsets. The walk
// starts at position `number`; input and output are the offsets of position 0.
class LoopWalk {
 public:
  LoopWalk(const AxisLoop* loops, std::uint32_t rank, std::int64_t number, std::int64_t input = 0,
           std::int64_t output = 0)
      : loops_(loops), rank_(rank), input_(input), output_(output) {
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
  std::int64_t input_;
  std::int64_t output_;
};

}  // namespace anydml
