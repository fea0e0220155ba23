// SPDX-License-Identifier: MIT
// The parameters of a step over regions of interest. Its operands are the image, the boxes, the batch indices, the bins
// and, for gradients, the result; operands that a step does not need are absent.
//
//   pooling            the maximum of the image's elements in each bin; a box begins with its batch index
//   align              the average or the maximum of the samples of each bin
//   image_gradient     the gradient of the image, computed from the gradient of the bins
//   region_gradient    the gradient of the boxes, computed from the gradient of the bins
#pragma once

#include "ops/regions/scalar/pooling.h"
#include "ops/regions/scalar/sampling.h"

namespace anydml {

enum class RegionKind : std::uint32_t { pooling, align, image_gradient, region_gradient };

// The contribution of channel c to a box's gradient is added in lane c % kRegionLanes. Then the upper half of the lanes
// is added to the lower half until one lane is left.
inline constexpr std::int64_t kRegionLanes = 32;

// Strides are in bytes, and 0 for a dimension of size 1.
struct RegionStep {
  RegionKind kind;
  DataType type;
  DataType index_type;   // type of the batch indices; unknown for pooling
  std::uint32_t is_max;  // whether bins are maxima; otherwise they are averages
  f32 outside;           // the value of samples outside the image
  std::uint32_t unused;
  RegionAxis axes[2];  // rows and columns
  std::int64_t regions;
  std::int64_t batches;
  std::int64_t channels;
  std::int64_t image[4];  // between batches, channels, rows and columns
  std::int64_t bins[4];   // between regions, channels, rows and columns
  std::int64_t boxes[2];  // between regions, and between the numbers of a box
  std::int64_t indices;
  std::int64_t result[4];  // strides of the image gradient, or, in the first two elements, of the box gradient
};

}  // namespace anydml
