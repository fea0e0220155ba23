// SPDX-License-Identifier: MIT
#include "ops/product/cuda/kernel_set.h"
#include "ops/product/cuda/tiles.cuh"

namespace anydml::cuda {
namespace {

template <u32 kTile, u32 kOrderOfA, u32 kOrderOfB>
cudaError_t start(const ProductLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  constexpr auto kKernel = product_tiles<kTile, kOrderOfA, kOrderOfB, ToMemory>;
  // Required once per device; repeating the call is cheap.
  if (const cudaError_t error =
          cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes(kTile));
      error != cudaSuccess) {
    return error;
  }
  kKernel<<<dim3(grid.blocks, grid.splits), tile_threads(kTile), tile_bytes(kTile), stream>>>(launch);
  return cudaGetLastError();
}

[[nodiscard]] u32 order_of(const FactorLaunch& factor) {
  return !factor.is_aligned   ? kAnyFactor
         : factor.has_vectors ? kVectorFactor
         : factor.k_is_near   ? kNearFactor
                              : kAnyFactor;
}

template <u32 kTile>
cudaError_t start_tiles(const ProductLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  switch (order_of(launch.a) * 4 + order_of(launch.b)) {
    case kNearFactor * 4 + kVectorFactor:
      return start<kTile, kNearFactor, kVectorFactor>(launch, grid, stream);
    case kNearFactor * 4 + kNearFactor:
      return start<kTile, kNearFactor, kNearFactor>(launch, grid, stream);
    case kVectorFactor * 4 + kVectorFactor:
      return start<kTile, kVectorFactor, kVectorFactor>(launch, grid, stream);
    default:
      return start<kTile, kAnyFactor, kAnyFactor>(launch, grid, stream);
  }
}

}  // namespace

cudaError_t start_product(const ProductLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  switch (grid.tile) {
    case kWideTile:
      return start_tiles<kWideTile>(launch, grid, stream);
    case kLargeTile:
      return start_tiles<kLargeTile>(launch, grid, stream);
    default:
      return start_tiles<kSmallTile>(launch, grid, stream);
  }
}

cudaError_t start_thin_product(const ProductLaunch& launch, u32 blocks, cudaStream_t stream) {
  const dim3 grid(blocks, launch.split.blocks);
  if (min(launch.a.side, launch.b.side) == 1) {
    product_thin<1><<<grid, kThinThreads, 0, stream>>>(launch);
  } else {
    product_thin<kMaxThin><<<grid, kThinThreads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

cudaError_t start_product_sums(const ProductLaunch& launch, cudaStream_t stream) {
  product_sums<ToMemory><<<(launch.split.outputs - 1) / kSumThreads + 1, kSumThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
