// SPDX-License-Identifier: MIT
// One output of a matrix product. The factors are taken in blocks of 256 in ascending order. The sum of a block is a
// chain of fused multiply-adds that starts from +0; the total is the sum of the first block, to which the sums of the
// others are added in order. Without factors it is +0.
//
// Kernels may compute blocks in any order and at once, if they add the sums in order. They may not skip a factor of 0,
// which an infinity makes NaN, and may fill up a block with the factors +0 and -0 alone: underflow can make a sum -0,
// and +0 times +0 would change its sign.
#pragma once

#include "ops/scalar/lanes.h"

namespace anydml {

inline constexpr i64 kProductBlock = 256;

// a(k) and b(k): the factors in FLOAT32.
template <class A, class B>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 sum_of_products(i64 depth, A a, B b) {
  f32 total = 0;
  for (i64 first = 0; first < depth; first += kProductBlock) {
    const i64 end = depth - first < kProductBlock ? depth : first + kProductBlock;
    f32 sum = 0;
    for (i64 k = first; k < end; ++k) {
      sum = fused(a(k), b(k), sum);
    }
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

// What becomes of a total: every product and the sum are rounded, and computed where alpha or beta are 0 too.
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
