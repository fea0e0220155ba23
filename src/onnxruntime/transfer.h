// SPDX-License-Identifier: MIT
// The allocators and the copies of tensors that the provider lends to the runtime, for devices with memory of their
// own. Copies are done when the call returns, as runs are, so the provider needs no streams.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "onnxruntime/devices.h"
#include "onnxruntime/runtime.h"

namespace anydml::ort {

// The number of copies of tensors, since the library was registered.
struct CopyCounts {
  std::atomic<std::uint64_t> to_device{0};
  std::atomic<std::uint64_t> to_cpu{0};
  std::atomic<std::uint64_t> on_device{0};
};

class DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(const OwnDevice& device);

 private:
  const MemoryInfo* info_;
  std::shared_ptr<DevicePool> pool_;
};

class DeviceTransfer final : public DataTransfer {
 public:
  DeviceTransfer(const Runtime& runtime, const OwnDevices& devices, CopyCounts& counts);

 private:
  static bool can_copy(const DataTransfer* self, const MemoryDevice* from, const MemoryDevice* to) noexcept;
  static Status* copy_tensors(DataTransfer* self, const Value** from, Value** to, SyncStream** streams,
                              std::size_t count) noexcept;
  void copy(const Value* from, Value* to) const;

  const Runtime& runtime_;
  const OwnDevices& devices_;
  CopyCounts& counts_;
};

}  // namespace anydml::ort
