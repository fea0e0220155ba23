// SPDX-License-Identifier: MIT
#include "ops/product/cuda/integer_windows.cuh"
#include "ops/product/cuda/kernel_set.h"

namespace anydml::cuda {

cudaError_t start_integer_convolution(const IntegerWindowLaunch& launch, const TileGrid& grid, cudaStream_t stream) {
  const dim3 blocks(grid.blocks, grid.splits);
  if (grid.tile == kLargeTile) {
    integer_convolution_tiles<kLargeTile, ToMemory><<<blocks, byte_threads(kLargeTile), 0, stream>>>(launch);
  } else {
    integer_convolution_tiles<kSmallTile, ToMemory><<<blocks, byte_threads(kSmallTile), 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

cudaError_t start_integer_convolution_sums(const IntegerWindowLaunch& launch, cudaStream_t stream) {
  integer_convolution_sums<ToMemory><<<(launch.split.outputs - 1) / kSumThreads + 1, kSumThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t start_direct_integer_convolution(const IntegerWindowLaunch& launch, u32 blocks, u32 threads,
                                             cudaStream_t stream) {
  integer_convolution_direct<ToMemory><<<blocks, threads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
