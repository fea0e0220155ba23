// SPDX-License-Identifier: MIT
// One output of a matrix product: a sum of products (ops/scalar/sum_of_products.h), and the operations on it.
#pragma once

#include "ops/scalar/sum_of_products.h"

namespace anydml {

// alpha * total, or alpha * total + beta * c. Each product and the sum are rounded, and all terms are computed even if
// alpha or beta is 0.
template <class T>
struct ProductScaleOf {
  T alpha;
  T beta;

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T total) const { return alpha * total; }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr T operator()(T total, T c) const {
    const T scaled = alpha * total;
    const T added = beta * c;
    return scaled + added;
  }
};
using ProductScale = ProductScaleOf<f32>;

}  // namespace anydml
