// SPDX-License-Identifier: MIT
#include "ops/product/cuda/kernel_set.h"
#include "ops/product/cuda/planes.cuh"

namespace anydml::cuda {
namespace {

template <u32 kTile>
cudaError_t start(const ConvolutionLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  // Required once per device; repeating the call is cheap.
  if (const cudaError_t error = cudaFuncSetAttribute(convolution_tiles<kTile, ToMemory>,
                                                     cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes(kTile));
      error != cudaSuccess) {
    return error;
  }
  convolution_tiles<kTile, ToMemory>
      <<<dim3(grid.blocks, grid.splits), tile_threads(kTile), tile_bytes(kTile), stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_convolution(const ConvolutionLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  switch (grid.tile) {
    case kLargeTile:
      return start<kLargeTile>(launch, grid, stream);
    case kFlatTile:
      return start<kFlatTile>(launch, grid, stream);
    default:
      return start<kSmallTile>(launch, grid, stream);
  }
}

cudaError_t start_convolution_sums(const ConvolutionLaunch& launch, cudaStream_t stream) {
  convolution_sums<ToMemory><<<(launch.split.outputs - 1) / kSumThreads + 1, kSumThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t start_planes(const ConvolutionLaunch& launch, const PlaneForm& form, const dim3& grid,
                         cudaStream_t stream) {
  if (form.taps == 3) {
    if (form.stride == 1) {
      convolution_planes<3, 1, ToMemory><<<grid, kPlaneThreads, 0, stream>>>(launch);
    } else {
      convolution_planes<3, 2, ToMemory><<<grid, kPlaneThreads, 0, stream>>>(launch);
    }
  } else if (form.stride == 1) {
    convolution_planes<5, 1, ToMemory><<<grid, kPlaneThreads, 0, stream>>>(launch);
  } else {
    convolution_planes<5, 2, ToMemory><<<grid, kPlaneThreads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

cudaError_t start_direct_convolution(const ConvolutionLaunch& launch, u32 blocks, u32 threads, cudaStream_t stream) {
  convolution_direct<ToMemory><<<blocks, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
