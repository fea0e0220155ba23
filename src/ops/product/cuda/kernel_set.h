// SPDX-License-Identifier: MIT
// The kernels of products, as the host sees them.
#pragma once

#include <cuda_runtime_api.h>

#include "ops/product/cuda/launch.h"

namespace anydml::cuda {

// tile: kLargeTile or kSmallTile.
[[nodiscard]] cudaError_t start_product(const ProductLaunch& launch, u32 tile, u32 blocks, cudaStream_t stream);

}  // namespace anydml::cuda
