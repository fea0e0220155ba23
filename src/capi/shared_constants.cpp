// SPDX-License-Identifier: MIT
#include "capi/shared_constants.h"

#include <utility>

namespace anydml {

std::shared_ptr<DeviceMemory> SharedConstants::find(const Device& device, const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto found = values_.find(SoughtName(&device, key));
  return found != values_.end() ? found->second.lock() : nullptr;
}

std::shared_ptr<DeviceMemory> SharedConstants::add(const Device& device, const std::string& key,
                                                   std::shared_ptr<DeviceMemory> memory) {
  const std::scoped_lock lock(mutex_);
  forget_released();
  std::weak_ptr<DeviceMemory>& held = values_[Name{&device, key}];
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
