// SPDX-License-Identifier: MIT
#include "backend/cuda/gpu_properties.h"

namespace anydml::cuda {

GpuProperties properties_of(const cudaDeviceProp& properties, int device) {
  const auto count = [](int number) { return static_cast<std::uint32_t>(number); };
  return {.device = device,
          .multiprocessors = count(properties.multiProcessorCount),
          .compute_capability = count(properties.major * 10 + properties.minor),
          .warp_threads = count(properties.warpSize),
          .threads_of_block = count(properties.maxThreadsPerBlock),
          .threads_of_multiprocessor = count(properties.maxThreadsPerMultiProcessor),
          .registers_of_block = count(properties.regsPerBlock),
          .registers_of_multiprocessor = count(properties.regsPerMultiprocessor),
          .shared_bytes_of_block = properties.sharedMemPerBlockOptin,
          .shared_bytes_of_multiprocessor = properties.sharedMemPerMultiprocessor,
          .cache_bytes = count(properties.l2CacheSize)};
}

}  // namespace anydml::cuda
