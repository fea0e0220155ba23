// SPDX-License-Identifier: MIT
// The device's memory. Small blocks share an allocation of Vulkan, because devices may allow only 4096 of these.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "backend/backend.h"
#include "backend/vulkan/device.h"

namespace anydml {

namespace vulkan {
struct Chunk;
}

// Bytes in a buffer of Vulkan.
struct BackendMemory {
  vulkan::Chunk* chunk = nullptr;
  VkBuffer buffer = VK_NULL_HANDLE;
  std::uint64_t offset = 0;  // in the buffer
  std::uint64_t bytes = 0;   // reserved, at least 1
  DeviceAddress address = 0;
  std::byte* host = nullptr;  // null if the memory is not mapped
};

namespace vulkan {

// The purpose of memory, which decides its type.
enum class Placement : std::uint32_t {
  device,
  upload,    // the CPU writes, the device reads once
  readback,  // the device writes, the CPU reads
  table,     // the CPU writes a few bytes that the device reads several times
};
inline constexpr std::size_t kPlacements = 4;

// An allocation of Vulkan with a buffer over all of it.
struct Chunk {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  DeviceAddress address = 0;
  std::byte* host = nullptr;
  std::uint64_t first = 0;  // the offset of the first unit: its address is a multiple of kBufferAlignment
  Placement placement = Placement::device;
  std::uint32_t heap = 0;
  std::uint64_t allocated = 0;  // bytes of the heap; 0 if the memory was imported
  std::vector<bool> used;       // for each unit of a chunk that blocks share; empty for a block's own chunk
  std::size_t used_units = 0;
};

class Memory {
 public:
  explicit Memory(BackendDevice& device);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The address of a block is a multiple of kBufferAlignment. Its contents are undefined. May throw std::bad_alloc.
  [[nodiscard]] BackendStatus allocate(Placement placement, std::uint64_t bytes, BackendMemory** block);
  void release(BackendMemory* block) noexcept;
  [[nodiscard]] BackendStatus import(void* host, std::uint64_t bytes, BackendMemory** block);

  // The location of bytes in a mapped block that the CPU knows by this pointer. Returns false if there is none.
  [[nodiscard]] bool find(const std::byte* host, std::uint64_t bytes, MemoryLocation& location) const;
  // Whether the CPU can write to the device's own memory as fast as to its own.
  [[nodiscard]] bool is_shared() const { return is_shared_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  [[nodiscard]] std::uint32_t type_of(Placement placement, std::uint32_t allowed) const;
  [[nodiscard]] VkResult create(Chunk& chunk, std::uint64_t bytes, void* imported);
  void destroy(Chunk& chunk) noexcept;
  [[nodiscard]] VkResult create_freeing(Chunk& chunk, std::uint64_t bytes);
  [[nodiscard]] BackendStatus place(Chunk& chunk, std::uint64_t offset, std::uint64_t bytes, BackendMemory** block);

  BackendDevice& device_;
  VkPhysicalDeviceMemoryProperties properties_{};
  bool is_shared_ = false;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> allocated_[VK_MAX_MEMORY_HEAPS] = {};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Chunk>> shared_[kPlacements];
  mutable std::shared_mutex hosts_mutex_;
  std::map<const std::byte*, BackendMemory*> hosts_;  // mapped blocks by their first byte
};

[[nodiscard]] BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes,
                                     MemoryBlock* block) noexcept;
void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle) noexcept;
[[nodiscard]] BackendStatus import_host(BackendDevice* device, void* host, std::uint64_t bytes,
                                        MemoryBlock* block) noexcept;
void forget_host(BackendDevice* device, BackendMemory* handle) noexcept;
[[nodiscard]] std::uint64_t buffer_bytes(const BackendDevice* device) noexcept;

}  // namespace vulkan
}  // namespace anydml
