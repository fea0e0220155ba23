// SPDX-License-Identifier: MIT
#include "ops/scan/cuda/kernels.cuh"

namespace anydml::cuda {

cudaError_t start_products(DataType type, bool across, u32 groups, const ScanLaunch& launch, cudaStream_t stream) {
  return start_for<ScanFunction::product>(type, across, groups, launch, stream);
}
cudaError_t carry_products(DataType type, const ScanLaunch& launch, cudaStream_t stream) {
  return carry_for<ScanFunction::product>(type, launch, stream);
}

}  // namespace anydml::cuda
