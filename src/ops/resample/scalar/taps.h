// SPDX-License-Identifier: MIT
// The input elements that contribute to an output element along one dimension, and their weights. This is the
// definition of all resampling operators for every device; docs/numerics.md contains it as a Python program.
#pragma once

#include "base/element.h"
#include "ops/scalar/lanes.h"

namespace anydml {

enum class ResampleKind : u32 {
  copied,      // output i is input i
  decreasing,  // the element at the coordinate, rounded down
  increasing,  // the element at the coordinate, rounded up
  linear,      // the mean of the two neighbors
  stretched,   // the mean of all neighbors that a filter wider than two elements reaches
  window,      // the mean of a pooling window; only used by gradients
};

struct ResampleDimension {
  i64 input_size;
  i64 output_size;
  i64 input_stride;  // in bytes
  i64 output_stride;
  ResampleKind kind;
  f32 scale;
  f32 input_offset;
  f32 output_offset;
};

// Coordinates are computed in FLOAT32 up to this size. Beyond it, FLOAT32 has no bits left for fractions of an index,
// so coordinates are computed in FLOAT64.
inline constexpr i64 kLongDimension = i64{1} << 21;

[[nodiscard]] ANYDML_HOST_DEVICE constexpr bool is_long(const ResampleDimension& dimension) {
  return dimension.input_size > kLongDimension || dimension.output_size > kLongDimension;
}

// The position of output o among the inputs. Each operation is rounded to F.
template <class F>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr F coordinate_of(const ResampleDimension& dimension, i64 o) {
  const F from_origin = static_cast<F>(o) - static_cast<F>(dimension.output_offset);
  return from_origin / static_cast<F>(dimension.scale) - static_cast<F>(dimension.input_offset);
}
template <class F>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr F within(F x, const ResampleDimension& dimension) {
  const F last = static_cast<F>(dimension.input_size - 1);
  return x > last ? last : x > F{0} ? x : F{0};
}

// The only tap of `copied`, `decreasing` and `increasing`.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 nearest_of(const ResampleDimension& dimension, i64 o) {
  if (dimension.kind == ResampleKind::copied) {
    return o;
  }
  const bool down = dimension.kind == ResampleKind::decreasing;
  if (is_long(dimension)) {
    const f64 x = coordinate_of<f64>(dimension, o);
    return static_cast<i64>(within(down ? round_down(x) : round_up(x), dimension));
  }
  const f32 x = coordinate_of<f32>(dimension, o);
  return static_cast<i64>(within(down ? round_down(x) : round_up(x), dimension));
}

// The taps of `linear`: `first` with weight 1 - second, and the element after it with weight `second`. If `second` is
// 0, the output is the first tap, and the element after it has no effect.
struct LinearTaps {
  i64 first;
  f32 second;
};
template <class F>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr LinearTaps linear_taps_in(const ResampleDimension& dimension, i64 o) {
  const F x = within(coordinate_of<F>(dimension, o), dimension);
  const F below = round_down(x);
  return {static_cast<i64>(below), static_cast<f32>(x - below)};
}
[[nodiscard]] ANYDML_HOST_DEVICE constexpr LinearTaps linear_taps(const ResampleDimension& dimension, i64 o) {
  return is_long(dimension) ? linear_taps_in<f64>(dimension, o) : linear_taps_in<f32>(dimension, o);
}

// The taps of an output along a dimension that is neither stretched nor a window; `second` is 0 if there is only one.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr LinearTaps few_taps(const ResampleDimension& dimension, i64 o) {
  return dimension.kind == ResampleKind::linear ? linear_taps(dimension, o)
                                                : LinearTaps{nearest_of(dimension, o), 0.0F};
}

// The taps of `stretched`, whose scale is below 1. The weights form a triangle that extends 1 / scale to either side,
// computed in FLOAT64. Positions outside the input repeat the edge elements, so the weights of these positions are
// added to the weights of the edge elements.
class StretchedTaps {
 public:
  ANYDML_HOST_DEVICE constexpr StretchedTaps(const ResampleDimension& dimension, i64 o)
      : scale_(dimension.scale), last_(dimension.input_size - 1) {
    x_ = within(is_long(dimension) ? coordinate_of<f64>(dimension, o) : f64{coordinate_of<f32>(dimension, o)},
                dimension);
    const f64 reach = 1.0 / scale_;
    const f64 to_end = static_cast<f64>(last_) - x_;
    const f64 first = round_down(x_ - reach) + 1.0;
    const f64 end = round_up(x_ + reach) - 1.0;
    first_ = first > 0.0 ? static_cast<i64>(first) : 0;
    end_ = (end < static_cast<f64>(last_) ? static_cast<i64>(end) : last_) + 1;
    before_ = beyond(x_, reach);
    after_ = beyond(to_end, reach);
    // Rounding may turn a weight at the edge into 0. The element at x, rounded down, always has a nonzero weight.
    while (raw(first_) <= 0.0) {
      ++first_;
    }
    while (raw(end_ - 1) <= 0.0) {
      --end_;
    }
    for (i64 i = first_; i < end_; ++i) {
      total_ += raw(i);
    }
  }

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 first() const { return first_; }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 count() const { return end_ - first_; }
  // The weight of the tap `first + number`.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 weight(i64 number) const {
    return static_cast<f32>(raw(first_ + number) / total_);
  }

 private:
  // The sum of the weights of all positions beyond an edge that is at this distance from x.
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 beyond(f64 distance, f64 reach) const {
    const f64 count = round_up(reach - distance) - 1.0;
    if (!(count > 0.0)) {
      return 0.0;
    }
    const f64 sum = count * (1.0 - distance * scale_) - scale_ * (count * (count + 1.0) * 0.5);
    return sum > 0.0 ? sum : 0.0;
  }
  [[nodiscard]] ANYDML_HOST_DEVICE constexpr f64 raw(i64 i) const {
    const f64 distance = static_cast<f64>(i) - x_;
    f64 weight = 1.0 - (distance < 0.0 ? -distance : distance) * scale_;
    weight = weight > 0.0 ? weight : 0.0;
    weight += i == 0 ? before_ : 0.0;
    return weight + (i == last_ ? after_ : 0.0);
  }

  f64 scale_;
  i64 last_;
  f64 x_ = 0;
  f64 before_ = 0;
  f64 after_ = 0;
  f64 total_ = 0;
  i64 first_ = 0;
  i64 end_ = 0;
};

// The maximum number of taps of `stretched`.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 max_stretched_taps(const ResampleDimension& dimension) {
  const f64 reach = 2.0 / f64{dimension.scale} + 1.0;
  return reach < static_cast<f64>(dimension.input_size) ? static_cast<i64>(reach) : dimension.input_size;
}

// Converts a mean computed in FLOAT32 to an element.
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr T resampled(f32 mean) {
  if constexpr (is_float<T>) {
    return narrow<T>(mean);
  } else {
    // Means of 8-bit integers are between the type's minimum and maximum, except for rounding errors in the weights.
    constexpr f32 kMin = std::is_signed_v<T> ? -128.0F : 0.0F;
    constexpr f32 kMax = std::is_signed_v<T> ? 127.0F : 255.0F;
    const f32 whole = round_even(mean);
    const f32 below = whole > kMax ? kMax : whole;
    return static_cast<T>(static_cast<i32>(below < kMin ? kMin : below));
  }
}
template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr f32 to_resample(T element) {
  if constexpr (is_float<T>) {
    return widen(element);
  } else {
    return static_cast<f32>(element);
  }
}

}  // namespace anydml
