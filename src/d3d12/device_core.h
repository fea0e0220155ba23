// SPDX-License-Identifier: MIT
// State shared by the objects of one D3D12 device: its memory, its buffers and descriptor heaps by number and address,
// its messages, and whether it was removed. The state is separate from the device's COM object, so that work in flight
// can outlive the device.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend/core.h"
#include "com/hresult.h"
#include "d3d12/breadcrumbs.h"
#include "d3d12/bridge.h"
#include "d3d12/debug_messages.h"
#include "d3d12/headers.h"
#include "d3d12/info_queue.h"
#include "d3d12/live_objects.h"

namespace anydml {

class DebugTracker;
class FenceCore;

// Thrown by Memory if the device has failed. The message comes from the backend.
struct DeviceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Memory on the device. It is released when its last user is released, which may be a resource or work in flight.
class Memory {
 public:
  // Throws std::bad_alloc if the device does not have enough memory.
  Memory(const CoreDevice& device, MemoryKind kind, std::uint64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] const MemoryBlock& block() const { return block_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Identifies the memory for the debug layer. No other memory ever has the same number.
  [[nodiscard]] std::uint64_t number() const { return number_; }

  // Whether another holder has used the memory since this holder's last use. If so, this holder must keep a pointer to
  // the memory. Called under a BufferLookup.
  [[nodiscard]] bool is_new_to(std::uint64_t holder) { return std::exchange(last_holder_, holder) != holder; }

 private:
  const CoreDevice& device_;
  const MemoryKind kind_;
  const std::uint64_t bytes_;
  const std::uint64_t number_;
  MemoryBlock block_ = {};
  std::uint64_t last_holder_ = 0;
};

// The location of a buffer in memory.
struct BufferRange {
  std::shared_ptr<Memory> memory;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  D3D12_HEAP_TYPE heap = D3D12_HEAP_TYPE_DEFAULT;
  D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_NONE;

  [[nodiscard]] DeviceAddress address_at(std::uint64_t further) const {
    return memory->block().address + offset + further;
  }
  [[nodiscard]] MemoryLocation location_at(std::uint64_t further) const {
    return {memory->block().handle, offset + further};
  }
};

// The memory of a descriptor heap. CPU handles are its addresses; GPU handles have an additional bit set, so that the
// two kinds cannot be confused.
struct DescriptorStorage {
  DescriptorStorage(D3D12_DESCRIPTOR_HEAP_TYPE of_type, std::uint32_t count, bool is_visible)
      : type(of_type), visible(is_visible), descriptors(count) {}

  static constexpr std::uint64_t kGpuBit = std::uint64_t{1} << 62;

  [[nodiscard]] std::uintptr_t first() const { return reinterpret_cast<std::uintptr_t>(descriptors.data()); }

  const D3D12_DESCRIPTOR_HEAP_TYPE type;
  const bool visible;
  std::vector<Descriptor> descriptors;
};

// The descriptor that a handle refers to: a heap, and an index into it.
struct DescriptorSlot {
  std::shared_ptr<DescriptorStorage> heap;
  std::uint32_t index = 0;

  explicit operator bool() const { return heap != nullptr; }
  [[nodiscard]] Descriptor* get() const { return heap->descriptors.data() + index; }
};

class DeviceCore {
 public:
  DeviceCore(std::uint32_t adapter_index, const CoreTable& core, const CoreDevice& device);
  ~DeviceCore();
  DeviceCore(const DeviceCore&) = delete;
  DeviceCore& operator=(const DeviceCore&) = delete;

  [[nodiscard]] std::uint32_t adapter_index() const { return adapter_index_; }
  [[nodiscard]] const CoreDevice& device() const { return device_; }
  [[nodiscard]] MessageStore& messages() { return messages_; }
  [[nodiscard]] LiveObjects& live_objects() { return live_objects_; }
  [[nodiscard]] Breadcrumbs& breadcrumbs() { return breadcrumbs_; }
  // Whether submissions are recorded for DRED. Costs one relaxed load.
  [[nodiscard]] bool leaves_breadcrumbs() const noexcept { return leaves_breadcrumbs_.load(std::memory_order_relaxed); }
  // Whether the device accepts messages and exposes the debug interfaces. This becomes true when the debug layer is
  // turned on and stays true, because an object must not lose an interface.
  [[nodiscard]] bool debug() noexcept;
  // Like debug(), but for code that must cost nothing while the layer is off: it does not check whether the layer was
  // enabled since the last call to debug().
  [[nodiscard]] bool debugging() const noexcept { return debug_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::atomic<bool>& debugging_flag() const noexcept { return debug_; }
  void enable_debug() noexcept;
  // Follows the device's work; null while the debug layer is off.
  [[nodiscard]] DebugTracker* tracker() const noexcept { return tracker_.load(std::memory_order_acquire); }

  // Reports to the user, through the usual channels, why a call failed, and returns the code.
  HRESULT fail(HRESULT code, const char* message, MessageSeverity severity = MessageSeverity::error) noexcept;
  HRESULT fail(HRESULT code, const std::string& message) noexcept { return fail(code, message.c_str()); }
  // Like fail, but for failures that programs provoke to probe the device, and for failures whose reason was already
  // reported. Standard error shows them only if ANYDML_LOG enables errors.
  HRESULT answer(HRESULT code, const std::string& message) noexcept;
  void warn(const char* message) noexcept;
  // Posts a message that does not report a mistake and that the log does not show.
  void tell(const MessageKind& kind, const char* text) noexcept { post(kind, text, false); }
  // Reports a mistake that the debug layer found.
  void report(DebugMessage message, const char* text) noexcept;
  // Posts a message that was already logged or reported.
  Posted post(MessageSeverity severity, const char* text, bool logged) noexcept;

  // Removes the device after misuse that no HRESULT can report. Only the first removal counts; it signals every fence.
  void remove(HRESULT reason, const char* message) noexcept;
  void remove(HRESULT reason, const std::string& message) noexcept { remove(reason, message.c_str()); }
  [[nodiscard]] HRESULT removed_reason() const noexcept { return removed_reason_.load(std::memory_order_acquire); }
  [[nodiscard]] bool removed() const noexcept { return removed_reason() != S_OK; }
  // Counts removals of this device and of DirectML devices on it.
  void note_removal() noexcept;
  [[nodiscard]] std::uint32_t removals() const noexcept { return removals_.load(std::memory_order_acquire); }

  [[nodiscard]] std::uint64_t add_buffer(BufferRange range);
  void remove_buffer(std::uint64_t buffer) noexcept;
  void name_buffer(std::uint64_t buffer, const std::string& name);
  // Also finds the name of a released buffer, unless its slot was reused and released again.
  [[nodiscard]] std::string buffer_name(std::uint64_t buffer);
  // The names of released buffers whose slots have not been reused and released again.
  [[nodiscard]] std::vector<std::string> released_buffer_names();
  void add_heap(const std::shared_ptr<DescriptorStorage>& heap);
  void remove_heap(const DescriptorStorage& heap) noexcept;
  void add_fence(const std::shared_ptr<FenceCore>& fence);

  // The result is empty if no live heap contains `count` descriptors starting at `first`.
  [[nodiscard]] DescriptorSlot find_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE first, std::uint32_t count);
  [[nodiscard]] DescriptorSlot find_descriptors(D3D12_GPU_DESCRIPTOR_HANDLE first, std::uint32_t count);

  // Locks the device's buffers and looks them up by number. find returns null if the buffer was released.
  class BufferLookup {
   public:
    explicit BufferLookup(DeviceCore& core) : core_(core), lock_(core.mutex_) {}
    [[nodiscard]] const BufferRange* find(std::uint64_t buffer) const;

   private:
    DeviceCore& core_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  // A buffer's number combines its slot with the number of times that the slot was used, so no number is reused.
  struct Slot {
    std::uint32_t generation = 1;
    BufferRange range;
    std::string name;
    std::string name_before;  // the name of the previous buffer in the slot
  };

  Posted post(const MessageKind& kind, const char* text, bool logged) noexcept;
  DescriptorSlot find_at(std::uintptr_t address, std::uint32_t count);

  const std::uint32_t adapter_index_;
  const CoreTable& core_;
  const CoreDevice& device_;
  MessageStore messages_;
  LiveObjects live_objects_;
  Breadcrumbs breadcrumbs_;
  std::atomic<bool> leaves_breadcrumbs_{false};
  std::atomic<std::uint32_t> removals_{0};
  std::atomic<bool> debug_{false};
  std::atomic<DebugTracker*> tracker_{nullptr};  // owned
  std::atomic<HRESULT> removed_reason_{S_OK};
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::map<std::uintptr_t, std::shared_ptr<DescriptorStorage>> heaps_;  // by first address
  std::vector<std::weak_ptr<FenceCore>> fences_;
};

}  // namespace anydml
