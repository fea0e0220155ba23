// SPDX-License-Identifier: MIT
// The devices with memory of their own, such as GPUs, as the runtime sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "anydml/anydml.h"
#include "onnxruntime/runtime.h"

namespace anydml::ort {

// Memory of one device. A block that is not used any more is kept for the next request of about the same size, because
// the runtime requests memory in every run, and all work on a block is done when it is given back.
class DevicePool {
 public:
  explicit DevicePool(const anydml_device* device) : device_(device) {}
  ~DevicePool();
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  // Returns null if there is no memory left.
  [[nodiscard]] void* take(std::size_t bytes);
  void give_back(void* pointer);
  [[nodiscard]] std::size_t unused_bytes() const { return unused_bytes_; }

 private:
  struct Block {
    anydml_memory* memory;
    std::size_t bytes;
  };
  [[nodiscard]] anydml_memory* create(std::size_t bytes);
  void release_unused();

  const anydml_device* device_;
  std::mutex mutex_;
  std::unordered_map<void*, Block> used_;
  std::multimap<std::size_t, anydml_memory*> unused_;  // by size
  std::size_t used_bytes_ = 0;
  std::size_t unused_bytes_ = 0;
  std::size_t most_bytes_ = 0;  // used at once so far
};

// A device with memory of its own.
struct OwnDevice {
  const anydml_device* device;
  std::string name;
  std::uint32_t vendor;
  std::int32_t id;  // among the devices of this vendor
  const HardwareDevice* hardware = nullptr;
  MemoryInfo* info = nullptr;
  std::shared_ptr<DevicePool> pool;
};

class OwnDevices {
 public:
  explicit OwnDevices(const Runtime& runtime) : runtime_(runtime) {}
  ~OwnDevices();
  OwnDevices(const OwnDevices&) = delete;
  OwnDevices& operator=(const OwnDevices&) = delete;

  // Finds the devices that are GPUs of the machine. If is_virtual, a device without a GPU gets a virtual one.
  void match(const std::vector<const HardwareDevice*>& gpus, bool is_virtual);

  [[nodiscard]] const std::vector<std::unique_ptr<OwnDevice>>& all() const { return all_; }
  [[nodiscard]] const OwnDevice* of_hardware(const HardwareDevice* hardware) const;
  [[nodiscard]] const OwnDevice* of_memory(const MemoryInfo* info) const;
  // Null if the memory is the CPU's or another provider's.
  [[nodiscard]] const OwnDevice* of_memory(const MemoryDevice* memory) const;

 private:
  void add(const anydml_device* device, const HardwareDevice* hardware);
  [[nodiscard]] const OwnDevice* find(std::uint32_t vendor, std::int32_t id) const;

  const Runtime& runtime_;
  std::vector<std::unique_ptr<OwnDevice>> all_;
  std::vector<HardwareDevice*> virtual_;
};

}  // namespace anydml::ort
