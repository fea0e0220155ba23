// SPDX-License-Identifier: MIT
// Steps over regions as kernels see them: a kernel's parameter. An image and its bins have fewer than 2^30 rows,
// columns and bins.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "ops/regions/step.h"

namespace anydml::cuda {

inline constexpr u32 kRegionThreads = 256;  // of a block of threads

struct RegionLaunch {
  const std::byte* image;
  const std::byte* boxes;
  const std::byte* indices;
  std::byte* bins;
  std::byte* result;  // of gradients
  bool image_is_aligned;
  bool boxes_are_aligned;
  bool indices_are_aligned;
  bool indices_are_wide;  // 64 bits
  bool bins_are_aligned;
  bool result_is_aligned;
  FastDivisor rows;  // of bins
  FastDivisor columns;
  RegionStep step;
};

// Where the gradient of a greatest sample goes.
struct RegionPeakTaps {
  i32 row;  // below 0: nowhere
  i32 column;
  f32 second_row;
  f32 second_column;
};

// A block of threads adds up a tile of the image's gradient.
struct RegionTile {
  u32 rows;
  u32 columns;
  u32 shared_bytes;
};
inline constexpr u32 kRegionTileChannels = 8;

// They answer with the error of CUDA's call.
[[nodiscard]] cudaError_t start_regions(const RegionLaunch& launch, cudaStream_t stream);  // pooling and align
[[nodiscard]] cudaError_t start_image_gradient(const RegionLaunch& launch, const RegionTile& tile, cudaStream_t stream);
// peaks: room for each bin of each channel of each region.
[[nodiscard]] cudaError_t start_peak_gradient(const RegionLaunch& launch, RegionPeakTaps* peaks, cudaStream_t stream);
[[nodiscard]] cudaError_t start_box_gradient(const RegionLaunch& launch, cudaStream_t stream);

}  // namespace anydml::cuda
