// SPDX-License-Identifier: MIT
// ELEMENT_WISE_MEAN: (a + b) / 2; the sum of integers wraps, and its half is truncated. ELEMENT_WISE_DIFFERENCE_SQUARE:
// (a - b) * (a - b); integers wrap. ELEMENT_WISE_RECIP: 1 / x. ELEMENT_WISE_SQRT: the square root as defined by IEEE
// 754, which is NaN below 0 and -0 for -0. Floats are rounded after each operation.
#pragma once

#include "base/float_bits.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Mean {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> a, compute_t<T> b) const {
    if constexpr (is_float<T>) {
      return (a + b) * compute_t<T>{0.5};
    } else {
      return static_cast<T>(static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b)) / T{2});
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return narrow<T>(compute(widen(a), widen(b)));
  }
};

template <class T>
struct DifferenceSquare {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> a, compute_t<T> b) const {
    if constexpr (is_float<T>) {
      const compute_t<T> difference = a - b;
      return difference * difference;
    } else {
      const auto difference = static_cast<wrapping_t<T>>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
      return static_cast<T>(static_cast<wrapping_t<T>>(difference * difference));
    }
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return narrow<T>(compute(widen(a), widen(b)));
  }
};

template <class T>
struct Recip {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const { return compute_t<T>{1} / x; }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

template <class T>
struct Sqrt {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const { return square_root(x); }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
