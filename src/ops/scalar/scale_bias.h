// SPDX-License-Identifier: MIT
// ScaleBias, an option of many unary operators: the input is x * Scale + Bias instead of x. The product and then the
// sum are rounded to FLOAT32 (FLOAT64 for FLOAT64 tensors), and the sum is then rounded to the tensor's type. Floats
// only.
#pragma once

#include "base/scalar.h"

namespace anydml {

template <class T>
struct ScaleBias {
  compute_t<T> scale;
  compute_t<T> bias;

  ANYDML_HOST_DEVICE constexpr explicit ScaleBias(const Attributes& attributes)
      : scale(attributes.values[0].as<compute_t<T>>()), bias(attributes.values[1].as<compute_t<T>>()) {}

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr compute_t<T> compute(compute_t<T> x) const {
    const compute_t<T> product = x * scale;
    return product + bias;
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T x) const requires is_float<T> {
    return narrow<T>(compute(widen(x)));
  }
};

}  // namespace anydml
