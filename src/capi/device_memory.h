// SPDX-License-Identifier: MIT
// A device's memory, owned through shared pointers, and the pointers that identify it. Tensors identify their memory
// with pointers. On a device that shares the process's addresses, the pointer is the address. On other devices, memory
// that callers may refer to has its own range of addresses, which is never mapped. The range identifies the bytes in
// calls, and an accidental access crashes the program instead of reading unrelated memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string_view>

#include "backend/core.h"
#include "base/result.h"

namespace anydml {

struct Device;

class DeviceMemory {
 public:
  enum class Named : std::uint8_t { no, yes };
  // kind: the purpose of the memory. Buffers contain zeros.
  static Result<std::shared_ptr<DeviceMemory>> allocate(const Device& device, std::string_view label,
                                                        std::uint64_t bytes, Named named,
                                                        MemoryKind kind = MemoryKind::temporary);
  // Wraps the CPU's memory, or memory that the device can access at its address. The caller keeps ownership.
  static Result<std::shared_ptr<DeviceMemory>> wrap(const Device& device, std::string_view label, void* host,
                                                    std::uint64_t bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] const MemoryBlock& block() const { return block_; }
  [[nodiscard]] DeviceAddress address() const { return block_.address; }
  [[nodiscard]] MemoryLocation location(std::uint64_t offset) const {
    return block_.handle != nullptr ? MemoryLocation{block_.handle, offset}
                                    : MemoryLocation{nullptr, block_.address + offset};
  }
  // The pointer that tensors use to refer to the first byte; null if no pointer was requested.
  [[nodiscard]] std::byte* pointer() const { return pointer_; }

 private:
  enum class Origin : std::uint8_t { none, allocated, imported, given };

  DeviceMemory(const Device& device, std::uint64_t bytes, MemoryKind kind)
      : device_(device), bytes_(bytes), kind_(kind) {}
  Status name(std::string_view label);

  const Device& device_;
  const std::uint64_t bytes_;
  const MemoryKind kind_;
  Origin origin_ = Origin::none;
  MemoryBlock block_ = {};
  std::byte* pointer_ = nullptr;
  std::uint64_t reserved_bytes_ = 0;  // the size of the address range at the pointer
};

// The pointers that identify memory on a device that does not share addresses. Any thread may call these functions.
class NamedMemory {
 public:
  struct Found {
    MemoryLocation location;
    DeviceAddress address;
    std::uint64_t before;  // bytes of this memory before the pointer
    std::uint64_t after;   // bytes of this memory at and after the pointer
  };
  [[nodiscard]] std::optional<Found> find(const void* pointer) const;

 private:
  friend class DeviceMemory;

  mutable std::shared_mutex mutex_;
  std::map<std::uintptr_t, const DeviceMemory*> memory_;  // indexed by the pointer to the first byte
};

// Whether a caller's pointer refers to memory of the device. An error if the device cannot access the memory there, or
// if it has fewer bytes.
[[nodiscard]] Result<bool> find_on_device(std::string_view label, std::string_view name, const Device& device,
                                          const void* data, std::uint64_t bytes);

// Copies bytes between locations that callers' pointers refer to, and returns when the copy is complete.
[[nodiscard]] Status copy_between(std::string_view label, const Device& device, void* to, const void* from,
                                  std::uint64_t bytes);

// Copies between this memory and the CPU's memory, and returns when the copy is complete. `to_memory` selects the
// direction.
[[nodiscard]] Status copy_bytes(std::string_view label, const DeviceMemory& memory, std::uint64_t offset, void* data,
                                std::uint64_t bytes, bool to_memory);

// The location that a caller's pointer refers to, for copies: the device's memory or the CPU's.
[[nodiscard]] MemoryLocation location_of(const Device& device, const void* pointer);

}  // namespace anydml
