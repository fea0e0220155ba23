// SPDX-License-Identifier: MIT
// Sets the current device of the calling thread. This file is part of the interface between a family and the backend.
#pragma once

#include <cuda_runtime_api.h>

namespace anydml {

struct BackendDevice;

namespace cuda {

// Switches the calling thread to a device. Other code relies on the previous device, so the destructor restores it,
// unless that would create a new context.
class OnDevice {
 public:
  explicit OnDevice(const BackendDevice& device);
  explicit OnDevice(int device);  // CUDA's device number
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  // Why the thread could not switch to the device.
  [[nodiscard]] cudaError_t error() const { return error_; }

 private:
  int before_ = -1;  // the device to restore
  cudaError_t error_ = cudaSuccess;
};

}  // namespace cuda
}  // namespace anydml
