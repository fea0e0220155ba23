// SPDX-License-Identifier: MIT
// The gradient of resampling, and of average pooling, along one dimension: the elements of the input gradient whose
// taps include an element of the output gradient, and their weights. Taps never move backwards from one element to the
// next, so these elements are consecutive. docs/numerics.md contains this definition as a Python program.
#pragma once

#include "ops/resample/scalar/taps.h"

namespace anydml {

struct GradientDimension {
  ResampleDimension forward;  // its output corresponds to the input gradient, and its input to the output gradient
  i64 window;                 // only for `window`: window o begins at o * stride - padding
  i64 stride;
  i64 padding;
};

// The elements [first, second) of the input gradient have the output's element as their second tap, and the elements
// [second, end) have it as their first or only tap.
struct GradientTaps {
  i64 first;
  i64 second;
  i64 end;
};

// The first element of the input gradient whose first tap, or last tap, is at or after p.
template <bool kLastTap>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 first_reaching(const ResampleDimension& forward, i64 p) {
  i64 low = 0;
  i64 high = forward.output_size;
  while (low < high) {
    const i64 middle = low + (high - low) / 2;
    const LinearTaps taps = few_taps(forward, middle);
    const i64 tap = taps.first + (kLastTap && taps.second != 0.0F ? 1 : 0);
    if (tap >= p) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

[[nodiscard]] ANYDML_HOST_DEVICE constexpr GradientTaps gradient_taps(const GradientDimension& dimension, i64 p) {
  const ResampleDimension& forward = dimension.forward;
  if (forward.kind == ResampleKind::copied) {
    return {p, p, p + 1};
  }
  if (forward.kind == ResampleKind::window) {
    const i64 position = p + dimension.padding;
    const i64 before = position - dimension.window + 1;  // windows that begin at or after this one contain the position
    const i64 first = before <= 0 ? 0 : (before + dimension.stride - 1) / dimension.stride;
    const i64 last = position / dimension.stride + 1;
    const i64 end = last < forward.output_size ? last : forward.output_size;
    return {first < end ? first : end, first < end ? first : end, end};
  }
  return {first_reaching<true>(forward, p), first_reaching<false>(forward, p), first_reaching<false>(forward, p + 1)};
}

// The weight of element o of the input gradient for its second tap if `to_second`, otherwise for its first tap.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 gradient_weight(const GradientDimension& dimension, i64 o,
                                                               bool to_second) {
  if (dimension.forward.kind != ResampleKind::linear) {
    return 1.0F;
  }
  const f32 second = linear_taps(dimension.forward, o).second;
  return to_second ? second : 1.0F - second;
}

// The number of elements in window o along the dimension; 1 for the other kinds.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 window_elements(const GradientDimension& dimension, i64 o) {
  if (dimension.forward.kind != ResampleKind::window) {
    return 1;
  }
  const i64 start = o * dimension.stride - dimension.padding;
  const i64 end = start + dimension.window;
  const i64 first = start > 0 ? start : 0;
  const i64 last = end < dimension.forward.input_size ? end : dimension.forward.input_size;
  return last > first ? last - first : 0;
}

}  // namespace anydml
