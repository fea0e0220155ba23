// SPDX-License-Identifier: MIT
// FILL_VALUE_SEQUENCE: ValueStart + i * ValueDelta for element i, counted in row-major order. FLOAT64 tensors are
// computed in FLOAT64 and all other floats in FLOAT32: i, the product and the sum are each rounded, and then the sum is
// rounded to the tensor's type. Integers wrap.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T>
struct Sequence {
  T start;
  T delta;

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(u64 index) const {
    if constexpr (is_float<T>) {
      const auto product = static_cast<compute_t<T>>(index) * widen(delta);
      return narrow<T>(widen(start) + product);
    } else {
      const auto product =
          static_cast<wrapping_t<T>>(static_cast<wrapping_t<T>>(index) * static_cast<wrapping_t<T>>(delta));
      return static_cast<T>(static_cast<wrapping_t<T>>(start) + product);
    }
  }
};

}  // namespace anydml
