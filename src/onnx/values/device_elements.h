// SPDX-License-Identifier: MIT
// Elements in the memory of a device. Graphs on the device use them there; for everything else, they are copied to the
// CPU once.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "anydml/anydml.h"

namespace anydml::onnx {

// The device itself if it has memory that the CPU does not read through tensors' pointers, otherwise null. A null
// device means the default.
[[nodiscard]] const anydml_device* with_own_memory(const anydml_device* device);

// Whether bytes are in the memory of a device; always false if the device is null. Raises Invalid for a pointer that
// the device cannot use.
[[nodiscard]] bool is_on_device(const anydml_device* device, const void* data, std::size_t bytes);

// Raises Invalid if an address is known to be in the memory of another device. A null device means the default.
void check_reachable(const anydml_device* device, const void* data);

// Copies bytes between any two of the device's memory and the CPU's; a null device means that both are the CPU's.
void copy_between(const anydml_device* device, void* to, const void* from, std::size_t bytes);

// Sets memory of the device to 0, or of the CPU if the device is null.
void set_to_zero(const anydml_device* device, void* to, std::size_t bytes);

// New memory of a device, which is 0.
[[nodiscard]] std::shared_ptr<void> new_device_memory(const anydml_device* device, std::size_t bytes);

// A range of bytes in the memory of a device, which another object keeps valid.
class DeviceElements {
 public:
  DeviceElements(const anydml_device* device, const void* first, std::size_t bytes)
      : device_(device), first_(static_cast<const std::byte*>(first)), bytes_(bytes) {}
  DeviceElements(const DeviceElements&) = delete;
  DeviceElements& operator=(const DeviceElements&) = delete;

  // The CPU's copy of the byte at an address of the range. The first call copies the whole range.
  [[nodiscard]] const void* on_cpu(const void* address) const;

 private:
  const anydml_device* device_;
  const std::byte* first_;
  std::size_t bytes_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<void> copy_;
};

}  // namespace anydml::onnx
