// SPDX-License-Identifier: MIT
// Exponentials of scores, computed as in ACTIVATION_SOFTMAX. Shared by the kernels of all devices. A NaN score or an
// infinite maximum makes the sum NaN, and therefore the query's whole output row, so NaN scores can be ignored when the
// maximum is computed.
#pragma once

#include "ops/scalar/fold_order.h"
#include "ops/scalar/functions/exponential.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml {

inline constexpr f32 kMinScore = from_bits<f32>(0xff800000);  // -infinity

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 greater_score(f32 a, f32 b) { return select(b > a, b, a); }

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 exponential_of_score(f32 difference) {
  return static_cast<f32>(ExpOf{}.ordinary(difference));
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 sum_exponentials(f32 a, f32 b) { return a + b; }

// The end of the block of keys that contains this key. Blocks count the positions of all keys, seen or not.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 end_of_block(i64 key) {
  return (key / kProductBlock + 1) * kProductBlock;
}

// The sum of products of the exponentials and values of the keys [first, end).
template <class Exponential, class Value>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 weighted_sum(i64 first, i64 end, Exponential exponential, Value value) {
  f32 total = 0;
  for (i64 begin = first; begin < end;) {
    const i64 next = end_of_block(begin) < end ? end_of_block(begin) : end;
    f32 sum = 0;
    for (i64 key = begin; key < next; ++key) {
      sum = fused(exponential(key), value(key), sum);
    }
    total = begin == first ? sum : total + sum;
    begin = next;
  }
  return total;
}

}  // namespace anydml
