// SPDX-License-Identifier: MIT
// The properties of a GPU that a family may use to choose its kernels and launch shapes. The struct is plain data that
// is filled in once, when the device is opened.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace anydml::cuda {

struct GpuProperties {
  int device = 0;  // CUDA's number for the GPU
  std::uint32_t multiprocessors = 0;
  std::uint32_t compute_capability = 0;  // 90 for sm_90
  std::uint32_t warp_threads = 32;
  std::uint32_t threads_of_block = 0;           // the maximum
  std::uint32_t threads_of_multiprocessor = 0;  // the maximum number of resident threads
  std::uint32_t registers_of_block = 0;         // the maximum number of 32-bit registers
  std::uint32_t registers_of_multiprocessor = 0;
  std::uint64_t shared_bytes_of_block = 0;  // the maximum, for kernels that request it
  std::uint64_t shared_bytes_of_multiprocessor = 0;
  std::uint64_t cache_bytes = 0;  // the size of the second-level cache, which all multiprocessors share
};

[[nodiscard]] GpuProperties properties_of(const cudaDeviceProp& properties, int device);

}  // namespace anydml::cuda
