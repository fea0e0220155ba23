// SPDX-License-Identifier: MIT
// The parameters of reduction steps. A reduction of at most one block is a single step. A longer reduction has two
// steps: the first computes a partial result for each block, in the plan's temporary memory, and the second combines
// the partial results of each output. Only this file and fold_order.h determine the order in which elements are
// combined (docs/numerics.md).
#pragma once

#include <cstdint>

#include "ops/reduce/functions.h"
#include "plan/axis_loops.h"

namespace anydml {

enum class ReducePhase : std::uint32_t {
  whole,   // input -> output
  blocks,  // input -> partial results
  combine  // partial results -> output
};

using ReduceLoop = AxisLoop;  // a reduced loop has no stride in the output

struct ReduceStep {
  ReduceFunction function;
  ReducePhase phase;
  DataType input_type;
  DataType output_type;
  std::uint32_t has_lanes;     // the innermost axis is reduced: element i of a block belongs to lane i mod 64
  std::uint32_t takes_last;    // whether the last of equal extremes wins, instead of the first
  std::uint32_t kept_rank;     // at least 1
  std::uint32_t reduced_rank;  // at least 1
  std::int64_t input_offset;   // in bytes, from the operand's address to the first element
  std::int64_t output_offset;
  std::int64_t outputs;          // the product of the kept sizes
  std::int64_t count;            // the product of the reduced sizes
  ReduceLoop kept[kMaxRank];     // in any order; they enumerate the outputs, with the last loop varying fastest
  ReduceLoop reduced[kMaxRank];  // row-major, with the last loop varying fastest

  [[nodiscard]] std::int64_t blocks() const { return (count + kReduceBlock - 1) / kReduceBlock; }
};

// Partial results are stored by output, then by block. Each has space for any accumulator; extremes need a second word
// for their indices.
[[nodiscard]] constexpr std::int64_t partial_bytes(ReduceFunction function) { return is_arg(function) ? 16 : 8; }

}  // namespace anydml
