// SPDX-License-Identifier: MIT
// The parameters of a step that resamples. The copied dimensions come first, in an order that is good to walk, and
// neighbours that are contiguous on both sides are one; then come the others in the order of the tensors. A mean is
// taken along the last dimension first, then along the one before it, and so on.
#pragma once

#include "ops/resample/scalar/taps.h"
#include "schema/tensor_rules.h"

namespace anydml {

struct ResampleStep {
  DataType type;
  std::uint32_t copied;        // dimensions of the kind `copied`, the first ones
  std::uint32_t rank;          // all of them
  std::uint32_t interpolates;  // 0: elements are moved as they are
  ResampleDimension dimensions[kMaxRank];
};

}  // namespace anydml
