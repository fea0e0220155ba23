// SPDX-License-Identifier: MIT
// ELEMENT_WISE_LOGICAL_EQUALS: 1 where a and b are equal, else 0. +0 equals -0, and NaN equals nothing.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T, class Truth>
struct LogicalEquals {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T a, T b) const
      requires(std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>) {
    return widen(a) == widen(b) ? Truth{1} : Truth{0};
  }
};

}  // namespace anydml
