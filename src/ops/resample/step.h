// SPDX-License-Identifier: MIT
// The parameters of a step that resamples. The copied dimensions come first, in an order that suits the caches, and
// neighbours that are contiguous on both sides are merged; the other dimensions follow in the order of the tensors. A
// mean is taken along the last dimension first, then along the one before it, and so on. A gradient's sums go the other
// way: along the first dimension first.
#pragma once

#include "base/shape.h"
#include "ops/resample/scalar/gradient.h"

namespace anydml {

// The parameters of every step begin with its kind.
enum class ResampleWay : std::uint32_t { forward, gradient };

struct ResampleStep {
  ResampleWay way;
  DataType type;
  std::uint32_t copied;        // dimensions of the kind `copied`, the first ones
  std::uint32_t rank;          // all of them
  std::uint32_t interpolates;  // 0: elements are only moved
  ResampleDimension dimensions[kMaxRank];
};

// The divisor of an element of the input gradient before it is added.
enum class GradientDivisor : std::uint32_t { none, places, elements };

// The operands are the input gradient and the output gradient. At least one dimension is not copied.
struct GradientStep {
  ResampleWay way;
  DataType type;
  std::uint32_t copied;
  std::uint32_t rank;
  GradientDivisor divisor;
  f32 places;  // of a window
  GradientDimension dimensions[kMaxRank];
};

}  // namespace anydml
