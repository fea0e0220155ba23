// SPDX-License-Identifier: MIT
// Combines the elements of a window:
//
//   max        the maximum; a NaN wins, and +0 is above -0; without elements -infinity, or the lowest integer
//   average    the sum divided by the number of elements or of positions in the window; without elements NaN
//   sum        the sum; without elements NaN
//   l1, l2     the sum of the magnitudes, the root of the sum of the squares; without elements NaN
//
// Sums are FLOAT32, or FLOAT64 for FLOAT64; they start from -0 and add the elements in row-major order of the window.
// FLOAT16 elements are first widened, and the result is rounded once.
//
// The gradient of max adds each element of the input gradient at the first position of its window's maximum. Sums are
// FLOAT32; they start from +0 and add the windows in row-major order.
#pragma once

#include "ops/pool/step.h"
#include "ops/scalar/fold_order.h"
#include "ops/scalar/lanes.h"
#include "ops/scalar/ordered_bits.h"

namespace anydml {

template <class Value>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Value pool_lifted(PoolFunction function, Value x) {
  return function == PoolFunction::l1 ? magnitude_of(x) : function == PoolFunction::l2 ? x * x : x;
}

// divisor: the divisor of an average; otherwise nonzero if the window had an element.
template <class Value>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Value pool_finished(PoolFunction function, Value sum, Value divisor) {
  if (function == PoolFunction::average) {
    return sum / divisor;  // -0 / 0 is NaN
  }
  return select(divisor == 0, quiet_nan<Value>(), function == PoolFunction::l2 ? square_root(sum) : sum);
}

}  // namespace anydml
