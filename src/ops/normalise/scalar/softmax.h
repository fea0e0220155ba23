// SPDX-License-Identifier: MIT
// The elements of softmax and of its kin, for kernels on every device. `greatest` is that of the row. An element that
// is NaN, or an infinite greatest, makes a NaN of each difference from it or of the sum, and so of the whole row: the
// greatest itself need not be NaN then. All is FLOAT32; FLOAT16 is widened before and rounded after.
//
//   softmax        EXP(x - greatest) / total        total: the sum of EXP(x - greatest), in the order of fold_order.h
//   log_softmax    (x - greatest) - LOG(total)
//   hardmax        1 for the first of the greatest, 0 for the others; the first NaN, if there is one
#pragma once

#include "ops/normalise/scalar/sum.h"
#include "ops/scalar/functions/exponential.h"
#include "ops/scalar/functions/logarithm.h"

namespace anydml {

// No element is below it.
inline constexpr f32 kLeastElement = from_bits<f32>(0xff800000);  // -infinity

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 greater_element(f32 a, f32 b) { return select(b > a, b, a); }

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 power_of(f32 difference) {
  return static_cast<f32>(ExpOf{}.ordinary(difference));
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 logarithm_of(f32 total) { return Log<f32>{}(total); }

// Whether x takes the place of the element that was found to be the greatest of those before it.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_beyond(f32 x, f32 found) {
  return x > found || (x != x && found == found);
}

}  // namespace anydml
