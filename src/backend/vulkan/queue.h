// SPDX-License-Identifier: MIT
// Queues, and the marks in their work. A queue collects commands into batches. A batch is submitted when a mark is
// placed, or when it has become long; it then signals the next value of the queue's timeline semaphore.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/vulkan/device.h"
#include "backend/vulkan/memory.h"

namespace anydml {
namespace vulkan {

// Mapped memory that copies to and from the CPU's memory pass through. It goes back to the device's Staging when the
// last reference ends.
class StagingBlock {
 public:
  StagingBlock(Staging& owner, Placement placement, BackendMemory* memory)
      : owner_(owner), placement_(placement), memory_(memory) {}
  ~StagingBlock();
  StagingBlock(const StagingBlock&) = delete;
  StagingBlock& operator=(const StagingBlock&) = delete;
  [[nodiscard]] const BackendMemory& memory() const { return *memory_; }

 private:
  Staging& owner_;
  Placement placement_;
  BackendMemory* memory_;
};

// Keeps some staging memory for later copies.
class Staging {
 public:
  explicit Staging(Memory& memory) : memory_(memory) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  // May throw std::bad_alloc.
  [[nodiscard]] BackendStatus take(Placement placement, std::uint64_t bytes, std::shared_ptr<StagingBlock>& block);
  void give_back(Placement placement, BackendMemory* memory) noexcept;

 private:
  Memory& memory_;
  std::mutex mutex_;
  std::vector<BackendMemory*> spare_[kPlacements];
  std::uint64_t spare_bytes_ = 0;
};

// The values of a queue's timeline semaphore. A value is passed if the device has reached it and the copies to the
// CPU's memory before it are done. The CPU does the last part of these copies, on the first thread that asks.
class Timeline {
 public:
  Timeline(BackendDevice& device, VkSemaphore semaphore) : device_(device), semaphore_(semaphore) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  [[nodiscard]] VkSemaphore semaphore() const { return semaphore_; }
  // Whether the device has reached a value.
  [[nodiscard]] bool is_reached(std::uint64_t value);
  [[nodiscard]] bool is_passed(std::uint64_t value);
  [[nodiscard]] BackendStatus wait(std::uint64_t value);
  [[nodiscard]] bool has_failed() const { return failure_of(device_) != nullptr; }

  // A copy from staging memory to the CPU's memory, once the device has reached the value. May throw std::bad_alloc.
  void copy_later(std::uint64_t value, std::shared_ptr<StagingBlock> from, void* to, std::uint64_t bytes);
  // Whether a copy up to this value is not done.
  [[nodiscard]] bool has_copies(std::uint64_t value);
  // Whether a copy that is not done writes some of these bytes.
  [[nodiscard]] bool will_write(const std::byte* bytes, std::uint64_t count);

 private:
  struct Copy {
    std::uint64_t value;
    std::shared_ptr<StagingBlock> from;
    std::byte* to;
    std::uint64_t bytes;
  };
  void finish_copies(std::uint64_t value);

  BackendDevice& device_;
  VkSemaphore semaphore_;
  std::atomic<std::uint64_t> reached_ = 0;  // the highest value that is known to be reached
  std::mutex mutex_;
  std::deque<Copy> copies_;
};

}  // namespace vulkan

struct BackendMark {
  std::shared_ptr<vulkan::Timeline> timeline;
  std::uint64_t value;
};

struct BackendQueue {
  explicit BackendQueue(BackendDevice& owner) : device(owner) {}
  ~BackendQueue();
  BackendQueue(const BackendQueue&) = delete;
  BackendQueue& operator=(const BackendQueue&) = delete;

  struct Submitted {
    std::uint64_t value;
    std::vector<VkCommandBuffer> own;
    std::vector<std::shared_ptr<void>> held;
  };

  BackendDevice& device;
  vulkan::DeviceQueue* target = nullptr;
  std::shared_ptr<vulkan::Timeline> timeline;
  VkCommandPool pool = VK_NULL_HANDLE;
  // The batch that is collected. It will signal `next`.
  std::uint64_t next = 1;
  VkCommandBuffer open = VK_NULL_HANDLE;    // the command buffer that is being recorded, if any
  std::vector<VkCommandBuffer> batch;       // in order, without the open one
  std::vector<VkCommandBuffer> own;         // those of them that belong to the queue
  std::vector<std::shared_ptr<void>> held;  // lives until the batch is done
  std::vector<std::pair<std::shared_ptr<vulkan::Timeline>, std::uint64_t>> waits;
  bool shows_results = false;       // whether the batch ends with a barrier for the CPU
  std::uint64_t operations = 0;     // in the batch, roughly
  std::uint64_t staging_bytes = 0;  // in the batch
  std::deque<Submitted> submitted;
  std::vector<VkCommandBuffer> spare;
  // For timestamps: one query, its raw result and the state of the conversion.
  VkQueryPool queries = VK_NULL_HANDLE;
  BackendMemory* times = nullptr;
};

namespace vulkan {

// A command buffer for the next piece of work, which sees the results of all earlier work. Returns null after a
// failure, which *status describes. May throw std::bad_alloc.
[[nodiscard]] VkCommandBuffer begin_work(BackendQueue& queue, BackendStatus& status);
// Adds a command buffer that was recorded elsewhere. It begins with a full barrier, and ends with one for the CPU. May
// throw std::bad_alloc.
[[nodiscard]] BackendStatus add_recorded(BackendQueue& queue, VkCommandBuffer commands, std::uint64_t operations);
// Submits the batch if it has commands, or something to wait for. May throw std::bad_alloc.
[[nodiscard]] BackendStatus flush(BackendQueue& queue);
// Submits the batch and waits for all work. May throw std::bad_alloc.
[[nodiscard]] BackendStatus finish(BackendQueue& queue);
// Makes commands see the results of earlier ones: those of kernels, copies and the CPU.
void full_barrier(const DeviceFunctions& vk, VkCommandBuffer commands);
// Makes the results of the commands visible to the CPU.
void barrier_for_cpu(const DeviceFunctions& vk, VkCommandBuffer commands);

// Fills a block with zeros and waits for it. May throw std::bad_alloc.
[[nodiscard]] BackendStatus clear(BackendDevice& device, const BackendMemory& block);

[[nodiscard]] BackendStatus create_queue(BackendDevice* device, BackendQueue** queue) noexcept;
void destroy_queue(BackendQueue* queue) noexcept;
[[nodiscard]] BackendStatus copy(BackendQueue* queue, MemoryLocation to, MemoryLocation from,
                                 std::uint64_t bytes) noexcept;
[[nodiscard]] BackendStatus fill(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes,
                                 const std::uint32_t* pattern, std::uint32_t pattern_bytes) noexcept;
[[nodiscard]] BackendStatus timestamp(BackendQueue* queue, MemoryLocation to) noexcept;
[[nodiscard]] BackendStatus mark(BackendQueue* queue, BackendMark** mark) noexcept;
void destroy_mark(BackendMark* mark) noexcept;
[[nodiscard]] std::uint32_t is_passed(BackendMark* mark) noexcept;
[[nodiscard]] BackendStatus wait(BackendMark* mark) noexcept;
[[nodiscard]] BackendStatus follow(BackendQueue* queue, BackendMark* mark) noexcept;

}  // namespace vulkan
}  // namespace anydml
