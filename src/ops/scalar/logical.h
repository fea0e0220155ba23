// SPDX-License-Identifier: MIT
// ELEMENT_WISE_LOGICAL_AND, OR, XOR and NOT: 1 or 0; any nonzero value is true.
#pragma once

#include "base/element.h"

namespace anydml {

template <class T>
struct LogicalAnd {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const
      requires(std::is_same_v<T, u8> || std::is_same_v<T, u32>) {
    return static_cast<T>((a != 0) & (b != 0));
  }
};

template <class T>
struct LogicalOr {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const
      requires(std::is_same_v<T, u8> || std::is_same_v<T, u32>) {
    return static_cast<T>((a | b) != 0);
  }
};

template <class T>
struct LogicalXor {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const
      requires(std::is_same_v<T, u8> || std::is_same_v<T, u32>) {
    return static_cast<T>((a != 0) != (b != 0));
  }
};

template <class T>
struct LogicalNot {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const
      requires(std::is_same_v<T, u8> || std::is_same_v<T, u32>) {
    return static_cast<T>(x == 0);
  }
};

}  // namespace anydml
