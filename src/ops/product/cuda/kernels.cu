// SPDX-License-Identifier: MIT
#include "ops/product/cuda/kernel_set.h"
#include "ops/product/cuda/tiles.cuh"

namespace anydml::cuda {
namespace {

template <u32 kTile>
cudaError_t start(const ProductLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  // For each device; it costs little to say it again.
  if (const cudaError_t error = cudaFuncSetAttribute(product_tiles<kTile, ToMemory>,
                                                     cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes(kTile));
      error != cudaSuccess) {
    return error;
  }
  product_tiles<kTile, ToMemory>
      <<<dim3(grid.blocks, grid.splits), product_threads(kTile), tile_bytes(kTile), stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_product(const ProductLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  return grid.tile == kLargeTile ? start<kLargeTile>(launch, grid, stream) : start<kSmallTile>(launch, grid, stream);
}

cudaError_t start_thin_product(const ProductLaunch& launch, u32 blocks, cudaStream_t stream) {
  const dim3 grid(blocks, launch.split.blocks);
  if (min(launch.a.side, launch.b.side) == 1) {
    product_thin<1><<<grid, kThinThreads, 0, stream>>>(launch);
  } else {
    product_thin<kMostThin><<<grid, kThinThreads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

cudaError_t start_product_sums(const ProductLaunch& launch, cudaStream_t stream) {
  product_sums<ToMemory><<<(launch.split.outputs - 1) / kSumThreads + 1, kSumThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
