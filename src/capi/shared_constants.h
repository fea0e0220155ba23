// SPDX-License-Identifier: MIT
// Constants of several graphs, and the memory that the graphs compiled from them share: packed weights, for example.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "capi/devices.h"

namespace anydml {

// Memory of a device, which lives as long as it is held.
class DeviceMemory {
 public:
  static Result<std::shared_ptr<DeviceMemory>> allocate(const Device& device, std::string_view label,
                                                        std::uint64_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  [[nodiscard]] std::byte* address() const { return static_cast<std::byte*>(address_); }

 private:
  DeviceMemory(const Device& device, std::uint64_t bytes) : device_(device), bytes_(bytes) {}

  const Device& device_;
  std::uint64_t bytes_;
  void* address_ = nullptr;
};

// The values in memory, by key. Compiled objects hold the memory; this table only finds it. Any thread may call it.
class SharedConstants {
 public:
  // Null: no live graph holds the value.
  [[nodiscard]] std::shared_ptr<void> find(const Device& device, const std::string& key) const;
  // Makes a value visible to other graphs. Returns the memory to use: another graph's, if two computed it at once.
  std::shared_ptr<void> add(const Device& device, const std::string& key, std::shared_ptr<void> memory);

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
  std::unordered_map<Name, std::weak_ptr<void>, Hash> values_;
  std::size_t next_look_ = 64;  // the number of values at which released ones are removed
};

}  // namespace anydml
