// SPDX-License-Identifier: MIT
// ELEMENT_WISE_MAX and MIN: the larger and the smaller of a and b. ELEMENT_WISE_THRESHOLD: the larger of x and Min.
// ACTIVATION_RELU: the larger of x and 0. If either operand is NaN, the result is NaN, and +0 is above -0. Min is
// converted to the tensor's type as in CLIP.
#pragma once

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct Max {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> a, compute_t<T> b) const {
    return greater_of(a, b);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return narrow<T>(compute(widen(a), widen(b)));
  }
};

template <class T>
struct Min {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> a, compute_t<T> b) const {
    return less_of(a, b);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T a, T b) const {
    return narrow<T>(compute(widen(a), widen(b)));
  }
};

template <class T>
struct Threshold {
  compute_t<T> min;

  ANYDML_HOST_DEVICE constexpr explicit Threshold(const Attributes& attributes)
      : min(widen(attributes.values[0].as<T>())) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const { return greater_of(x, min); }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const { return narrow<T>(compute(widen(x))); }
};

template <class T>
struct Relu {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    return greater_of(x, compute_t<T>{0});
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires(is_float<T> || std::is_signed_v<T>) {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
