// SPDX-License-Identifier: MIT
// Programs of several instructions as one kernel, compiled while a program runs: source is written over the same
// definitions that the other kernels are made of, and NVRTC compiles it where it is installed. Where it is not, or the
// program is none of those that it takes, the interpreter runs it.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "ops/elementwise/cuda/kernel_set.h"
#include "ops/elementwise/cuda/step.h"

namespace anydml::cuda {

struct EmbeddedHeader {
  const char* name;
  const char* text;
};
extern const EmbeddedHeader kFusedHeaders[];
extern const std::size_t kFusedHeaderCount;

struct FusedSource {
  std::string text;
  KernelSet set = {};       // sizes of elements and of vectors; no kernel
  ScalarBytes scalar = {};  // the attributes of all instructions
};

// False: several stores, or more loads or attributes than kernels take.
[[nodiscard]] bool write_fused(const ElementStep& step, FusedSource& source);

// What NVRTC made: machine code, and the names of the two kernels in it.
struct FusedBinary {
  std::string vector_name;
  std::string strided_name;
  std::string code;
};

// Who compiles, and from what: NVRTC's version and a hash of all headers. Code of another compiler or of other
// definitions must not be taken for this. Empty: NVRTC was not found.
[[nodiscard]] std::string fused_compiler();

// architecture: "sm_90". False, and why, when it cannot be compiled.
[[nodiscard]] bool compile_fused(const std::string& source, const char* architecture, FusedBinary& binary,
                                 std::string& why);

class FusedKernels {
 public:
  virtual ~FusedKernels() = default;
  [[nodiscard]] virtual cudaError_t launch(KernelShape shape, const KernelLaunch& launch,
                                           cudaStream_t stream) const noexcept = 0;
};

// For the device that is current; the same for the same source. Null: there is no way to compile it here.
[[nodiscard]] std::shared_ptr<const FusedKernels> find_fused(const FusedSource& source);

}  // namespace anydml::cuda
