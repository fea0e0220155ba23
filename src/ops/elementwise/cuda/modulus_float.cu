// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/modulus_kernels.cuh"

namespace anydml::cuda {

ANYDML_MODULUS(true, f16)
ANYDML_MODULUS(false, f16)
ANYDML_MODULUS(true, f32)
ANYDML_MODULUS(false, f32)

}  // namespace anydml::cuda
