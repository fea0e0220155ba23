// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/modulus_kernels.cuh"

namespace anydml::cuda {

ANYDML_MODULUS(false, u32)
ANYDML_MODULUS(true, i32)
ANYDML_MODULUS(false, i32)

}  // namespace anydml::cuda
