// SPDX-License-Identifier: MIT
// Constants that several graphs use, and the memory that the compiled graphs share, such as packed weights.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "capi/devices.h"

namespace anydml {

// The shared values in memory, by key. Compiled objects own the memory; this table only finds it. Any thread may call
// these functions.
class SharedConstants {
 public:
  // Returns null if no live graph has the value.
  [[nodiscard]] std::shared_ptr<DeviceMemory> find(const Device& device, const std::string& key) const;
  // Makes a value visible to other graphs. Returns the memory to use. If two graphs compute the value at the same time,
  // this may be the other graph's memory.
  std::shared_ptr<DeviceMemory> add(const Device& device, const std::string& key, std::shared_ptr<DeviceMemory> memory);

 private:
  void forget_released();

  struct Name {
    const Device* device;
    std::string key;
    bool operator==(const Name&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Name& name) const { return std::hash<std::string>()(name.key); }
  };

  mutable std::mutex mutex_;
  std::unordered_map<Name, std::weak_ptr<DeviceMemory>, Hash> values_;
  std::size_t next_look_ = 64;  // at this number of values, released values are removed
};

}  // namespace anydml
