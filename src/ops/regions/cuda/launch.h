// SPDX-License-Identifier: MIT
// Kernel parameters for steps over regions. Images and bins have fewer than 2^30 rows and columns.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/cuda/fast_divisor.h"
#include "ops/regions/step.h"

namespace anydml::cuda {

inline constexpr u32 kRegionThreads = 256;  // per block

struct RegionLaunch {
  const std::byte* image;
  const std::byte* boxes;
  const std::byte* indices;
  std::byte* bins;
  std::byte* result;  // only for gradients
  bool image_is_aligned;
  bool boxes_are_aligned;
  bool indices_are_aligned;
  bool indices_are_wide;  // 64-bit instead of 32-bit
  bool bins_are_aligned;
  bool result_is_aligned;
  FastDivisor rows;  // rows of bins
  FastDivisor columns;
  RegionStep step;
};

// The image elements that receive the gradient of a bin's maximum sample.
struct RegionPeakTaps {
  i32 row;  // negative if the bin has no maximum sample
  i32 column;
  f32 second_row;
  f32 second_column;
};

// The tile of the image's gradient that a block of threads computes.
struct RegionTile {
  u32 rows;
  u32 columns;
  u32 shared_bytes;
};
inline constexpr u32 kRegionTileChannels = 8;

// Each of these functions launches kernels and returns the error code of the CUDA call.
[[nodiscard]] cudaError_t start_regions(const RegionLaunch& launch, cudaStream_t stream);  // pooling and align
[[nodiscard]] cudaError_t start_image_gradient(const RegionLaunch& launch, const RegionTile& tile, cudaStream_t stream);
// peaks: space for each bin of each channel of each region.
[[nodiscard]] cudaError_t start_peak_gradient(const RegionLaunch& launch, RegionPeakTaps* peaks, cudaStream_t stream);
[[nodiscard]] cudaError_t start_box_gradient(const RegionLaunch& launch, cudaStream_t stream);

}  // namespace anydml::cuda
