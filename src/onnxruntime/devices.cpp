// SPDX-License-Identifier: MIT
#include "onnxruntime/devices.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace anydml::ort {
namespace {

constexpr std::uint32_t kNvidia = 0x10de;     // PCI's number of the vendor
constexpr std::uint32_t kNoVendor = 0;        // the runtime's number for devices without one
constexpr std::int32_t kDefaultMemory = 0;    // OrtDeviceMemoryType_DEFAULT
constexpr std::int32_t kDeviceAllocator = 0;  // OrtDeviceAllocator
constexpr std::size_t kGranularity = 256;
// The runtime compares alignments of memory, and programs that bind tensors do not name one.
constexpr std::size_t kAnyAlignment = 0;

// A size that few requests differ in: at least the request, and at most a quarter more, or 256 bytes.
std::size_t rounded(std::size_t bytes) {
  const std::size_t unit = std::max<std::size_t>(std::bit_floor(bytes) / 4, kGranularity);
  return (bytes + unit - 1) / unit * unit;
}

bool is_cuda(std::string_view name) { return name.starts_with("cuda:"); }

}  // namespace

// ---- Memory ---------------------------------------------------------------------------------------------------------

DevicePool::~DevicePool() {
  release_unused();
  for (const auto& [pointer, block] : used_) {
    anydml_memory_release(block.memory);
  }
}

anydml_memory* DevicePool::create(std::size_t bytes) {
  anydml_memory* memory = nullptr;
  static_cast<void>(anydml_memory_create(device_, bytes, 0, &memory));
  return memory;
}

void DevicePool::release_unused() {
  for (const auto& [bytes, memory] : unused_) {
    anydml_memory_release(memory);
  }
  unused_.clear();
  unused_bytes_ = 0;
}

void* DevicePool::take(std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 48;
  if (bytes == 0 || bytes > kMost) {
    return nullptr;
  }
  const std::size_t whole = rounded(bytes);
  const std::scoped_lock lock(mutex_);
  anydml_memory* memory = nullptr;
  if (const auto found = unused_.find(whole); found != unused_.end()) {
    memory = found->second;
    unused_.erase(found);
    unused_bytes_ -= whole;
  } else if (memory = create(whole); memory == nullptr && unused_bytes_ != 0) {
    release_unused();
    memory = create(whole);
  }
  if (memory == nullptr) {
    return nullptr;
  }
  void* const pointer = anydml_memory_pointer(memory);
  used_[pointer] = {memory, whole};
  used_bytes_ += whole;
  most_bytes_ = std::max(most_bytes_, used_bytes_);
  return pointer;
}

void DevicePool::give_back(void* pointer) {
  const std::scoped_lock lock(mutex_);
  const auto found = used_.find(pointer);
  if (found == used_.end()) {
    return;
  }
  const Block block = found->second;
  // Together, the blocks never take more than the most that was used at once, so sizes that grow do not pile up.
  if (used_bytes_ + unused_bytes_ > most_bytes_) {
    release_unused();
  }
  unused_.emplace(block.bytes, block.memory);
  unused_bytes_ += block.bytes;
  used_.erase(found);
  used_bytes_ -= block.bytes;
}

// ---- Devices --------------------------------------------------------------------------------------------------------

OwnDevices::~OwnDevices() {
  for (const auto& one : all_) {
    if (one->info != nullptr) {
      runtime_(kReleaseMemoryInfo, one->info);
    }
  }
  for (HardwareDevice* one : virtual_) {
    runtime_(kReleaseHardwareDevice, one);
  }
}

void OwnDevices::add(const anydml_device* device, const HardwareDevice* hardware) {
  auto added = std::make_unique<OwnDevice>();
  added->device = device;
  added->name = anydml_device_get_info(device)->name;
  added->vendor = is_cuda(added->name) ? kNvidia : kNoVendor;
  added->id = static_cast<std::int32_t>(
      std::count_if(all_.begin(), all_.end(), [&](const auto& one) { return one->vendor == added->vendor; }));
  added->hardware = hardware;
  added->pool = std::make_shared<DevicePool>(device);
  runtime_(kCreateMemoryInfo, "anydml", MemoryPlace::kGpu, added->vendor, added->id, kDefaultMemory, kAnyAlignment,
           kDeviceAllocator, &added->info);
  all_.push_back(std::move(added));
}

void OwnDevices::match(const std::vector<const HardwareDevice*>& gpus, bool is_virtual) {
  std::vector<const HardwareDevice*> nvidia;
  for (const HardwareDevice* one : gpus) {
    if (runtime_(kHardwareVendor, one) == kNvidia) {
      nvidia.push_back(one);
    }
  }
  if (nvidia.empty() && !is_virtual) {
    return;  // a machine without GPUs loads no plugin for them
  }
  auto next = nvidia.begin();
  for (std::size_t i = 0; i < anydml_device_count(); ++i) {
    const anydml_device* const device = anydml_device_at(i);
    const anydml_device_info* const info = device != nullptr ? anydml_device_get_info(device) : nullptr;
    if (info == nullptr || info->own_memory == 0) {
      continue;
    }
    if (is_cuda(info->name) && next != nvidia.end()) {
      add(device, *next++);
    } else if (is_virtual) {
      KeyValuePairs* metadata = nullptr;
      runtime_(kCreatePairs, &metadata);
      runtime_(kAddPair, metadata, "is_virtual", "1");
      HardwareDevice* hardware = nullptr;
      runtime_(kCreateHardwareDevice, HardwareKind::kGpu, is_cuda(info->name) ? kNvidia : kNoVendor,
               static_cast<std::uint32_t>(i), "anydml", metadata, &hardware);
      runtime_(kReleasePairs, metadata);
      virtual_.push_back(hardware);
      add(device, hardware);
    }
  }
}

const OwnDevice* OwnDevices::of_hardware(const HardwareDevice* hardware) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [hardware](const auto& one) { return one->hardware == hardware; });
  return found != all_.end() ? found->get() : nullptr;
}

const OwnDevice* OwnDevices::find(std::uint32_t vendor, std::int32_t id) const {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [vendor, id](const auto& one) { return one->vendor == vendor && one->id == id; });
  return found != all_.end() ? found->get() : nullptr;
}

const OwnDevice* OwnDevices::of_memory(const MemoryInfo* info) const {
  return find(runtime_(kMemoryInfoVendor, info), runtime_.get(kMemoryInfoId, info));
}

const OwnDevice* OwnDevices::of_memory(const MemoryDevice* memory) const {
  return runtime_(kMemoryPlace, memory) == MemoryPlace::kGpu
             ? find(runtime_(kMemoryVendor, memory), static_cast<std::int32_t>(runtime_(kMemoryId, memory)))
             : nullptr;
}

}  // namespace anydml::ort
