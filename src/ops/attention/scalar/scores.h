// SPDX-License-Identifier: MIT
// Exponentials of scores, computed as in ACTIVATION_SOFTMAX. Shared by the kernels of all devices. A NaN score or an
// infinite maximum makes the sum NaN, and therefore the query's whole output row, so NaN scores can be ignored when the
// maximum is computed.
#pragma once

#include "ops/scalar/fold_order.h"
#include "ops/scalar/functions/exponential.h"

namespace anydml {

inline constexpr f32 kMinScore = from_bits<f32>(0xff800000);  // -infinity

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 greater_score(f32 a, f32 b) { return select(b > a, b, a); }

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 exponential_of_score(f32 difference) {
  return static_cast<f32>(ExpOf{}.ordinary(difference));
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 sum_exponentials(f32 a, f32 b) { return a + b; }

}  // namespace anydml
