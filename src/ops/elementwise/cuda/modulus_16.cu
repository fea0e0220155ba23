// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/modulus_kernels.cuh"

namespace anydml::cuda {

ANYDML_MODULUS(false, u16)
ANYDML_MODULUS(true, i16)
ANYDML_MODULUS(false, i16)

}  // namespace anydml::cuda
