// SPDX-License-Identifier: MIT
#include "ops/product/cuda/integer_tiles.cuh"
#include "ops/product/cuda/kernel_set.h"

namespace anydml::cuda {

cudaError_t start_integer_product(const IntegerLaunch& launch, u32 tile, u32 blocks, cudaStream_t stream) {
  if (tile == kLargeTile) {
    integer_tiles<kLargeTile, ToMemory><<<blocks, byte_threads(kLargeTile), 0, stream>>>(launch);
  } else {
    integer_tiles<kSmallTile, ToMemory><<<blocks, byte_threads(kSmallTile), 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

}  // namespace anydml::cuda
