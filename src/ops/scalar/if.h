// SPDX-License-Identifier: MIT
// ELEMENT_WISE_IF: a if the condition is not 0, else b, bit for bit.
#pragma once

#include "base/element.h"

namespace anydml {

template <class T>
struct If {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(u8 condition, T a, T b) const {
    return condition != 0 ? a : b;
  }
};

}  // namespace anydml
