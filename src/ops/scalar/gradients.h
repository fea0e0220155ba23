// SPDX-License-Identifier: MIT
// ELEMENT_WISE_CLIP_GRAD: 0 if x <= Min or x >= Max, else the gradient; bounds as in CLIP. ACTIVATION_RELU_GRAD: the
// gradient if x > 0, else 0. The gradient is copied bit for bit.
#pragma once

#include "base/scalar.h"
#include "ops/scalar/lanes.h"

namespace anydml {

template <class T>
struct ClipGrad {
  compute_t<T> min;
  compute_t<T> max;

  ANYDML_HOST_DEVICE constexpr explicit ClipGrad(const Attributes& attributes)
      : min(widen(attributes.values[0].as<T>())), max(widen(attributes.values[1].as<T>())) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x, compute_t<T> gradient) const {
    return select((x <= min) | (x >= max), compute_t<T>{0}, gradient);
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x, T gradient) const {
    return narrow<T>(compute(widen(x), widen(gradient)));
  }
};

template <class T>
struct ReluGrad {
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x, compute_t<T> gradient) const {
    return select(is_positive(x), gradient, compute_t<T>{0});
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x, T gradient) const
      requires(is_float<T> || std::is_signed_v<T>) {
    return narrow<T>(compute(widen(x), widen(gradient)));
  }
};

}  // namespace anydml
