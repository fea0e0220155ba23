// SPDX-License-Identifier: MIT
// Code shared by the programs that nvcc builds from the kernels alone, without the rest of the library.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "backend/cuda/gpu_properties.h"
#include "plan/tensor.h"

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (false)

namespace anydml {

namespace cuda {
// The GPU that these programs run on.
inline const GpuProperties& machine_of_tests() {
  static const GpuProperties gpu = [] {
    cudaDeviceProp properties{};
    CHECK(cudaGetDeviceProperties(&properties, 0));
    return properties_of(properties, 0);
  }();
  return gpu;
}
}  // namespace cuda

// Replaces the function in plan/tensor.cpp, because that file needs code that these programs do not link.
__attribute__((weak)) std::int64_t element_count(const TensorDesc& tensor) {
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    count *= tensor.sizes[i];
  }
  return count;
}

}  // namespace anydml
