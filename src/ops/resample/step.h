// SPDX-License-Identifier: MIT
// The parameters of a step that resamples. The copied dimensions come first, in a cache-friendly order, and adjacent
// dimensions that are contiguous in both tensors are merged; the other dimensions follow in the order of the tensors.
// Means are computed along the last dimension first, then along the one before it, and so on. The sums of a gradient
// are computed in the opposite order, along the first dimension first.
#pragma once

#include "base/shape.h"
#include "ops/resample/scalar/gradient.h"

namespace anydml {

// The first member of every step's parameters.
enum class ResampleWay : std::uint32_t { forward, gradient };

struct ResampleStep {
  ResampleWay way;
  DataType type;
  std::uint32_t copied;        // leading dimensions of the kind `copied`
  std::uint32_t rank;          // all dimensions
  std::uint32_t interpolates;  // 0 if elements are only moved
  ResampleDimension dimensions[kMaxRank];
};

// Each element of the input gradient is divided by this before it is added to the sum.
enum class GradientDivisor : std::uint32_t { none, taps, elements };

// The operands are the input gradient and the output gradient. At least one dimension is not copied.
struct GradientStep {
  ResampleWay way;
  DataType type;
  std::uint32_t copied;
  std::uint32_t rank;
  GradientDivisor divisor;
  f32 taps;  // number of positions in a window
  GradientDimension dimensions[kMaxRank];
};

}  // namespace anydml
