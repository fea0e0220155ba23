// SPDX-License-Identifier: MIT
// The sum of products that every matrix product uses. The factors are processed in blocks of 256 in ascending order.
// The sum of a block is a chain of fused multiply-adds that starts from +0. The total is the sum of the first block, to
// which the sums of the other blocks are added in order. If there are no factors, the total is +0.
//
// Kernels may compute blocks in any order and in parallel, as long as they add the sums in order. They must not skip a
// factor of 0, since 0 times infinity is NaN. They may pad a block only with products of +0 and -0: underflow can make
// a sum -0, and adding +0 times +0 would change its sign.
#pragma once

#include "ops/scalar/lanes.h"

namespace anydml {

inline constexpr i64 kProductBlock = 256;

// a(k) and b(k) return the factors in the type of the sums, which is FLOAT32, or FLOAT64 for FLOAT64 products.
template <class T = f32, class A, class B>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T sum_of_products(i64 depth, A a, B b) {
  T total{0};
  for (i64 first = 0; first < depth; first += kProductBlock) {
    const i64 end = depth - first < kProductBlock ? depth : first + kProductBlock;
    T sum{0};
    for (i64 k = first; k < end; ++k) {
      sum = fused(a(k), b(k), sum);
    }
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

}  // namespace anydml
