// SPDX-License-Identifier: MIT
#include "onnxruntime/transfer.h"

#include "onnxruntime/log.h"
#include "text/format.h"

namespace anydml::ort {

DeviceAllocator::DeviceAllocator(const OwnDevice& device) : Allocator{}, info_(device.info), pool_(device.pool) {
  version = kApiVersion;
  Alloc = [](Allocator* self, std::size_t bytes) noexcept -> void* {
    try {
      return static_cast<DeviceAllocator*>(self)->pool_->take(bytes);
    } catch (...) {
      return nullptr;  // the runtime reports that there is no memory
    }
  };
  Free = [](Allocator* self, void* pointer) noexcept {
    try {
      static_cast<DeviceAllocator*>(self)->pool_->give_back(pointer);
    } catch (...) {  // without memory for its list, the pool releases the block when it ends
    }
  };
  Info = [](const Allocator* self) noexcept { return static_cast<const DeviceAllocator*>(self)->info_; };
}

DeviceTransfer::DeviceTransfer(const Runtime& runtime, const OwnDevices& devices, CopyCounts& counts)
    : DataTransfer{}, runtime_(runtime), devices_(devices), counts_(counts) {
  version = kApiVersion;
  Release = [](DataTransfer* self) noexcept { delete static_cast<DeviceTransfer*>(self); };
  CanCopy = &can_copy;
  CopyTensors = &copy_tensors;
}

bool DeviceTransfer::can_copy(const DataTransfer* self, const MemoryDevice* from, const MemoryDevice* to) noexcept {
  const auto& transfer = *static_cast<const DeviceTransfer*>(self);
  const auto is_cpu = [&transfer](const MemoryDevice* one) {
    return transfer.runtime_(kMemoryPlace, one) == MemoryPlace::kCpu;
  };
  const OwnDevice* const source = transfer.devices_.of_memory(from);
  const OwnDevice* const target = transfer.devices_.of_memory(to);
  return (source != nullptr && (source == target || is_cpu(to))) || (target != nullptr && is_cpu(from));
}

void DeviceTransfer::copy(const Value* from, Value* to) const {
  const OwnDevice* const source = devices_.of_memory(runtime_(kValueMemory, from));
  const OwnDevice* const target = devices_.of_memory(runtime_(kValueMemory, to));
  const OwnDevice* const device = source != nullptr ? source : target;
  const std::size_t bytes = runtime_.get(kTensorBytes, from);
  if (device == nullptr || (source != nullptr && target != nullptr && source != target) ||
      bytes != runtime_.get(kTensorBytes, to)) {
    throw Failure(ErrorCode::kInvalidArgument, "anydml: a copy is not between one device and the CPU");
  }
  auto& count = source == nullptr ? counts_.to_device : target == nullptr ? counts_.to_cpu : counts_.on_device;
  ++count;
  if (is_log_wanted()) {
    log_provider(format_text("onnxruntime: {} bytes are copied from {} to {}", bytes,
                             source != nullptr ? source->name : "the CPU",
                             target != nullptr ? target->name : "the CPU"));
  }
  if (anydml_memory_copy(device->device, runtime_.get(kTensorMutableData, to), runtime_.get(kTensorData, from),
                         bytes) != ANYDML_OK) {
    throw Failure(ErrorCode::kEpFail, anydml_last_error());
  }
}

Status* DeviceTransfer::copy_tensors(DataTransfer* self, const Value** from, Value** to, SyncStream**,
                                     std::size_t count) noexcept {
  const auto& transfer = *static_cast<const DeviceTransfer*>(self);
  return transfer.runtime_.boundary([&] {
    for (std::size_t i = 0; i < count; ++i) {
      transfer.copy(from[i], to[i]);
    }
  });
}

}  // namespace anydml::ort
