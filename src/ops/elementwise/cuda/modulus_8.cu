// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/modulus_kernels.cuh"

namespace anydml::cuda {

ANYDML_MODULUS(false, u8)
ANYDML_MODULUS(true, i8)
ANYDML_MODULUS(false, i8)

}  // namespace anydml::cuda
