// SPDX-License-Identifier: MIT
// ROI_POOLING: the elements of an image that belong to a bin. Corners are multiplied by the scale and rounded to the
// nearest integer, with ties rounded away from 0. The corners belong to the region, which therefore has at least one
// row and one column. Bins overlap if they do not divide the region evenly, and are clipped to the image.
#pragma once

#include "base/element.h"
#include "ops/scalar/lanes.h"

namespace anydml {

struct PooledRange {
  i64 first;
  i64 end;
};

// A scaled corner; NaN is outside every image.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 pooled_corner(f32 corner, f32 scale) {
  constexpr f32 kFar = 0x1p40F;
  const f32 rounded = round_away(corner * scale);
  return static_cast<i64>(rounded > kFar ? kFar : rounded > -kFar ? rounded : -kFar);
}

// The elements [first, end) of one of `bins` bins along an axis of `size` elements; empty if first equals end.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr PooledRange pooled_range(i64 from, i64 to, i64 bin, i64 bins, i64 size) {
  const i64 length = to < from ? 1 : to - from + 1;
  // bin * length / bins, computed in parts that fit in 64 bits. The products with `rest`, which is less than `bins`,
  // need all bits of an unsigned integer.
  const i64 whole = length / bins;
  const u64 divisor = static_cast<u64>(bins);
  const u64 rest = static_cast<u64>(length % bins);
  const u64 number = static_cast<u64>(bin);
  i64 first = from + bin * whole + static_cast<i64>(number * rest / divisor);
  i64 end = from + (bin + 1) * whole + static_cast<i64>(((number + 1) * rest + divisor - 1) / divisor);
  first = first < 0 ? 0 : first < size ? first : size;
  end = end < first ? first : end < size ? end : size;
  return {first, end};
}

// The batch index of a region, given as a float in its row, or -1 if the image has no batch with that index.
[[nodiscard]] ANYDML_HOST_DEVICE constexpr i64 pooled_batch(f32 number, i64 batches) {
  return number > -1.0F && number < static_cast<f32>(batches) && static_cast<i64>(number) < batches
             ? static_cast<i64>(number)
             : -1;
}

}  // namespace anydml
