// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/modulus_kernels.cuh"

namespace anydml::cuda {

ANYDML_MODULUS(true, f64)
ANYDML_MODULUS(false, f64)

}  // namespace anydml::cuda
