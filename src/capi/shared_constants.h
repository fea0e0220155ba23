// SPDX-License-Identifier: MIT
// Constants that several graphs use, and the memory that the compiled graphs share, such as packed weights.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
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
  };
  // A name that is looked up, and owns no text.
  struct SoughtName {
    const Device* device;
    std::string_view key;
    SoughtName(const Device* of, std::string_view text) : device(of), key(text) {}
    SoughtName(const Name& name) : device(name.device), key(name.key) {}  // NOLINT: a name is also one to look up
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const SoughtName& name) const { return std::hash<std::string_view>()(name.key); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const SoughtName& a, const SoughtName& b) const { return a.device == b.device && a.key == b.key; }
  };

  mutable std::mutex mutex_;
  std::unordered_map<Name, std::weak_ptr<DeviceMemory>, Hash, Equal> values_;
  std::size_t next_look_ = 64;  // at this number of values, released values are removed
};

}  // namespace anydml
