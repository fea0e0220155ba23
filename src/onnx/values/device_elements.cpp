// SPDX-License-Identifier: MIT
#include "onnx/values/device_elements.h"

#include <cstring>

#include "onnx/values/array.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {

const anydml_device* with_own_memory(const anydml_device* device) {
  // If null stands for the CPU, this opens no other device.
  const anydml_device_info* const info = anydml_device_get_info(device);
  if (info == nullptr) {
    throw Invalid(anydml_last_error());
  }
  return info->own_memory == 0 ? nullptr : device != nullptr ? device : anydml_find_device(nullptr);
}

bool is_on_device(const anydml_device* device, const void* data, std::size_t bytes) {
  int found = 0;
  if (device != nullptr) {
    check_status(anydml_memory_find(device, data, bytes, &found));
  }
  return found != 0;
}

void check_reachable(const anydml_device* device, const void* data) {
  int found = 0;
  check_status(anydml_memory_find(device, data, 0, &found));
}

void copy_between(const anydml_device* device, void* to, const void* from, std::size_t bytes) {
  if (device != nullptr) {
    check_status(anydml_memory_copy(device, to, from, bytes));
  } else if (bytes != 0) {
    std::memcpy(to, from, bytes);
  }
}

void set_to_zero(const anydml_device* device, void* to, std::size_t bytes) {
  if (device != nullptr) {
    copy_between(device, to, new_device_memory(device, bytes).get(), bytes);
  } else if (bytes != 0) {
    std::memset(to, 0, bytes);
  }
}

std::shared_ptr<void> new_device_memory(const anydml_device* device, std::size_t bytes) {
  anydml_memory* memory = nullptr;
  check_status(anydml_memory_create(device, bytes, 0, &memory));
  const std::shared_ptr<anydml_memory> owner(memory, anydml_memory_release);
  return {owner, anydml_memory_pointer(memory)};
}

const void* DeviceElements::on_cpu(const void* address) const {
  const std::scoped_lock lock(mutex_);
  if (copy_ == nullptr) {
    std::shared_ptr<void> copy = new_memory(bytes_);
    copy_between(device_, copy.get(), first_, bytes_);
    copy_ = std::move(copy);
  }
  return static_cast<const std::byte*>(copy_.get()) + (static_cast<const std::byte*>(address) - first_);
}

}  // namespace anydml::onnx
