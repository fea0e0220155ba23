// SPDX-License-Identifier: MIT
// One output of a matrix product: a sum of products (ops/scalar/sum_of_products.h), and the operations on it.
#pragma once

#include "ops/scalar/sum_of_products.h"

namespace anydml {

// Every product and the sum are rounded, and computed where alpha or beta are 0 too.
struct ProductScale {
  f32 alpha;
  f32 beta;

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 operator()(f32 total) const { return alpha * total; }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 operator()(f32 total, f32 c) const {
    const f32 scaled = alpha * total;
    const f32 added = beta * c;
    return scaled + added;
  }
};

}  // namespace anydml
