// SPDX-License-Identifier: MIT
// ELEMENT_WISE_IDENTITY: x, bit for bit.
#pragma once

#include "base/element.h"

namespace anydml {

template <class T>
struct Identity {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const { return x; }
};

}  // namespace anydml
