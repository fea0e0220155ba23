// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/modulus_kernels.cuh"

namespace anydml::cuda {

ANYDML_MODULUS(false, u64)
ANYDML_MODULUS(true, i64)
ANYDML_MODULUS(false, i64)

}  // namespace anydml::cuda
