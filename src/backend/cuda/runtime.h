// SPDX-License-Identifier: MIT
// Kernels that are compiled at run time: a family writes source that uses the same definitions as its other kernels,
// and NVRTC, if it is installed, compiles it. Part of the interface between a family and the backend.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/gpu_properties.h"

namespace anydml::cuda {

// A header that such source may include.
struct RuntimeHeader {
  const char* name;
  const char* text;
};
extern const RuntimeHeader kRuntimeHeaders[];
extern const std::size_t kRuntimeHeaderCount;

struct KernelSource {
  std::string text;
  std::vector<std::string> kernels;  // their C++ names
  // The maximum dynamic shared memory that a launch of any of these kernels will use. CUDA must know in advance if a
  // block uses more than 48 KiB, including static memory.
  std::uint32_t max_shared_bytes = 0;
};

// The shape of a launch: blocks in the grid, threads in a block, and the dynamic shared memory of each block.
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

// Identifies the compiler and its input: NVRTC's version and a hash of all headers. Code from another compiler or other
// definitions must not be used. Empty: NVRTC was not found.
[[nodiscard]] std::string runtime_compiler();

// architecture: "sm_90". If the source cannot be compiled, returns false with the reason.
[[nodiscard]] bool compile_source(const KernelSource& source, const char* architecture, KernelBinary& binary,
                                  std::string& why);

// Kernels that are ready to launch, by several threads at once.
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

// The kernels for this device; the same object for the same source. Null if the source cannot be compiled here.
[[nodiscard]] std::shared_ptr<const RuntimeKernels> find_runtime_kernels(const KernelSource& source,
                                                                         const GpuProperties& gpu);

// Whether source can be compiled here for this GPU. Tries to compile an empty kernel.
[[nodiscard]] bool compiles_while_running(const GpuProperties& gpu);

}  // namespace anydml::cuda
