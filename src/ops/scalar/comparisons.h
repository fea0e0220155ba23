// SPDX-License-Identifier: MIT
// ELEMENT_WISE_LOGICAL_GREATER_THAN and similar operators: 1 if the comparison holds, else 0. +0 equals -0, and no
// comparison with NaN holds.
#pragma once

#include "base/float_bits.h"

namespace anydml {

template <class T, class Truth>
struct LogicalGreaterThan {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T a, T b) const
      requires(std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>) {
    return compute(widen(a), widen(b));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth compute(compute_t<T> a, compute_t<T> b) const {
    return static_cast<Truth>(a > b);
  }
};

template <class T, class Truth>
struct LogicalLessThan {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T a, T b) const
      requires(std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>) {
    return compute(widen(a), widen(b));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth compute(compute_t<T> a, compute_t<T> b) const {
    return static_cast<Truth>(a < b);
  }
};

template <class T, class Truth>
struct LogicalGreaterThanOrEqual {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T a, T b) const
      requires(std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>) {
    return compute(widen(a), widen(b));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth compute(compute_t<T> a, compute_t<T> b) const {
    return static_cast<Truth>(a >= b);
  }
};

template <class T, class Truth>
struct LogicalLessThanOrEqual {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth operator()(T a, T b) const
      requires(std::is_same_v<Truth, u8> || std::is_same_v<Truth, u32>) {
    return compute(widen(a), widen(b));
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr Truth compute(compute_t<T> a, compute_t<T> b) const {
    return static_cast<Truth>(a <= b);
  }
};

}  // namespace anydml
