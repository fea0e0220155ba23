// SPDX-License-Identifier: MIT
#include "ops/product/cuda/kernel_set.h"
#include "ops/product/cuda/tiles.cuh"

namespace anydml::cuda {

cudaError_t start_product(const ProductLaunch& launch, u32 tile, u32 blocks, cudaStream_t stream) {
  if (tile == kLargeTile) {
    product_tiles<kLargeTile, ToMemory><<<blocks, product_threads(kLargeTile), 0, stream>>>(launch);
  } else {
    product_tiles<kSmallTile, ToMemory><<<blocks, product_threads(kSmallTile), 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

}  // namespace anydml::cuda
