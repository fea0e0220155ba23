// SPDX-License-Identifier: MIT
// ELEMENT_WISE_LOGICAL_EQUALS: 1 if a and b are equal, else 0. +0 equals -0, and NaN equals nothing.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T, class Truth>
struct LogicalEquals {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T a, T b) const
      requires(std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>) {
    return equal(a, b) ? Truth{1} : Truth{0};
  }

 private:
  ANYDML_HOST_DEVICE static constexpr bool equal(T a, T b) {
    if constexpr (std::is_same_v<T, f16>) {
      // Compares the bits, since a conversion costs more. Uses only bitwise operators, so that there are no branches.
      const auto both = static_cast<u16>(a.bits | b.bits);
      const bool zeros = (both & FloatParts<f16>::kMagnitude) == 0;
      return zeros | ((a.bits == b.bits) & !is_nan(a));
    } else {
      return a == b;
    }
  }
};

}  // namespace anydml
