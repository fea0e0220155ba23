// SPDX-License-Identifier: MIT
// Functions that launch the product kernels. tile: the tile's name in launch.h. splits: the number of thread blocks
// that share the values of k of a tile. If there is more than one, the kernel that adds their sums must be launched
// afterwards.
#pragma once

#include <cuda_runtime_api.h>

#include "ops/product/cuda/double_launch.h"
#include "ops/product/cuda/half_launch.h"
#include "ops/product/cuda/integer_launch.h"
#include "ops/product/cuda/launch.h"
#include "ops/product/cuda/window_launch.h"

namespace anydml::cuda {

struct TileGrid {
  u32 tile;
  u32 blocks;
  u32 splits;
};

[[nodiscard]] cudaError_t start_product(const ProductLaunch& launch, const TileGrid& grid, cudaStream_t stream);
// Computes the sums of all blocks of k, for an output with at most kMaxThin rows or columns.
[[nodiscard]] cudaError_t start_thin_product(const ProductLaunch& launch, u32 blocks, cudaStream_t stream);
[[nodiscard]] cudaError_t start_product_sums(const ProductLaunch& launch, cudaStream_t stream);

[[nodiscard]] cudaError_t start_convolution(const ConvolutionLaunch& launch, const TileGrid& grid, cudaStream_t stream);
[[nodiscard]] cudaError_t start_convolution_sums(const ConvolutionLaunch& launch, cudaStream_t stream);
// Depthwise convolutions with windows of 3 x 3 or 5 x 5 taps and strides of 1 or 2.
struct PlaneForm {
  u32 taps;  // 0 if the convolution does not have this form
  u32 stride;
};
[[nodiscard]] cudaError_t start_planes(const ConvolutionLaunch& launch, const PlaneForm& form, const dim3& grid,
                                       cudaStream_t stream);
[[nodiscard]] cudaError_t start_direct_convolution(const ConvolutionLaunch& launch, u32 blocks, u32 threads,
                                                   cudaStream_t stream);

// Computes FLOAT16 products at addresses that are not multiples of the element size.
[[nodiscard]] cudaError_t start_odd_half_product(const HalfLaunch& launch, cudaStream_t stream);

[[nodiscard]] cudaError_t start_double_product(const DoubleLaunch& launch, u32 blocks, cudaStream_t stream);
[[nodiscard]] cudaError_t start_double_convolution(const DoubleWindowLaunch& launch, cudaStream_t stream);

[[nodiscard]] cudaError_t start_integer_product(const IntegerLaunch& launch, u32 tile, u32 blocks, cudaStream_t stream);

[[nodiscard]] cudaError_t start_integer_convolution(const IntegerWindowLaunch& launch, const TileGrid& grid,
                                                    cudaStream_t stream);
[[nodiscard]] cudaError_t start_integer_convolution_sums(const IntegerWindowLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_direct_integer_convolution(const IntegerWindowLaunch& launch, u32 blocks, u32 threads,
                                                           cudaStream_t stream);

}  // namespace anydml::cuda
