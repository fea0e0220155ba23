// SPDX-License-Identifier: MIT
// Kernels that are compiled at run time. A family writes source code that uses the same definitions as its other
// kernels, and NVRTC compiles it if it is installed. This file is part of the interface between a family and the
// backend.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/gpu_properties.h"

namespace anydml::cuda {

// A header that the source may include.
struct RuntimeHeader {
  const char* name;
  const char* text;
};
extern const RuntimeHeader kRuntimeHeaders[];
extern const std::size_t kRuntimeHeaderCount;

struct KernelSource {
  std::string text;
  std::vector<std::string> kernels;  // C++ names of the kernels
  // The maximum dynamic shared memory for a launch of any of these kernels. CUDA must know in advance if a block uses
  // more than 48 KiB, including static memory.
  std::uint32_t max_shared_bytes = 0;
};

// The shape of a launch: blocks in the grid, threads per block, and dynamic shared memory per block.
struct LaunchShape {
  struct Extent {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
  };
  Extent blocks;
  Extent threads;
  std::uint32_t shared_bytes = 0;  // at most KernelSource::max_shared_bytes
};

// The output of NVRTC: machine code, and the names of the kernels in it.
struct KernelBinary {
  std::vector<std::string> names;
  std::string code;
};

// Identifies the compiler and its input: NVRTC's version and a hash of all headers. Code from a different compiler or
// different definitions must not be used. Empty if NVRTC was not found.
[[nodiscard]] std::string runtime_compiler();

// architecture: "sm_90". If the source cannot be compiled, returns false with the reason.
[[nodiscard]] bool compile_source(const KernelSource& source, const char* architecture, KernelBinary& binary,
                                  std::string& why);

// Kernels that are ready to launch. Several threads may launch them at the same time.
class RuntimeKernels {
 public:
  RuntimeKernels() = default;
  virtual ~RuntimeKernels() = default;
  RuntimeKernels(const RuntimeKernels&) = delete;
  RuntimeKernels& operator=(const RuntimeKernels&) = delete;

  // kernel: the kernel's position in the source's list. parameters: the address of each parameter.
  [[nodiscard]] virtual cudaError_t launch(std::size_t kernel, const LaunchShape& shape, void** parameters,
                                           cudaStream_t stream) const noexcept = 0;
};

// Returns the kernels for this device. The same source yields the same object. Null if the source cannot be compiled
// here.
[[nodiscard]] std::shared_ptr<const RuntimeKernels> find_runtime_kernels(const KernelSource& source,
                                                                         const GpuProperties& gpu);

// Whether source code can be compiled here for this GPU. Tries to compile an empty kernel.
[[nodiscard]] bool compiles_while_running(const GpuProperties& gpu);

}  // namespace anydml::cuda
