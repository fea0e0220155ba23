// SPDX-License-Identifier: MIT
#include "capi/shared_constants.h"

#include <utility>

#include "backend/core.h"

namespace anydml {

Result<std::shared_ptr<DeviceMemory>> DeviceMemory::allocate(const Device& device, std::string_view label,
                                                             std::uint64_t bytes) {
  std::shared_ptr<DeviceMemory> made(new DeviceMemory(device, bytes));
  ANYDML_TRY(from_backend(label, *device.backend,
                          device.backend->allocate(device.handle, MemoryKind::temporary, bytes, &made->address_)));
  return made;
}

DeviceMemory::~DeviceMemory() {
  if (address_ != nullptr) {
    device_.backend->release(device_.handle, MemoryKind::temporary, bytes_, address_);
  }
}

std::shared_ptr<void> SharedConstants::find(const Device& device, const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = values_.find({&device, key});
  return found != values_.end() ? found->second.lock() : nullptr;
}

std::shared_ptr<void> SharedConstants::add(const Device& device, const std::string& key, std::shared_ptr<void> memory) {
  const std::scoped_lock lock(mutex_);
  forget_released();
  std::weak_ptr<void>& held = values_[{&device, key}];
  if (auto before = held.lock()) {
    return before;
  }
  held = memory;
  return memory;
}

void SharedConstants::forget_released() {
  if (values_.size() >= next_look_) {
    std::erase_if(values_, [](const auto& one) { return one.second.expired(); });
    next_look_ = 64 + 2 * values_.size();
  }
}

}  // namespace anydml
