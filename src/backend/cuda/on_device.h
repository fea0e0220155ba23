// SPDX-License-Identifier: MIT
// The device of the calling thread. Part of what a family sees of the backend.
#pragma once

#include <cuda_runtime_api.h>

namespace anydml {

struct BackendDevice;

namespace cuda {

// The calling thread's device is another's business: it is put back, unless that would make a context that nobody had.
class OnDevice {
 public:
  explicit OnDevice(const BackendDevice& device);
  explicit OnDevice(int device);  // by CUDA's number
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  // Why the thread is not on the device.
  [[nodiscard]] cudaError_t error() const { return error_; }

 private:
  int before_ = -1;  // to be put back
  cudaError_t error_ = cudaSuccess;
};

}  // namespace cuda
}  // namespace anydml
