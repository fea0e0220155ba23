// SPDX-License-Identifier: MIT
#include "d3d12/device_core.h"

#include <chrono>
#include <new>
#include <thread>

#include "base/cancellation.h"
#include "base/log.h"
#include "base/reserve.h"
#include "d3d12/debug/tracker.h"
#include "d3d12/fence.h"
#include "d3d12/message_ids.h"

namespace anydml {
namespace {

std::uint64_t next_memory_number() noexcept {
  static constinit std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Memory::Memory(const CoreDevice& device, MemoryKind kind, std::uint64_t bytes)
    : device_(device), kind_(kind), bytes_(bytes), number_(next_memory_number()) {
  // Recently released memory may not be freed yet, so the thread that waits for the device gets a few milliseconds to
  // free it.
  constexpr int kTries = 3;
  BackendStatus status{};
  for (int i = 0; i < kTries; ++i) {
    status = device.backend->allocate(device.handle, kind, bytes, &block_);
    if (status.code != BackendCode::out_of_memory || device.info->asynchronous == 0 ||
        bytes > device.info->memory_bytes) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (status.code == BackendCode::out_of_memory) {
    throw std::bad_alloc();
  }
  if (status.code != BackendCode::ok) {
    throw DeviceFailure(status.message);
  }
}

Memory::~Memory() { device_.backend->release(device_.handle, kind_, bytes_, block_.handle); }

DeviceCore::DeviceCore(std::uint32_t adapter_index, const CoreTable& core, const CoreDevice& device)
    : adapter_index_(adapter_index),
      core_(core),
      device_(device),
      breadcrumbs_(device.info->asynchronous != 0),
      leaves_breadcrumbs_(breadcrumbs_.forced_on()) {
  if (debug_layer_enabled() || debug_layer_requested()) {  // so the debug layer tracks the device from its first call
    enable_debug();
  }
}

DeviceCore::~DeviceCore() { delete tracker(); }

void DeviceCore::enable_debug() noexcept {
  if (debug_.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  leaves_breadcrumbs_.store(!breadcrumbs_.forced_off(), std::memory_order_relaxed);
  auto* created = new (std::nothrow) DebugTracker(*this);
  DebugTracker* none = nullptr;
  if (created != nullptr && !tracker_.compare_exchange_strong(none, created, std::memory_order_acq_rel)) {
    delete created;
  }
}

Posted DeviceCore::post(MessageSeverity severity, const char* text, bool logged) noexcept {
  constexpr D3D12_MESSAGE_SEVERITY kSeverities[] = {D3D12_MESSAGE_SEVERITY_ERROR, D3D12_MESSAGE_SEVERITY_WARNING,
                                                    D3D12_MESSAGE_SEVERITY_INFO, D3D12_MESSAGE_SEVERITY_ERROR};
  if (!debug()) {
    return Posted::off;
  }
  MessageId found = find_message_id(text);
  if (found.id == D3D12_MESSAGE_ID_UNKNOWN && severity == MessageSeverity::removal) {  // the backend's own text
    found = {D3D12_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_POSSIBLY_AT_FAULT, D3D12_MESSAGE_CATEGORY_EXECUTION};
  }
  return post({found.id, found.category, kSeverities[static_cast<int>(severity)]}, text, logged);
}

Posted DeviceCore::post(const MessageKind& kind, const char* text, bool logged) noexcept {
  if (!debug()) {
    return Posted::off;
  }
  const CancellationDeferred deferred;  // application callbacks must not be canceled midway
  try {
    const auto fate =
        messages_.add({.category = kind.category, .severity = kind.severity, .id = kind.id, .text = text});
    if (fate == MessageStore::Fate::denied) {
      return Posted::denied;
    }
    const bool printed = fate == MessageStore::Fate::unheard && !logged;
    if (printed) {  // Windows would show this in a debugger
      show_line(kind.severity <= D3D12_MESSAGE_SEVERITY_ERROR ? LogLevel::error : LogLevel::info, text);
    }
    messages_.break_if_asked(kind.category, kind.severity, kind.id);
    return printed ? Posted::printed : Posted::received;
  } catch (...) {  // no memory for the message, but the log already contains it
  }
  return Posted::received;
}

void DeviceCore::report(DebugMessage message, const char* text) noexcept {
  const MessageKind kind = anydml::kind_of(message);
  const bool is_error = kind.severity <= D3D12_MESSAGE_SEVERITY_ERROR;
  // The call itself did not fail, so an application that filters out the message has accepted the mistake, and the
  // message is not shown anywhere.
  const bool logged = !is_error && log_line(LogLevel::info, "warning: ", text);
  const Posted posted = post(kind, text, logged);
  if (is_error && posted != Posted::denied) {
    end_if_strict(posted == Posted::printed, text);
  }
}

HRESULT DeviceCore::fail(HRESULT code, const char* message, MessageSeverity severity) noexcept {
  const bool logged = core_.report(message);
  const Posted posted = post(severity, message, logged);
  end_if_strict(logged || posted == Posted::printed, message);
  return code;
}

HRESULT DeviceCore::answer(HRESULT code, const std::string& message) noexcept {
  const bool logged = core_.report_answer(message.c_str());
  post(MessageSeverity::error, message.c_str(), logged);
  return code;
}

void DeviceCore::warn(const char* message) noexcept {
  const bool logged = log_line(LogLevel::info, "warning: ", message);
  post(MessageSeverity::warning, message, logged);
}

void DeviceCore::remove(HRESULT reason, const char* message) noexcept {
  HRESULT alive = S_OK;
  if (!removed_reason_.compare_exchange_strong(alive, reason, std::memory_order_acq_rel)) {
    return;
  }
  note_removal();
  // End all waits first, then report the removal to callbacks, which may do anything.
  std::vector<std::weak_ptr<FenceCore>> fences;
  {
    const std::scoped_lock lock(mutex_);
    fences.swap(fences_);
  }
  for (const auto& fence : fences) {
    if (const auto alive_fence = fence.lock(); alive_fence != nullptr) {
      alive_fence->reach_end();
    }
  }
  fail(reason, message, MessageSeverity::removal);
}

std::uint64_t DeviceCore::add_buffer(BufferRange range) {
  const std::scoped_lock lock(mutex_);
  if (free_slots_.empty()) {
    reserve_total(free_slots_, slots_.size() + 1);  // so that returning a slot cannot fail
    slots_.emplace_back();
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  slots_[index].range = std::move(range);
  return std::uint64_t{slots_[index].generation} << 32 | index;
}

void DeviceCore::remove_buffer(std::uint64_t buffer) noexcept {
  BufferRange released;  // freed after the lock is released
  const std::scoped_lock lock(mutex_);
  const auto index = static_cast<std::uint32_t>(buffer);
  released = std::move(slots_[index].range);
  slots_[index].range = {};
  slots_[index].name_before = std::exchange(slots_[index].name, {});
  if (++slots_[index].generation != 0) {  // a slot that has used all its generations is retired
    free_slots_.push_back(index);
  }
}

void DeviceCore::note_removal() noexcept {
  Trail::stop_running();
  removals_.fetch_add(1, std::memory_order_release);
}

std::vector<std::string> DeviceCore::released_buffer_names() {
  std::vector<std::string> names;
  const std::scoped_lock lock(mutex_);
  for (const Slot& slot : slots_) {
    if (!slot.name_before.empty()) {
      names.push_back(slot.name_before);
    }
  }
  return names;
}

void DeviceCore::name_buffer(std::uint64_t buffer, const std::string& name) {
  std::string copy = name;
  const std::scoped_lock lock(mutex_);
  slots_[static_cast<std::uint32_t>(buffer)].name.swap(copy);
}

std::string DeviceCore::buffer_name(std::uint64_t buffer) {
  const std::scoped_lock lock(mutex_);
  const auto index = static_cast<std::uint32_t>(buffer);
  const auto generation = static_cast<std::uint32_t>(buffer >> 32);
  if (buffer == 0 || index >= slots_.size()) {
    return {};
  }
  const Slot& slot = slots_[index];
  return slot.generation == generation       ? slot.name
         : slot.generation == generation + 1 ? slot.name_before
                                             : std::string();
}

const BufferRange* DeviceCore::BufferLookup::find(std::uint64_t buffer) const {
  const auto index = static_cast<std::uint32_t>(buffer);
  if (buffer == 0 || index >= core_.slots_.size() || core_.slots_[index].generation != buffer >> 32 ||
      core_.slots_[index].range.memory == nullptr) {
    return nullptr;
  }
  return &core_.slots_[index].range;
}

void DeviceCore::add_heap(const std::shared_ptr<DescriptorStorage>& heap) {
  const std::scoped_lock lock(mutex_);
  heaps_.emplace(heap->first(), heap);
}

void DeviceCore::remove_heap(const DescriptorStorage& heap) noexcept {
  const std::scoped_lock lock(mutex_);
  heaps_.erase(heap.first());
}

void DeviceCore::add_fence(const std::shared_ptr<FenceCore>& fence) {
  {
    const std::scoped_lock lock(mutex_);
    if (fences_.size() == fences_.capacity()) {
      std::erase_if(fences_, [](const auto& known) { return known.expired(); });
    }
    fences_.push_back(fence);
  }
  if (removed()) {  // the removal may have missed this fence
    fence->reach_end();
  }
}

bool DeviceCore::debug() noexcept {
  if (debug_layer_enabled()) {
    enable_debug();
  }
  return debugging();
}

DescriptorSlot DeviceCore::find_at(std::uintptr_t address, std::uint32_t count) {
  const std::scoped_lock lock(mutex_);
  auto after = heaps_.upper_bound(address);
  if (after == heaps_.begin()) {
    return {};
  }
  const auto& heap = std::prev(after)->second;
  const std::uintptr_t offset = address - heap->first();
  const std::uint64_t index = offset / sizeof(Descriptor);
  if (offset % sizeof(Descriptor) != 0 || index > heap->descriptors.size() ||
      heap->descriptors.size() - index < count) {
    return {};
  }
  return {.heap = heap, .index = static_cast<std::uint32_t>(index)};
}

DescriptorSlot DeviceCore::find_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE first, std::uint32_t count) {
  return find_at(first.ptr, count);
}

DescriptorSlot DeviceCore::find_descriptors(D3D12_GPU_DESCRIPTOR_HANDLE first, std::uint32_t count) {
  if ((first.ptr & DescriptorStorage::kGpuBit) == 0) {
    return {};
  }
  DescriptorSlot found = find_at(first.ptr & ~DescriptorStorage::kGpuBit, count);
  return found && found.heap->visible ? found : DescriptorSlot{};
}

}  // namespace anydml
