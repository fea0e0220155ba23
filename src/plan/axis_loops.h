// SPDX-License-Identifier: MIT
// Represents an input and an output as loops over the axes that an operator works along, such as the axes of a sum, and
// loops over the remaining axes. Each position of the remaining axes is a separate piece of work.
#pragma once

#include <cstdint>

#include "plan/tensor.h"

namespace anydml {

struct AxisLoop {
  std::int64_t size;
  std::int64_t input;  // strides in bytes
  std::int64_t output;
};

struct AxisLoops {
  std::uint32_t has_lanes;     // the innermost axis that is longer than 1 is reduced
  std::uint32_t kept_rank;     // at least 1
  std::uint32_t reduced_rank;  // at least 1
  std::uint32_t unused;
  std::int64_t input_offset;  // in bytes, from the operand's address to the first element
  std::int64_t output_offset;
  std::int64_t outputs;        // the product of the kept sizes
  std::int64_t count;          // the product of the reduced sizes
  AxisLoop kept[kMaxRank];     // in any order; they number the positions, with the last loop fastest
  AxisLoop reduced[kMaxRank];  // row-major, with the last loop fastest
};

// axes: bit i is set if axis i is reduced. The output has the input's rank. Along a reduced axis, its size is either
// the input's size or 1. Kept loops have positive strides in the input, with the smallest stride innermost. Neighbors
// that are contiguous in both tensors are merged.
[[nodiscard]] AxisLoops split_axes(const TensorDesc& input, const TensorDesc& output, std::uint32_t axes);
// The loops from split_axes, together with the loops of two additional tensors that have the input's sizes. In
// `others`, `input` and `output` are the strides of `first` and `second`. The kept loops of `loops` and `others` have
// the same sizes and order, so their positions have the same numbers. The reduced loops visit the same elements in the
// same order, but may be split differently.
struct PairedLoops {
  AxisLoops loops;
  AxisLoops others;
};
[[nodiscard]] PairedLoops split_axes_with(const TensorDesc& input, const TensorDesc& output, const TensorDesc& first,
                                          const TensorDesc& second, std::uint32_t axes);

}  // namespace anydml
