// SPDX-License-Identifier: MIT
// The elements of a window to one.
//
//   max        the greatest; a NaN wins, and +0 is above -0; of no element -infinity, or the least integer
//   average    their sum / their number, or / the number of places in the window; of no element NaN
//   sum        their sum; of no element NaN
//   l1, l2     the sum of their magnitudes, the root of the sum of their squares; of no element NaN
//
// Sums are FLOAT32, or FLOAT64 of FLOAT64; they start from -0 and take the elements in row-major order of the window.
// FLOAT16 is widened before, and the result is rounded once.
//
// The gradient of max adds each element of the input gradient at the first place of its window's greatest element. Sums
// are FLOAT32; they start from +0 and take the windows in row-major order.
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

// divisor: the divisor of an average; otherwise whether the window had an element.
template <class Value>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr Value pool_finished(PoolFunction function, Value sum, Value divisor) {
  if (function == PoolFunction::average) {
    return sum / divisor;  // -0 / 0 is NaN
  }
  return select(divisor == 0, quiet_nan<Value>(), function == PoolFunction::l2 ? square_root(sum) : sum);
}

}  // namespace anydml
