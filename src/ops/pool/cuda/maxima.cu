// SPDX-License-Identifier: MIT
#include "ops/pool/cuda/elements.cuh"

namespace anydml::cuda {

cudaError_t start_pool_maxima(const PoolLaunch& launch, cudaStream_t stream) {
  switch (launch.step.type) {
#define ANYDML_CASE(type, name, value) \
  case DataType::name:                 \
    return start_pool<PoolMax<type>>(launch, stream);
    ANYDML_FOR_EACH_TYPE(ANYDML_CASE)
#undef ANYDML_CASE
    case DataType::UINT4:
    case DataType::INT4:
    case DataType::unknown:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace anydml::cuda
